//! The settings as the program uses them, with their defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent_protocol::{ApprovalPolicy, SandboxMode};

/// All settings of this version.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one field a key of the configuration file"
)]
pub struct Config {
    /// The model's name, as the provider knows it.
    pub model: Option<String>,
    /// Which of [`Config::model_providers`] answers.
    pub model_provider: String,
    /// How much the model should think; the words are the provider's.
    pub model_reasoning_effort: Option<String>,
    /// How the model should summarise its thoughts; `None` sends `auto`.
    pub model_reasoning_summary: Option<String>,
    /// How long answers should be.
    pub model_verbosity: Option<String>,
    /// The size of the model's context window, in tokens.
    pub model_context_window: Option<u64>,
    /// A file that replaces the base instructions.
    pub model_instructions_file: Option<PathBuf>,
    /// Instructions that are added to the built-in ones.
    pub developer_instructions: Option<String>,
    /// When a person is asked; `None` leaves it to the face.
    pub approval_policy: Option<ApprovalPolicy>,
    /// What commands may touch; `None` leaves it to trust.
    pub sandbox_mode: Option<SandboxMode>,
    /// Details of `workspace-write`.
    pub workspace_write: WorkspaceWrite,
    /// Whether commands reach the network; `None` leaves it to
    /// [`WorkspaceWrite::network_access`].
    pub network: Option<NetworkSetting>,
    /// Refuse to run at a sandbox level that only restores protected paths afterwards.
    pub sandbox_strict: bool,
    /// Paths that commands must not read, beside the built-in table.
    pub deny_read: Vec<PathBuf>,
    /// Which environment variables commands get.
    pub shell_environment: ShellEnvironment,
    /// The providers that the configuration names, and the built-in `openai`.
    pub model_providers: BTreeMap<String, ProviderConfig>,
    /// Directories and whether they are trusted.
    pub projects: BTreeMap<PathBuf, TrustLevel>,
    /// How much of the AGENTS.md files is used, in bytes; 0 uses none.
    pub project_doc_max_bytes: usize,
    /// Further names that stand in for AGENTS.md.
    pub project_doc_fallback_filenames: Vec<String>,
    /// What marks the root of a project.
    pub project_root_markers: Vec<String>,
    /// Whether the model is told of sandbox and approvals.
    pub include_permissions_instructions: bool,
    /// Whether the model is told of directory, shell and date.
    pub include_environment_context: bool,
    /// Whether commands may run in a login shell.
    pub allow_login_shell: bool,
    /// How long the output of one tool call may be, in tokens.
    pub tool_output_token_limit: Option<usize>,
    /// After how many milliseconds a command is ended that sets no limit of its own.
    pub command_timeout_ms: Option<u64>,
    /// How long one call may wait for more output of a command, in milliseconds.
    pub background_terminal_max_timeout: u64,
    /// Whether reasoning summaries stay unseen.
    pub hide_agent_reasoning: bool,
    /// Whether raw reasoning is shown where a provider sends it.
    pub show_raw_agent_reasoning: bool,
    /// Whether the model has the tool `update_plan`.
    pub update_plan: bool,
    /// Whether `apply_patch` is sent as a free-form tool where the provider can take one.
    pub apply_patch_freeform: bool,
    /// How the terminal interface looks and behaves.
    pub tui: TuiConfig,
    /// Whether what the user types is kept for later sessions.
    pub keep_history: bool,
    /// Whether edited files are synced to the disk (safe against power loss, slower).
    pub file_fsync: bool,
}

/// The table `tui`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one field a key of the configuration file"
)]
pub struct TuiConfig {
    /// The name of the theme.
    pub theme: Option<String>,
    /// Vim keys in the composer.
    pub vim_mode_default: bool,
    /// Whether anything moves by itself.
    pub animations: bool,
    /// Whether the user is called when a turn ends or an answer is needed.
    pub notifications: bool,
    /// How: `auto`, `osc9`, `osc777` or `bel`.
    pub notification_method: Option<String>,
    /// Call the user also when the terminal has the focus.
    pub notify_always: bool,
    /// What the status line shows, in order; `None` is the usual.
    pub status_line: Option<Vec<String>>,
}

