//! The sockets on which the daemon listens.

use crate::error::{Error, Kind, Outcome};
use crate::log::{Log, Tell};
use crate::store::Store;
use crate::tokens::Tokens;
use crate::{Settings, http, lines};
use serde_json::json;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Listens until `stop` ends.
pub(crate) async fn serve(
    settings: &Settings,
    tell: &Tell,
    (store, token, log): (&Arc<Store>, &Arc<Tokens>, &Arc<Log>),
    stop: impl Future<Output = Outcome>,
) -> Outcome {
    let listener = bind(settings.http).await?;
    let mut listening = json!({ "http": address(&listener) });
    let most = usize::from(settings.connections);
    let hosts = http::Hosts::new(listener.local_addr().ok(), &settings.hosts);
    let (store, token, log) = (store.clone(), token.clone(), log.clone());
    // Each kind of socket has places of its own: strangers on TCP leave those of the owner's socket free.
    let service = || lines::Service::new(store.clone(), token.clone(), log.clone(), most);
    let shared =
        http::Shared { store: store.clone(), token: token.clone(), log: log.clone(), hosts };
    tokio::spawn(http::serve(listener, shared, most));
    warn_plaintext(tell, "http", Some(settings.http));
    warn_plaintext(tell, "lines", settings.lines);
    if let Some(place) = settings.lines {
        let listener = bind(place).await?;
        listening["lines"] = json!(address(&listener));
        let service = service();
        tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => service.take(stream),
                    // Out of descriptors: wait for some to close.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
    }
    #[cfg(unix)]
    let _socket = match &settings.socket {
        Some(path) => {
            listening["socket"] = json!(path);
            Some(serve_socket(path, service()).await?)
        }
        None => None,
    };
    #[cfg(not(unix))]
    if settings.socket.is_some() {
        return Err(Error::usage("usage.socket", "this system has no Unix sockets"));
    }
    let text = listening_text(&listening);
    tell("daemon.listening", &text, listening);
    stop.await
}

/// Warns of an address that other machines reach: what goes there and back is not encrypted, tokens included.
fn warn_plaintext(tell: &Tell, option: &str, place: Option<SocketAddr>) {
    let Some(place) = place.filter(|place| !place.ip().is_loopback()) else { return };
    let text = format!(
        "--{option} {place} is open to other machines in plaintext, tokens included: listen on 127.0.0.1 and \
         put a proxy with TLS before it"
    );
    tell("daemon.plaintext", &text, json!({ "option": option, "address": place }));
}

/// Each address and what is spoken there.
fn listening_text(listening: &serde_json::Value) -> String {
    let kinds = [("http", "HTTP"), ("lines", "JSON lines"), ("socket", "JSON lines")];
    let told = kinds.iter().filter_map(|(name, spoken)| {
        let address = listening[name].as_str()?;
        Some(format!("{address} ({spoken})"))
    });
    format!("listening on {}", told.collect::<Vec<_>>().join(", "))
}

async fn bind(place: SocketAddr) -> Outcome<TcpListener> {
    TcpListener::bind(place).await.map_err(|error| {
        Error::new(Kind::Environment, "daemon.listen", format!("{place}: {error}"))
    })
}

fn address(listener: &TcpListener) -> String {
    listener.local_addr().map_or_else(|_| String::new(), |address| address.to_string())
}

#[cfg(unix)]
async fn serve_socket(path: &Path, service: lines::Service) -> Outcome<SocketFile> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let failed = |error: std::io::Error| Error::file(path, &error);
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        // Refused is what nobody listens on; whatever else comes of it, it is somebody's.
        match tokio::net::UnixStream::connect(path).await {
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(failed)?;
            }
            _ => {
                let message = format!("{}: the address is in use", path.display());
                return Err(Error::new(Kind::Environment, "daemon.listen", message)
                    .hint("name another --socket, or stop what listens there"));
            }
        }
    }
    let listener = tokio::net::UnixListener::bind(path).map_err(failed)?;
    let file = SocketFile::of(path).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => service.take(stream),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    });
    Ok(file)
}

/// The socket's file, removed when the daemon ends, unless another has taken its name meanwhile.
#[cfg(unix)]
struct SocketFile {
    path: PathBuf,
    /// Its device and its number there.
    identity: (u64, u64),
}

#[cfg(unix)]
impl SocketFile {
    fn of(path: &Path) -> std::io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: Self::identity(path)? })
    }

    fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::symlink_metadata(path)?;
        Ok((found.dev(), found.ino()))
    }
}

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        if Self::identity(&self.path).is_ok_and(|found| found == self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
