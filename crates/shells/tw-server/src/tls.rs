//! TLS: certificates read from files, and read again when these change, so that who renews them need not restart.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Where systems keep the certificates that they trust.
const TRUSTED: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
];

/// A certificate and its key, as files.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The certificate, and those that lead to a trusted one, as PEM.
    pub cert: Option<PathBuf>,
    /// Its key, as PEM.
    pub key: Option<PathBuf>,
}

impl Files {
    /// Both, if TLS is wanted.
    pub fn both(&self) -> Result<Option<(PathBuf, PathBuf)>, String> {
        match (&self.cert, &self.key) {
            (None, None) => Ok(None),
            (Some(cert), Some(key)) => Ok(Some((cert.clone(), key.clone()))),
            (Some(_), None) => Err("a certificate needs its key: give `--tls-key FILE`".into()),
            (None, Some(_)) => Err("a key needs its certificate: give `--tls-cert FILE`".into()),
        }
    }
}

/// What connections are secured with.
pub struct Tls {
    cert: PathBuf,
    key: PathBuf,
    now: RwLock<(Arc<ServerConfig>, Stamps)>,
}

/// When the files were written.
type Stamps = [Option<SystemTime>; 2];

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(format!("{}: it holds no certificate", path.display())),
        Ok(found) => Ok(found),
        Err(why) => Err(format!("{}: {why}", path.display())),
    }
}

impl Tls {
    /// Reads the files.
    pub fn open(cert: PathBuf, key: PathBuf) -> Result<Self, String> {
        let stamps = stamps(&cert, &key);
        let config = Self::read(&cert, &key)?;
        Ok(Self { cert, key, now: RwLock::new((config, stamps)) })
    }

    fn read(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, String> {
        let chain = certificates(cert)?;
        // What the file has instead is not repeated.
        let own = PrivateKeyDer::from_pem_file(key)
            .map_err(|_| format!("{}: it holds no private key that can be read", key.display()))?;
        let config = ServerConfig::builder_with_provider(provider());
        let config = config.with_safe_default_protocol_versions().map_err(|why| why.to_string())?;
        let config = config.with_no_client_auth().with_single_cert(chain, own);
        let mut config = config.map_err(|why| format!("{}: {why}", cert.display()))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Takes a connection with what there is now.
    pub fn acceptor(&self) -> TlsAcceptor {
        self.now.read().unwrap_or_else(PoisonError::into_inner).0.clone().into()
    }

    /// Reads the files again if they changed. What cannot be used changes nothing.
    pub fn reload(&self) -> Option<Result<(), String>> {
        let now = stamps(&self.cert, &self.key);
        if now == self.now.read().unwrap_or_else(PoisonError::into_inner).1 {
            return None;
        }
        let read = Self::read(&self.cert, &self.key);
        let mut own = self.now.write().unwrap_or_else(PoisonError::into_inner);
        own.1 = now;
        Some(read.map(|config| own.0 = config))
    }
}

fn stamps(cert: &Path, key: &Path) -> Stamps {
    [cert, key].map(|path| std::fs::metadata(path).and_then(|meta| meta.modified()).ok())
}

/// For connections to others: whom the system trusts, or whom a file names.
pub fn connector(trusted: Option<&Path>) -> Result<TlsConnector, String> {
    let system = || TRUSTED.iter().map(Path::new).find(|path| path.exists());
    let path =
        trusted.or_else(system).ok_or("there is no list of trusted certificates; give one by `trust`")?;
    let mut roots = RootCertStore::empty();
    // Systems' lists have a few that nobody can read any more.
    let (good, _) = roots.add_parsable_certificates(certificates(path)?);
    if good == 0 {
        return Err(format!("{}: no certificate in it can be used", path.display()));
    }
    let config = ClientConfig::builder_with_provider(provider());
    let config = config.with_safe_default_protocol_versions().map_err(|why| why.to_string())?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()).into())
}

/// A name or an address that a certificate is to be for.
pub fn server_name(host: &str) -> io::Result<tokio_rustls::rustls::pki_types::ServerName<'static>> {
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_string();
    bare.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "no name of a server"))
}
