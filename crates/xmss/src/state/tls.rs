//! TLS to the servers that signers share: what a store's URL says of it.
//!
//! A server is always verified, its name too, and by the certificates that the URL names and no others:
//! who can pose as the server can make a signer use an index twice, and an authority of the public web
//! has no say in that. Connections that are encrypted and not verified are therefore not offered.

use super::StateError;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt::Display;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Whom a connection trusts, and as whom it shows itself.
pub(super) struct Tls {
    pub(super) roots: Vec<CertificateDer<'static>>,
    /// The client's certificates, its own first, and the PEM text that holds its key.
    pub(super) client: Option<(Vec<CertificateDer<'static>>, Zeroizing<Vec<u8>>)>,
}

impl Tls {
    /// Reads PEM files: the certificates of who may have signed the server's, and the client's
    /// certificate and key, where it has one.
    pub(super) fn read(roots: &str, client: Option<(&str, &str)>) -> Result<Self, StateError> {
        let client = match client {
            None => None,
            Some((certificates, path)) => {
                let key = std::fs::read(path).map_err(|why| unreadable(path, &why))?;
                let key = Zeroizing::new(key);
                PrivateKeyDer::from_pem_slice(&key).map_err(|why| unreadable(path, &why))?;
                Some((read_certificates(certificates)?, key))
            }
        };
        Ok(Self { roots: read_certificates(roots)?, client })
    }
}

/// The cryptography of a connection; none is set for the whole process.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn read_certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, StateError> {
    let certificates: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    match certificates {
        Ok(certificates) if certificates.is_empty() => {
            Err(unreadable(path, &PemError::NoItemsFound))
        }
        certificates => certificates.map_err(|why| unreadable(path, &why)),
    }
}

fn unreadable(path: &str, why: &dyn Display) -> StateError {
    StateError::Io(format!("the PEM file {path}: {why}"))
}
