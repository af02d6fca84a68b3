//! Every key that a configuration may have, with the type of its value.
//!
//! Keys are the ones that people have from Codex, so that a file carries over. A key whose
//! feature this version does not have is listed as [`Kind::Later`]: it is accepted and does
//! nothing.

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text.
    Text,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// True or false.
    Bool,
    /// A whole number that is not negative.
    Count,
    /// A list of texts.
    Texts,
    /// A table of texts.
    TextMap,
    /// An approval policy: a word, or a table `granular`.
    Approval,
    /// Access to the network: a word, or a list of hosts.
    Network,
    /// Accepted unread: the feature is not built yet.
    Later,
}

/// A dotted path and what stands there. `*` is any name.
pub(crate) struct Key {
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
}

const fn key(path: &'static str, kind: Kind) -> Key {
    Key { path, kind }
}

/// Reasoning efforts are free words, so only the summary and verbosity are closed lists.
const SUMMARY: Kind = Kind::Word(&["auto", "concise", "detailed", "none"]);
const VERBOSITY: Kind = Kind::Word(&["low", "medium", "high"]);
const SANDBOX: Kind = Kind::Word(&["read-only", "workspace-write", "danger-full-access"]);
const TRUST: Kind = Kind::Word(&["trusted", "untrusted"]);
const NOTIFICATION: Kind = Kind::Word(&["auto", "osc9", "osc777", "bel"]);
const INHERIT: Kind = Kind::Word(&["all", "core", "none"]);

/// The keys, sorted by area. Order does not matter.
pub(crate) const KEYS: &[Key] = &[
    key("model", Kind::Text),
    key("model_provider", Kind::Text),
    key("model_reasoning_effort", Kind::Text),
    key("model_reasoning_summary", SUMMARY),
    key("model_verbosity", VERBOSITY),
    key("model_context_window", Kind::Count),
    key("model_instructions_file", Kind::Text),
    key("developer_instructions", Kind::Text),
    key("approval_policy", Kind::Approval),
    key("sandbox_mode", SANDBOX),
    key("sandbox_workspace_write.writable_roots", Kind::Texts),
    key("sandbox_workspace_write.network_access", Kind::Bool),
    key("sandbox_workspace_write.exclude_tmpdir_env_var", Kind::Bool),
    key("sandbox_workspace_write.exclude_slash_tmp", Kind::Bool),
    key("network", Kind::Network),
    key("sandbox_strict", Kind::Bool),
    key("deny_read", Kind::Texts),
    key("shell_environment_policy.inherit", INHERIT),
    key(
        "shell_environment_policy.ignore_default_excludes",
        Kind::Bool,
    ),
    key("shell_environment_policy.exclude", Kind::Texts),
    key("shell_environment_policy.include_only", Kind::Texts),
    key("shell_environment_policy.set", Kind::TextMap),
    key("model_providers.*.name", Kind::Text),
    key("model_providers.*.kind", Kind::Word(&["http", "scripted"])),
    key("model_providers.*.steps", Kind::Text),
    key("model_providers.*.base_url", Kind::Text),
    key("model_providers.*.env_key", Kind::Text),
    key("model_providers.*.env_key_instructions", Kind::Text),
    key(
        "model_providers.*.wire_api",
        Kind::Word(&["responses", "chat", "anthropic"]),
    ),
    key("model_providers.*.http_headers", Kind::TextMap),
    key("model_providers.*.env_http_headers", Kind::TextMap),
    key("model_providers.*.query_params", Kind::TextMap),
    key("model_providers.*.request_max_retries", Kind::Count),
    key("model_providers.*.stream_max_retries", Kind::Count),
    key("model_providers.*.stream_idle_timeout_ms", Kind::Count),
    key("model_providers.*.function_tools_only", Kind::Bool),
    key("openai_base_url", Kind::Text),
    key("projects.*.trust_level", TRUST),
    key("project_doc_max_bytes", Kind::Count),
    key("project_doc_fallback_filenames", Kind::Texts),
    key("project_root_markers", Kind::Texts),
    key("include_permissions_instructions", Kind::Bool),
    key("include_environment_context", Kind::Bool),
    key("allow_login_shell", Kind::Bool),
    key("tool_output_token_limit", Kind::Count),
    key("command_timeout_ms", Kind::Count),
    key("background_terminal_max_timeout", Kind::Count),
    key("hide_agent_reasoning", Kind::Bool),
    key("show_raw_agent_reasoning", Kind::Bool),
    key("tools.update_plan.enabled", Kind::Bool),
    key("features.apply_patch_freeform", Kind::Bool),
    key("file_fsync", Kind::Bool),
    key("tui.theme", Kind::Text),
    key("tui.vim_mode_default", Kind::Bool),
    key("tui.animations", Kind::Bool),
    key("tui.notifications", Kind::Bool),
    key("tui.notification_method", NOTIFICATION),
    key(
        "tui.notification_condition",
        Kind::Word(&["unfocused", "always"]),
    ),
    key("tui.status_line", Kind::Texts),
    key("history.persistence", Kind::Word(&["save-all", "none"])),
    // Accepted, without effect in this version.
    key("review_model", Kind::Later),
    key("model_auto_compact_token_limit", Kind::Later),
    key("model_auto_compact_token_limit_scope", Kind::Later),
    key("model_post_turn_compact_threshold_percent", Kind::Later),
    key("plan_mode_reasoning_effort", Kind::Later),
    key("model_catalog_json", Kind::Later),
    key("personality", Kind::Later),
    key("service_tier", Kind::Later),
    key("approvals_reviewer", Kind::Later),
    key("auto_review", Kind::Later),
    key("default_permissions", Kind::Later),
    key("permissions", Kind::Later),
    key("profile", Kind::Text),
    key(
        "shell_environment_policy.experimental_use_profile",
        Kind::Later,
    ),
    key("shell_environment_policy.filters", Kind::Later),
    key("mcp_servers", Kind::Later),
    key(
        "model_providers.*.websocket_connect_timeout_ms",
        Kind::Later,
    ),
    key("model_providers.*.supports_websockets", Kind::Later),
    key("model_providers.*.requires_openai_auth", Kind::Later),
    key("model_providers.*.experimental_bearer_token", Kind::Later),
    key("model_providers.*.model_catalog_url", Kind::Later),
    key("model_providers.*.auth", Kind::Later),
    key("model_providers.*.aws", Kind::Later),
    key("chatgpt_base_url", Kind::Later),
    key("oss_provider", Kind::Later),
    key("web_search", Kind::Later),
    key("tools.web_search", Kind::Later),
    key("tools.experimental_request_user_input", Kind::Later),
    key("compact_prompt", Kind::Later),
    key("include_apps_instructions", Kind::Later),
    key("include_collaboration_mode_instructions", Kind::Later),
    key("history.max_bytes", Kind::Later),
    key("notify", Kind::Later),
    key("file_opener", Kind::Later),
    key("log_dir", Kind::Later),
    key("sqlite_home", Kind::Later),
    key("check_for_update_on_startup", Kind::Later),
    key("cli_auth_credentials_store", Kind::Later),
    key("mcp_oauth_credentials_store", Kind::Later),
    key("mcp_oauth_callback_port", Kind::Later),
    key("forced_login_method", Kind::Later),
    key("forced_chatgpt_workspace_id", Kind::Later),
    key("tui.alternate_screen", Kind::Later),
    key("tui.show_tooltips", Kind::Later),
    key("tui.status_line_use_colors", Kind::Later),
    key("tui.terminal_title", Kind::Later),
    key("tui.raw_output_mode", Kind::Later),
    key("tui.session_picker_view", Kind::Later),
    key("tui.resume_cwd", Kind::Later),
    key("tui.auto_recap", Kind::Later),
    key("tui.copy_on_select", Kind::Later),
    key("tui.mouse_scroll_speed", Kind::Later),
    key("tui.rendering", Kind::Later),
    key("tui.effects", Kind::Later),
    key("tui.keymap", Kind::Later),
    key("tui.presets", Kind::Later),
    key("tui.disable_paste_burst", Kind::Later),
    key("agents", Kind::Later),
    key("skills", Kind::Later),
    key("hooks", Kind::Later),
    key("plugins", Kind::Later),
    key("marketplaces", Kind::Later),
    key("memories", Kind::Later),
    key("goals", Kind::Later),
    key("otel", Kind::Later),
    key("analytics", Kind::Later),
    key("feedback", Kind::Later),
    key("notice", Kind::Later),
    key("windows", Kind::Later),
    key("apps", Kind::Later),
    key("features.*", Kind::Later),
];

