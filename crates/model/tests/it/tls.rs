//! Connections over TLS: a server that is trusted, and one that is not.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use agent_model::{ErrorClass, ModelError, ProviderSettings, ResponsesProvider};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::{ask_all, request, said};

const ISSUER: &[u8] = include_bytes!("certificates/ca.der");
const OTHER_ISSUER: &[u8] = include_bytes!("certificates/other.der");
const LEAF: &[u8] = include_bytes!("certificates/leaf.der");
const LEAF_KEY: &[u8] = include_bytes!("certificates/leaf.key.der");

/// Answers one request over HTTP/1.1 and returns its port.
fn serve() -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = vec![CertificateDer::from(LEAF)];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(LEAF_KEY));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let mut request = Vec::new();
        let mut chunk = [0; 4096];
        while !request.ends_with(b"}") {
            match stream.read(&mut chunk) {
                Ok(length @ 1..) => request.extend_from_slice(&chunk[..length]),
                _ => return,
            }
        }
        let events = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"safe\"}\n\n\
            data: {\"type\":\"response.completed\"}\n\n";
        let length = events.len();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        stream
            .write_all(format!("{head}{events}").as_bytes())
            .unwrap();
    }));
    port
}

async fn ask(root: &[u8]) -> (String, Option<ModelError>) {
    let url = format!("https://127.0.0.1:{}/v1", serve());
    let mut settings = ProviderSettings::new("mock", url);
    settings.extra_roots = vec![root.to_vec()];
    let (events, error) = ask_all(&ResponsesProvider::new(settings), &request()).await;
    (said(&events), error)
}

#[tokio::test]
async fn a_trusted_server_answers() {
    assert_eq!(ask(ISSUER).await, ("safe".to_owned(), None));
}

#[tokio::test]
async fn an_untrusted_server_is_refused_at_once() {
    let (_, error) = ask(OTHER_ISSUER).await;
    let error = error.unwrap();
    assert_eq!(*error.class(), ErrorClass::Tls);
    assert!(!error.is_retryable());
    let message = error.to_string();
    assert!(
        message.contains("no trusted connection to `https://127.0.0.1:"),
        "{message}"
    );
    assert!(
        message.ends_with("invalid peer certificate: UnknownIssuer"),
        "{message}"
    );
    assert!(error.hint().unwrap().contains("SSL_CERT_FILE"));
}
