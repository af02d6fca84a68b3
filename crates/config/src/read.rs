//! From checked layers to [`Config`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent_protocol::{ApprovalPolicy, GranularApprovals};
use toml::{Table, Value};

use crate::layer::merge;
use crate::{
    Config, ConfigError, Layer, NetworkSetting, Override, ProviderConfig, ShellEnvironment,
    ShellInherit, TrustLevel, TuiConfig, WireApi, WorkspaceWrite,
};

/// A configuration and what is to be said about it.
#[derive(Debug)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Unknown keys and the like, each a line for a person.
    pub warnings: Vec<String>,
}

/// Puts a profile and overrides over the file's layer and reads the result. Relative paths in it
/// are meant from `home` (the directory of the file).
///
/// A profile is a table `[profiles.NAME]` of the file, or a file `NAME.config.toml` beside it;
/// where there are both, the file wins. Without `profile`, the key of that name chooses.
///
/// # Errors
/// When there is no such profile, a value has the wrong type or makes no sense.
pub fn load(
    file: Layer,
    profile: Option<&str>,
    overrides: &[Override],
    home: &Path,
) -> Result<Loaded, ConfigError> {
    let Layer {
        mut table,
        mut warnings,
    } = file;
    let chosen = text_at(&table, "profile");
    if let Some(name) = profile.or(chosen.as_deref()) {
        let layer = profile_layer(&table, name, home)?;
        warnings.extend(layer.warnings);
        merge(&mut table, layer.table);
    }
    for given in overrides {
        let layer = Layer::from_override(given)?;
        warnings.extend(layer.warnings);
        merge(&mut table, layer.table);
    }
    match (Reader { home }).config(&table) {
        Ok(config) => Ok(Loaded { config, warnings }),
        // What is missing may be there under a mistyped name.
        Err(ConfigError::Value { key, mut problem }) => {
            for warning in &warnings {
                problem.push_str("; ");
                problem.push_str(warning);
            }
            Err(ConfigError::Value { key, problem })
        }
        Err(err) => Err(err),
    }
}

fn tui(table: &Table) -> TuiConfig {
    let empty = Table::new();
    let table = sub(table, "tui").unwrap_or(&empty);
    let flag = |name: &str, default: bool| bool_at(table, name).unwrap_or(default);
    TuiConfig {
        theme: text_at(table, "theme"),
        vim_mode_default: flag("vim_mode_default", false),
        animations: flag("animations", true),
        notifications: flag("notifications", true),
        notification_method: text_at(table, "notification_method"),
        notify_always: text_at(table, "notification_condition").as_deref() == Some("always"),
        status_line: texts_at(table, "status_line"),
    }
}

/// The settings of a profile.
fn profile_layer(table: &Table, name: &str, home: &Path) -> Result<Layer, ConfigError> {
    let own = sub(table, "profiles").and_then(|profiles| sub(profiles, name));
    let path = home.join(format!("{name}.config.toml"));
    let is_name = !name.is_empty() && !name.contains(['/', '\\']);
    let file = (is_name && path.is_file()).then(|| Layer::from_file(&path));
    if own.is_none() && file.is_none() {
        return Err(ConfigError::Value {
            key: "profile".to_owned(),
            problem: format!(
                "there is no profile `{name}`: neither a table `[profiles.{name}]` nor a file `{}`",
                path.display()
            ),
        });
    }
    let mut layer = Layer {
        table: own.cloned().unwrap_or_default(),
        warnings: Vec::new(),
    };
    if let Some(file) = file {
        let file = file?;
        merge(&mut layer.table, file.table);
        layer.warnings = file.warnings;
    }
    Ok(layer)
}

/// Reads values that a layer's check has found to be of the right type.
struct Reader<'a> {
    home: &'a Path,
}

