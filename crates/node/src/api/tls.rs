//! TLS of the API: its certificate, and those that it wants of clients.

use crate::config::Tls;
use crate::error::Error;
use crate::folder::{Folder, check_private};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Reads the files of `clients.tls`, whose paths are relative to the folder.
pub(crate) fn acceptor(folder: &Folder, tls: Option<&Tls>) -> Result<Option<TlsAcceptor>, Error> {
    let Some(tls) = tls else { return Ok(None) };
    let (certificate, key) = (folder.root().join(&tls.certificate), folder.root().join(&tls.key));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| malformed(&certificate, &error))?;
    let builder = match &tls.clients {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let path = folder.root().join(path);
            let mut roots = RootCertStore::empty();
            for certificate in certificates(&path)? {
                roots.add(certificate).map_err(|error| malformed(&path, &error))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            let verifier = verifier.build().map_err(|error| malformed(&path, &error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    check_private(&key)?;
    let secret = PrivateKeyDer::from_pem_file(&key).map_err(|error| malformed(&key, &error))?;
    let mut config = builder
        .with_single_cert(certificates(&certificate)?, secret)
        .map_err(|error| malformed(&certificate, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    match found {
        Ok(found) if found.is_empty() => Err(malformed(path, &"has no certificate in PEM")),
        found => found.map_err(|error| malformed(path, &error)),
    }
}

fn malformed(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    Error::Malformed { path: path.to_owned(), reason: reason.to_string() }
}
