//! The HTTP client: made so that a plain `http` provider (a local server, a test) costs nothing.
//!
//! Loading the system's certificates takes milliseconds and megabytes, so it happens only when a
//! TLS connection can come up: for an `https` provider or proxy.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::{ErrorClass, ModelError, Phase, ProviderSettings, hint};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Builds the client of one provider.
pub(super) fn build(settings: &ProviderSettings) -> Result<Client, ModelError> {
    let tls = tls_config(settings, &hint::process_environment).map_err(|error| {
        let message = format!("cannot prepare trusted connections: {error}");
        ModelError::new(ErrorClass::Tls, Phase::Request, message)
    })?;
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .build();
    client.map_err(|error| {
        let cause = super::classify::root_cause(&error);
        let message = format!("cannot prepare the HTTP client: {cause}");
        ModelError::new(ErrorClass::Connect, Phase::Request, message)
    })
}

fn tls_config(
    settings: &ProviderSettings,
    lookup: hint::Lookup<'_>,
) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let mut config = if needs_roots(&settings.base_url, lookup) {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier(settings, provider)?))
            .with_no_client_auth()
    } else {
        builder
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth()
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The system's own trust, and the certificates that the settings add.
fn verifier(
    settings: &ProviderSettings,
    provider: Arc<CryptoProvider>,
) -> Result<Verifier, rustls::Error> {
    let extra = settings.extra_roots.iter().cloned();
    Verifier::new_with_extra_roots(extra.map(CertificateDer::from), provider)
}

/// Whether a TLS connection can come up.
fn needs_roots(base_url: &str, lookup: hint::Lookup<'_>) -> bool {
    let is_https = |text: &str| text.trim_start().to_ascii_lowercase().starts_with("https:");
    let proxies = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
    is_https(base_url)
        || proxies
            .iter()
            .any(|name| lookup(name).is_some_and(|value| is_https(&value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_loaded_only_for_tls() {
        let none = |_: &str| None;
        let proxy = |name: &str| (name == "ALL_PROXY").then(|| "https://proxy:3128".to_owned());
        assert!(!needs_roots("http://127.0.0.1:1/v1", &none));
        assert!(needs_roots("https://api.example/v1", &none));
        assert!(needs_roots("http://127.0.0.1:1/v1", &proxy));
    }

    #[test]
    fn both_kinds_of_client_can_be_built() {
        for url in ["http://127.0.0.1:1/v1", "https://127.0.0.1:1/v1"] {
            let mut settings = ProviderSettings::new("mock", url);
            let issuer = include_bytes!("../../tests/it/certificates/ca.der");
            settings.extra_roots = vec![issuer.to_vec()];
            build(&settings).unwrap();
        }
    }
}
