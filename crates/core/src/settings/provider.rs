//! The provider that the configuration chooses, with its key.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent_config::{Config, ProviderConfig, WireApi};
use agent_model::{ModelProvider, ProviderSettings, ResponsesProvider, ScriptedProvider, Secret};

use super::{SettingsError, Variables};

/// A provider that is ready to be asked.
pub(super) struct Chosen {
    pub(super) provider: Arc<dyn ModelProvider>,
    pub(super) settings: ProviderSettings,
    pub(super) warnings: Vec<String>,
}

/// Where the key of the built-in provider is looked for, in this order.
const OPENAI_KEYS: [&str; 3] = ["AGENT_API_KEY", "CODEX_API_KEY", "OPENAI_API_KEY"];

pub(super) fn choose(
    config: &Config,
    variables: &Variables,
    originator: &str,
) -> Result<Chosen, SettingsError> {
    let id = &config.model_provider;
    let Some(entry) = config.model_providers.get(id) else {
        return Err(SettingsError::UnknownProvider {
            name: id.clone(),
            known: config.model_providers.keys().cloned().collect(),
        });
    };
    let mut warnings = Vec::new();
    let mut settings = ProviderSettings::new(&entry.name, entry.base_url.as_deref().unwrap_or(""));
    originator.clone_into(&mut settings.originator);
    set_limits(&mut settings, entry);
    settings.query_params = pairs(&entry.query_params);
    settings.http_headers = pairs(&entry.http_headers);
    for (header, variable) in &entry.env_http_headers {
        match variables.text(variable) {
            Some(value) => settings
                .http_headers
                .push((header.clone(), value.to_owned())),
            None => warnings.push(format!(
                "the header `{header}` of the provider `{id}` is left out: the variable \
                 `{variable}` is not set"
            )),
        }
    }
    let provider: Arc<dyn ModelProvider> = match entry.wire_api {
        WireApi::Scripted => scripted(id, entry.steps.as_deref())?,
        WireApi::Responses => {
            settings.api_key = key(id, entry, variables)?;
            settings.env_key.clone_from(&entry.env_key);
            let provider = ResponsesProvider::new(settings.clone());
            provider.check().map_err(SettingsError::Provider)?;
            Arc::new(provider)
        }
        WireApi::Chat => return Err(wire_api(id, "chat")),
        WireApi::Anthropic => return Err(wire_api(id, "anthropic")),
    };
    Ok(Chosen {
        provider,
        settings,
        warnings,
    })
}

/// Variables that hold the keys of providers, which no command may see.
pub(super) fn key_variables(config: &Config) -> Vec<String> {
    let entries = config.model_providers.values();
    let names = entries.flat_map(|entry| {
        let headers = entry.env_http_headers.values().cloned();
        entry.env_key.clone().into_iter().chain(headers)
    });
    names.collect()
}

fn scripted(id: &str, steps: Option<&Path>) -> Result<Arc<dyn ModelProvider>, SettingsError> {
    let provider = ScriptedProvider::from_file(steps.unwrap_or_else(|| Path::new("")));
    match provider {
        Ok(provider) => Ok(Arc::new(provider)),
        Err(source) => Err(SettingsError::Script {
            name: id.to_owned(),
            source,
        }),
    }
}

fn wire_api(id: &str, wire_api: &'static str) -> SettingsError {
    SettingsError::WireApi {
        name: id.to_owned(),
        wire_api,
    }
}

fn set_limits(settings: &mut ProviderSettings, entry: &ProviderConfig) {
    let count = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    if let Some(number) = entry.request_max_retries {
        settings.request_max_retries = count(number);
    }
    if let Some(number) = entry.stream_max_retries {
        settings.stream_max_retries = count(number);
    }
    if let Some(ms) = entry.stream_idle_timeout_ms {
        settings.stream_idle_timeout = Duration::from_millis(ms);
    }
    settings.functions_only = entry.function_tools_only;
}

/// The key: from the variable that the provider names; for the built-in one from the usual
/// variables. A provider that names none gets none.
fn key(
    id: &str,
    entry: &ProviderConfig,
    variables: &Variables,
) -> Result<Option<Secret>, SettingsError> {
    let missing = |variable: &str| SettingsError::MissingKey {
        provider: id.to_owned(),
        variable: variable.to_owned(),
        instructions: entry.env_key_instructions.clone(),
    };
    if let Some(variable) = &entry.env_key {
        let value = variables.text(variable).ok_or_else(|| missing(variable))?;
        return Ok(Some(Secret::new(value)));
    }
    if id != "openai" {
        return Ok(None);
    }
    let mut values = OPENAI_KEYS.iter().filter_map(|name| variables.text(name));
    match values.next() {
        Some(value) => Ok(Some(Secret::new(value))),
        None => Err(missing("OPENAI_API_KEY")),
    }
}

fn pairs(map: &BTreeMap<String, String>) -> Vec<(String, String)> {
    map.iter().map(|(k, v)| (k.clone(), v.clone())).collect()
}