impl Reader<'_> {
    fn config(&self, table: &Table) -> Result<Config, ConfigError> {
        let flag = |name: &str, default: bool| bool_at(table, name).unwrap_or(default);
        let features = sub(table, "features");
        let plan = sub(table, "tools").and_then(|tools| sub(tools, "update_plan"));
        Ok(Config {
            model: text_at(table, "model"),
            model_provider: text_at(table, "model_provider").unwrap_or_else(|| "openai".to_owned()),
            model_reasoning_effort: text_at(table, "model_reasoning_effort"),
            model_reasoning_summary: text_at(table, "model_reasoning_summary"),
            model_verbosity: text_at(table, "model_verbosity"),
            model_context_window: count_at(table, "model_context_window"),
            model_instructions_file: self.path_at(table, "model_instructions_file"),
            developer_instructions: text_at(table, "developer_instructions"),
            approval_policy: table.get("approval_policy").and_then(approval_policy),
            sandbox_mode: text_at(table, "sandbox_mode").and_then(|word| word.parse().ok()),
            workspace_write: self.workspace_write(table),
            network: network(table),
            sandbox_strict: flag("sandbox_strict", false),
            deny_read: self.paths_at(table, "deny_read"),
            shell_environment: shell_environment(table),
            model_providers: self.providers(table)?,
            projects: projects(table),
            project_doc_max_bytes: count_at(table, "project_doc_max_bytes")
                .map_or(32 * 1024, to_usize),
            project_doc_fallback_filenames: texts_at(table, "project_doc_fallback_filenames")
                .unwrap_or_default(),
            project_root_markers: texts_at(table, "project_root_markers")
                .unwrap_or_else(|| vec![".git".to_owned()]),
            include_permissions_instructions: flag("include_permissions_instructions", true),
            include_environment_context: flag("include_environment_context", true),
            allow_login_shell: flag("allow_login_shell", true),
            tool_output_token_limit: count_at(table, "tool_output_token_limit").map(to_usize),
            command_timeout_ms: count_at(table, "command_timeout_ms"),
            background_terminal_max_timeout: count_at(table, "background_terminal_max_timeout")
                .unwrap_or(300_000),
            hide_agent_reasoning: flag("hide_agent_reasoning", false),
            show_raw_agent_reasoning: flag("show_raw_agent_reasoning", false),
            update_plan: plan.is_none_or(|plan| bool_at(plan, "enabled").unwrap_or(true)),
            apply_patch_freeform: features
                .is_none_or(|table| bool_at(table, "apply_patch_freeform").unwrap_or(true)),
            tui: tui(table),
            keep_history: sub(table, "history")
                .and_then(|history| text_at(history, "persistence"))
                .is_none_or(|word| word != "none"),
            file_fsync: flag("file_fsync", false),
        })
    }

    fn workspace_write(&self, table: &Table) -> WorkspaceWrite {
        let Some(table) = sub(table, "sandbox_workspace_write") else {
            return WorkspaceWrite::default();
        };
        let flag = |name: &str| bool_at(table, name).unwrap_or(false);
        WorkspaceWrite {
            writable_roots: self.paths_at(table, "writable_roots"),
            network_access: bool_at(table, "network_access"),
            exclude_tmpdir_env_var: flag("exclude_tmpdir_env_var"),
            exclude_slash_tmp: flag("exclude_slash_tmp"),
        }
    }

    fn providers(&self, table: &Table) -> Result<BTreeMap<String, ProviderConfig>, ConfigError> {
        let mut providers = BTreeMap::new();
        let mut openai = ProviderConfig::openai();
        if let Some(url) = text_at(table, "openai_base_url") {
            openai.base_url = Some(url);
        }
        providers.insert("openai".to_owned(), openai);
        for (id, value) in sub(table, "model_providers").into_iter().flatten() {
            if let Value::Table(entry) = value {
                providers.insert(id.clone(), self.provider(id, entry)?);
            }
        }
        Ok(providers)
    }

    fn provider(&self, id: &str, table: &Table) -> Result<ProviderConfig, ConfigError> {
        let scripted = text_at(table, "kind").as_deref() == Some("scripted");
        let wire_api = match text_at(table, "wire_api").as_deref() {
            _ if scripted => WireApi::Scripted,
            Some("chat") => WireApi::Chat,
            Some("anthropic") => WireApi::Anthropic,
            Some(_) | None => WireApi::Responses,
        };
        let missing = |key: &str, what: &str| ConfigError::Value {
            key: format!("model_providers.{id}.{key}"),
            problem: format!("is missing; set it to {what}"),
        };
        let provider = ProviderConfig {
            name: text_at(table, "name").unwrap_or_else(|| id.to_owned()),
            base_url: text_at(table, "base_url"),
            env_key: text_at(table, "env_key"),
            env_key_instructions: text_at(table, "env_key_instructions"),
            wire_api,
            steps: self.path_at(table, "steps"),
            http_headers: text_map_at(table, "http_headers"),
            env_http_headers: text_map_at(table, "env_http_headers"),
            query_params: text_map_at(table, "query_params"),
            request_max_retries: count_at(table, "request_max_retries"),
            stream_max_retries: count_at(table, "stream_max_retries"),
            stream_idle_timeout_ms: count_at(table, "stream_idle_timeout_ms"),
            function_tools_only: bool_at(table, "function_tools_only").unwrap_or(false),
        };
        if scripted && provider.steps.is_none() {
            return Err(missing("steps", "the path of a file of steps"));
        }
        if !scripted && provider.base_url.is_none() {
            return Err(missing("base_url", "the address of the server"));
        }
        Ok(provider)
    }

    fn path_at(&self, table: &Table, name: &str) -> Option<PathBuf> {
        text_at(table, name).map(|text| self.resolve(&text))
    }

    fn paths_at(&self, table: &Table, name: &str) -> Vec<PathBuf> {
        let texts = texts_at(table, name).unwrap_or_default();
        texts.iter().map(|text| self.resolve(text)).collect()
    }

    /// Makes a path absolute; `~/` is left for the caller, who knows the user's home.
    fn resolve(&self, text: &str) -> PathBuf {
        if text.starts_with("~/") || text == "~" {
            PathBuf::from(text)
        } else {
            self.home.join(text)
        }
    }
}

