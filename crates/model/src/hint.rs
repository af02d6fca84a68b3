//! What a person can do about a failure that has to do with this machine and its settings.

use crate::retry::LONGEST_WAIT;
use crate::{ErrorClass, ModelError, ProviderSettings};

/// Looks up a variable of the environment.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The environment of this process, which is also what the HTTP client reads its proxies from.
pub(crate) fn process_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Adds the hint for an error of `provider`, asked for `model`.
pub(crate) fn add(
    error: ModelError,
    provider: &ProviderSettings,
    model: &str,
    lookup: Lookup<'_>,
) -> ModelError {
    if error.hint().is_some() {
        return error;
    }
    let hint = match error.class() {
        ErrorClass::Authentication if error.status() == Some(407) => {
            proxy(&provider.base_url, lookup)
        }
        ErrorClass::Authentication => Some(authentication(provider, error.status())),
        ErrorClass::NotFound => Some(format!(
            "check that `{}` is the right base_url of provider `{}` (it usually ends in `/v1`) and that it offers the model `{model}`",
            provider.base_url, provider.name
        )),
        ErrorClass::Connect => Some(proxy(&provider.base_url, lookup).unwrap_or_else(|| {
            format!(
                "check the network and the base_url of provider `{}`; for a local server, whether it is running",
                provider.name
            )
        })),
        ErrorClass::Tls => Some(
            "if you trust the server's issuer, name its certificate (PEM) in `SSL_CERT_FILE`; on a bare system install the package `ca-certificates`"
                .to_owned(),
        ),
        ErrorClass::Redirect => Some(format!(
            "set the base_url of provider `{}` to where its API really is",
            provider.name
        )),
        ErrorClass::Protocol => Some(format!(
            "check that `{}` is the base_url of an API that answers `POST /responses` with a stream",
            provider.base_url
        )),
        ErrorClass::ContextWindow => Some(
            "compact the conversation, start a new one, or choose a model with a larger window"
                .to_owned(),
        ),
        ErrorClass::Quota { .. } => {
            Some(format!("check the plan and the billing of provider `{}`", provider.name))
        }
        ErrorClass::Overloaded => Some("try again later, or choose another model".to_owned()),
        ErrorClass::Incomplete { reason } if reason == "max_output_tokens" => {
            Some("ask for a shorter answer, or for the work in smaller steps".to_owned())
        }
        ErrorClass::RateLimited | ErrorClass::Server
            if error.retry_after().is_some_and(|delay| delay > LONGEST_WAIT) =>
        {
            let minutes = error.retry_after().unwrap_or_default().as_secs().div_ceil(60);
            Some(format!("the provider asks to wait {minutes} minutes; try again then"))
        }
        ErrorClass::Idle => Some(format!(
            "if the model needs longer to think, raise `stream_idle_timeout_ms` of provider `{}`",
            provider.name
        )),
        ErrorClass::InvalidRequest
        | ErrorClass::InvalidPrompt
        | ErrorClass::Policy
        | ErrorClass::Incomplete { .. }
        | ErrorClass::RateLimited
        | ErrorClass::Server
        | ErrorClass::Stream
        | ErrorClass::Script => None,
    };
    error.with_hint(hint)
}

fn authentication(provider: &ProviderSettings, status: Option<u16>) -> String {
    let name = &provider.name;
    match (&provider.api_key, &provider.env_key) {
        (None, Some(variable)) => {
            format!("set `{variable}` to the key of provider `{name}`")
        }
        (None, None) => {
            format!("provider `{name}` has no key: name the variable that holds it with `env_key`")
        }
        (Some(_), Some(variable)) if status == Some(403) => {
            format!("check that the key in `{variable}` may use this model of provider `{name}`")
        }
        (Some(_), Some(variable)) => {
            format!("check the key in `{variable}`: provider `{name}` does not accept it")
        }
        (Some(_), None) => format!("check the key of provider `{name}`"),
    }
}

/// Names the proxy that requests to `url` go through, if a variable says so.
fn proxy(url: &str, lookup: Lookup<'_>) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str()?;
    let names: [&str; 4] = match url.scheme() {
        "https" => ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
    };
    let (name, value) = names.iter().find_map(|name| {
        let value = lookup(name).filter(|value| !value.is_empty())?;
        Some((*name, value))
    })?;
    let exempt = lookup("no_proxy").or_else(|| lookup("NO_PROXY"));
    if exempt.is_some_and(|list| is_exempt(&list, host)) {
        return None;
    }
    Some(format!(
        "the request goes through the proxy `{}` that `{name}` names; if `{host}` is to be reached directly, add it to `NO_PROXY`",
        without_credentials(&value)
    ))
}

fn is_exempt(list: &str, host: &str) -> bool {
    list.split(',').map(str::trim).any(|entry| {
        let domain = entry.trim_start_matches('.');
        let is_subdomain = || {
            let prefix = host.strip_suffix(domain);
            prefix.is_some_and(|prefix| prefix.ends_with('.'))
        };
        entry == "*" || (!domain.is_empty() && (host == domain || is_subdomain()))
    })
}

fn without_credentials(proxy: &str) -> &str {
    proxy.rsplit_once('@').map_or(proxy, |(_, host)| host)
}

#[cfg(test)]
mod tests;