/// What is known of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// A value of this kind stands there.
    Value(Kind),
    /// A table stands there; its keys are listed one by one.
    Table,
    /// No such key.
    Unknown,
}

/// Looks a path up. A profile holds the same keys as the file itself.
pub(crate) fn lookup(path: &[&str]) -> Known {
    let path = match path {
        ["profiles"] | ["profiles", _] => return Known::Table,
        ["profiles", _, rest @ ..] => rest,
        path => path,
    };
    let mut table = false;
    for key in KEYS {
        match compare(key.path, path) {
            Fit::Exact => return Known::Value(key.kind),
            Fit::Above => table = true,
            Fit::Not => {}
        }
    }
    if table { Known::Table } else { Known::Unknown }
}

enum Fit {
    Exact,
    Above,
    Not,
}

/// How `path` stands to the pattern: the same, a table above it, or neither.
fn compare(pattern: &str, path: &[&str]) -> Fit {
    let mut parts = pattern.split('.');
    for name in path {
        match parts.next() {
            Some(part) if part == "*" || part == *name => {}
            Some(_) | None => return Fit::Not,
        }
    }
    if parts.next().is_some() {
        Fit::Above
    } else {
        Fit::Exact
    }
}

/// The key that a mistyped last name most likely means: the nearest name that may stand in the
/// same table.
pub(crate) fn nearest(path: &[&str]) -> Option<String> {
    if let ["profiles", name, rest @ ..] = path
        && !rest.is_empty()
    {
        return nearest(rest).map(|key| format!("profiles.{name}.{key}"));
    }
    let (last, table) = path.split_last()?;
    let mut best: Option<(f64, &str)> = None;
    for key in KEYS {
        let Some(name) = name_below(key.path, table) else {
            continue;
        };
        let score = strsim::jaro_winkler(last, name);
        if score > best.map_or(0.82, |(score, _)| score) {
            best = Some((score, name));
        }
    }
    best.map(|(_, name)| {
        let mut names = table.to_vec();
        names.push(name);
        names.join(".")
    })
}

/// The name that a pattern has directly below a table, unless it is `*`.
fn name_below<'a>(pattern: &'a str, table: &[&str]) -> Option<&'a str> {
    let mut parts = pattern.split('.');
    for name in table {
        let part = parts.next()?;
        if part != "*" && part != *name {
            return None;
        }
    }
    parts.next().filter(|name| *name != "*")
}