fn network(table: &Table) -> Option<NetworkSetting> {
    match text_at(table, "network").as_deref() {
        Some("on") => Some(NetworkSetting::On),
        Some(_) => Some(NetworkSetting::Off),
        None => texts_at(table, "network").map(NetworkSetting::Hosts),
    }
}

fn shell_environment(table: &Table) -> ShellEnvironment {
    let Some(table) = sub(table, "shell_environment_policy") else {
        return ShellEnvironment::default();
    };
    ShellEnvironment {
        inherit: match text_at(table, "inherit").as_deref() {
            Some("core") => ShellInherit::Core,
            Some("none") => ShellInherit::None,
            Some(_) | None => ShellInherit::All,
        },
        ignore_default_excludes: bool_at(table, "ignore_default_excludes").unwrap_or(false),
        exclude: texts_at(table, "exclude").unwrap_or_default(),
        include_only: texts_at(table, "include_only").unwrap_or_default(),
        set: text_map_at(table, "set"),
    }
}

fn projects(table: &Table) -> BTreeMap<PathBuf, TrustLevel> {
    let mut projects = BTreeMap::new();
    for (path, value) in sub(table, "projects").into_iter().flatten() {
        let level = match value.get("trust_level").and_then(Value::as_str) {
            Some("trusted") => TrustLevel::Trusted,
            Some("untrusted") => TrustLevel::Untrusted,
            Some(_) | None => continue,
        };
        projects.insert(PathBuf::from(path), level);
    }
    projects
}

fn approval_policy(value: &Value) -> Option<ApprovalPolicy> {
    if let Some(word) = value.as_str() {
        return word.parse().ok();
    }
    let granular = value.get("granular")?;
    let flag = |name: &str| granular.get(name).and_then(Value::as_bool).unwrap_or(false);
    Some(ApprovalPolicy::Granular(GranularApprovals {
        sandbox_approval: flag("sandbox_approval"),
        rules: flag("rules"),
        mcp_elicitations: flag("mcp_elicitations"),
        request_permissions: flag("request_permissions"),
    }))
}

fn sub<'a>(table: &'a Table, name: &str) -> Option<&'a Table> {
    table.get(name).and_then(Value::as_table)
}

fn text_at(table: &Table, name: &str) -> Option<String> {
    table.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn bool_at(table: &Table, name: &str) -> Option<bool> {
    table.get(name).and_then(Value::as_bool)
}

fn count_at(table: &Table, name: &str) -> Option<u64> {
    let number = table.get(name).and_then(Value::as_integer)?;
    u64::try_from(number).ok()
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn texts_at(table: &Table, name: &str) -> Option<Vec<String>> {
    let list = table.get(name).and_then(Value::as_array)?;
    Some(list.iter().filter_map(text).collect())
}

fn text_map_at(table: &Table, name: &str) -> BTreeMap<String, String> {
    let entries = sub(table, name).into_iter().flatten();
    entries
        .filter_map(|(key, value)| Some((key.clone(), text(value)?)))
        .collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