/// The key `network`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkSetting {
    /// Commands have none.
    Off,
    /// They have that of this machine.
    On,
    /// They reach these hosts; the entries are as written.
    Hosts(Vec<String>),
}

/// The key `sandbox_workspace_write`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceWrite {
    /// Further directories that may be written.
    pub writable_roots: Vec<PathBuf>,
    /// Whether commands reach the network, where [`Config::network`] does not say.
    pub network_access: Option<bool>,
    /// Keep `$TMPDIR` read-only.
    pub exclude_tmpdir_env_var: bool,
    /// Keep `/tmp` read-only.
    pub exclude_slash_tmp: bool,
}

/// The key `shell_environment_policy`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellEnvironment {
    /// What is passed on to begin with.
    pub inherit: ShellInherit,
    /// Pass on names that look like secrets as well.
    pub ignore_default_excludes: bool,
    /// Patterns of names that are left out.
    pub exclude: Vec<String>,
    /// Where not empty, patterns of the only names that are passed on.
    pub include_only: Vec<String>,
    /// Variables that are set.
    pub set: BTreeMap<String, String>,
}

/// What commands inherit to begin with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShellInherit {
    /// Everything.
    #[default]
    All,
    /// A few names that programs rely on.
    Core,
    /// Nothing.
    None,
}

/// Whether a directory is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustLevel {
    /// Its commands may write in the workspace, its configuration counts.
    Trusted,
    /// Neither.
    Untrusted,
}

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireApi {
    /// The Responses API.
    Responses,
    /// Chat Completions.
    Chat,
    /// Anthropic Messages.
    Anthropic,
    /// No server: a file of steps.
    Scripted,
}

/// One entry of `model_providers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    /// The name shown to people.
    pub name: String,
    /// The address, without `/responses`.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub env_key: Option<String>,
    /// How to get a key, shown when it is missing.
    pub env_key_instructions: Option<String>,
    /// How it is spoken to.
    pub wire_api: WireApi,
    /// The steps of a scripted provider.
    pub steps: Option<PathBuf>,
    /// Headers sent with each request.
    pub http_headers: BTreeMap<String, String>,
    /// Headers whose values come from environment variables.
    pub env_http_headers: BTreeMap<String, String>,
    /// Parameters added to the address.
    pub query_params: BTreeMap<String, String>,
    /// How often a request that was refused for the moment is made again.
    pub request_max_retries: Option<u64>,
    /// How often a stream that was cut is asked for again.
    pub stream_max_retries: Option<u64>,
    /// How long a stream may be silent, in milliseconds.
    pub stream_idle_timeout_ms: Option<u64>,
    /// Send only function tools (some servers refuse custom ones).
    pub function_tools_only: bool,
}

impl ProviderConfig {
    /// The built-in provider `openai`.
    pub fn openai() -> Self {
        Self {
            name: "OpenAI".to_owned(),
            base_url: Some("https://api.openai.com/v1".to_owned()),
            env_key: None,
            env_key_instructions: None,
            wire_api: WireApi::Responses,
            steps: None,
            http_headers: BTreeMap::new(),
            env_http_headers: BTreeMap::new(),
            query_params: BTreeMap::new(),
            request_max_retries: None,
            stream_max_retries: None,
            stream_idle_timeout_ms: None,
            function_tools_only: false,
        }
    }
}

impl Config {
    /// Whether `dir`, or the nearest directory above it that is mentioned, is trusted; `None`
    /// when none is mentioned. `roots` are further directories to look up when neither is: the
    /// project root and, in a linked worktree, the main one.
    pub fn trust(&self, dir: &Path, roots: &[&Path]) -> Option<TrustLevel> {
        let exact = |path: &Path| self.projects.get(path).copied();
        exact(dir).or_else(|| roots.iter().find_map(|root| exact(root)))
    }
}
