//! From configuration and options to the settings of one thread.

mod provider;
mod sandbox;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_config::{Config, TrustLevel, read_regular};
use agent_model::{ModelProvider, ProviderSettings};
use agent_process::{EnvironmentPolicy, Inherit};
use agent_protocol::{ApprovalPolicy, SandboxMode, SettingsChange, ThreadInfo};
use agent_sandbox::{HostEntryError, IgnoreFileError, SandboxPolicy};
use agent_workspace::Durability;

use crate::environment::{Environment, LocalEnvironment, LocalSettings};
use crate::project::Project;

/// The model that is asked when none is configured.
const DEFAULT_MODEL: &str = "gpt-5.5";

/// The longest output of one tool call, in tokens, unless configured.
const DEFAULT_OUTPUT_TOKENS: usize = 10_000;

/// The longest file of base instructions, in bytes.
const MAX_INSTRUCTIONS_BYTES: u64 = 1 << 20;

/// What a face asks for when it starts or resumes a thread. What it leaves open comes from the
/// configuration.
#[derive(Debug, Clone)]
pub struct ThreadOptions {
    /// Where the thread works.
    pub cwd: PathBuf,
    /// The approval policy where neither options nor configuration name one.
    pub default_approval: ApprovalPolicy,
    /// Whether someone can answer questions.
    pub interactive: bool,
    /// Write nothing to disk.
    pub ephemeral: bool,
    /// Further directories that may be written.
    pub writable_roots: Vec<PathBuf>,
    /// Limits of a turn.
    pub limits: TurnLimits,
    /// Who starts it: `exec` or `cli`.
    pub source: &'static str,
    /// How the program calls itself to providers.
    pub originator: String,
    /// What the face changes of the configuration.
    pub change: SettingsChange,
}

impl ThreadOptions {
    /// A thread that nobody watches: no question is asked, no limit is set.
    pub fn unattended(cwd: PathBuf) -> Self {
        Self {
            cwd,
            default_approval: ApprovalPolicy::Never,
            interactive: false,
            ephemeral: false,
            writable_roots: Vec::new(),
            limits: TurnLimits::default(),
            source: "exec",
            originator: "agent".to_owned(),
            change: SettingsChange::default(),
        }
    }

    /// A thread that somebody watches and answers.
    pub fn interactive(cwd: PathBuf) -> Self {
        Self {
            default_approval: ApprovalPolicy::OnRequest,
            interactive: true,
            source: "cli",
            ..Self::unattended(cwd)
        }
    }
}

/// Limits of a turn; reaching one ends it with a failure of the kind `Budget`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnLimits {
    /// Requests to the model.
    pub max_requests: Option<u64>,
    /// Tokens in and out.
    pub max_tokens: Option<u64>,
    /// Time.
    pub timeout: Option<Duration>,
}

/// Everything a thread needs to know to run.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of the configuration"
)]
pub(crate) struct ThreadSettings {
    pub(crate) cwd: PathBuf,
    pub(crate) project: Project,
    pub(crate) provider: Arc<dyn ModelProvider>,
    pub(crate) provider_id: String,
    pub(crate) retries: ProviderSettings,
    pub(crate) model: String,
    pub(crate) reasoning_effort: Option<String>,
    pub(crate) reasoning_summary: Option<String>,
    pub(crate) verbosity: Option<String>,
    pub(crate) instructions: Arc<str>,
    pub(crate) developer_instructions: Option<String>,
    pub(crate) approval_policy: ApprovalPolicy,
    pub(crate) sandbox_mode: SandboxMode,
    pub(crate) sandbox: SandboxPolicy,
    pub(crate) variables: EnvironmentPolicy,
    pub(crate) shell: PathBuf,
    pub(crate) allow_login_shell: bool,
    pub(crate) max_output_tokens: usize,
    pub(crate) interactive: bool,
    pub(crate) ephemeral: bool,
    pub(crate) limits: TurnLimits,
    pub(crate) hide_reasoning: bool,
    pub(crate) source: &'static str,
    pub(crate) originator: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) config: Arc<Config>,
}

impl ThreadSettings {
    /// What faces are told.
    pub(crate) fn info(&self) -> ThreadInfo {
        ThreadInfo {
            cwd: self.cwd.clone(),
            model: self.model.clone(),
            provider: self.provider_id.clone(),
            approval_policy: self.approval_policy,
            sandbox_mode: self.sandbox_mode,
            reasoning_effort: self.reasoning_effort.clone(),
            context_window: self.config.model_context_window,
            rollout_path: None,
        }
    }

    /// This machine within the policy of the thread. `own` are the agent's own variables.
    pub(crate) fn environment(&self, own: &Variables) -> Arc<dyn Environment> {
        let variables = self.variables.prepare(own.0.iter().cloned());
        Arc::new(LocalEnvironment::new(LocalSettings {
            policy: self.sandbox.clone(),
            variables: variables.variables,
            withheld: variables.withheld,
            shell: self.shell.clone(),
            allow_login_shell: self.allow_login_shell,
            keeps_shell_state: !self.ephemeral,
            durability: if self.config.file_fsync {
                Durability::Synced
            } else {
                Durability::Cached
            },
        }))
    }
}

/// Why a thread cannot start. All are for the user to mend before anything is sent.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The key of the provider is not there.
    #[error("the provider `{provider}` needs an API key, and the variable `{variable}` is not set")]
    MissingKey {
        /// The provider.
        provider: String,
        /// The variable.
        variable: String,
        /// How to get a key, from the configuration.
        instructions: Option<String>,
    },
    /// The configuration names a provider that it does not have.
    #[error("`model_provider` is `{name}`, but there is no `[model_providers.{name}]`")]
    UnknownProvider {
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The provider speaks a protocol that this version does not.
    #[error(
        "the provider `{name}` has `wire_api = \"{wire_api}\"`, which this version does not speak"
    )]
    WireApi {
        /// The provider.
        name: String,
        /// The protocol.
        wire_api: &'static str,
    },
    /// The file of steps is broken.
    #[error("the scripted provider `{name}` cannot be used")]
    Script {
        /// The provider.
        name: String,
        /// Why.
        source: agent_model::ScriptError,
    },
    /// Its address or headers are unusable.
    #[error(transparent)]
    Provider(agent_model::ModelError),
    /// The file of base instructions cannot be read.
    #[error("cannot read `model_instructions_file` `{path}`", path = path.display())]
    Instructions {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// An entry of the list of hosts is none.
    #[error("`network` cannot be read")]
    Network(#[from] HostEntryError),
    /// The working directory is not there.
    #[error("cannot work in `{path}`", path = path.display())]
    Cwd {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What the project wants unread cannot be told.
    #[error(transparent)]
    IgnoreFile(#[from] IgnoreFileError),
}

impl SettingsError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::MissingKey {
                variable,
                instructions,
                ..
            } => Some(match instructions {
                Some(instructions) => instructions.clone(),
                None => format!(
                    "export {variable}=… and start again; without a key, `agent demo` shows how it works"
                ),
            }),
            Self::UnknownProvider { known, .. } => {
                Some(format!("the providers are: {}", known.join(", ")))
            }
            Self::WireApi { .. } => Some("set `wire_api = \"responses\"`".to_owned()),
            Self::Cwd { .. } => Some("choose a directory with `--cd DIR`".to_owned()),
            Self::IgnoreFile(IgnoreFileError::TooMany { .. }) => {
                Some("name their directory instead of each of them".to_owned())
            }
            Self::IgnoreFile(_) => Some(
                "mend the file; nothing runs while it is not known what must stay unread"
                    .to_owned(),
            ),
            Self::Network(_) => Some(
                "`network` is \"off\", \"on\" or a list such as `[\"example.org\", \
                 \"*.example.org:443\", \"127.0.0.1:8080\"]`"
                    .to_owned(),
            ),
            Self::Script { .. } | Self::Provider(_) | Self::Instructions { .. } => None,
        }
    }
}

/// The variables that the agent was started with.
#[derive(Debug, Clone, Default)]
pub struct Variables(pub Vec<(OsString, OsString)>);

impl Variables {
    /// The value of a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        let mut pairs = self.0.iter();
        let (_, value) = pairs.find(|(key, _)| key == name)?;
        (!value.is_empty()).then_some(value)
    }

    /// The same as text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.to_str()
    }

    /// The user's home directory.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.get("HOME").map(PathBuf::from)
    }
}

/// Puts configuration, options and variables together.
pub(crate) fn resolve(
    config: &Arc<Config>,
    options: ThreadOptions,
    variables: &Variables,
    agent_home: &Path,
) -> Result<ThreadSettings, SettingsError> {
    let config = &changed(config, &options.change);
    let chosen = provider::choose(config, variables, &options.originator)?;
    let mut place = place(config, &options, variables, agent_home)?;
    place.warnings.extend(chosen.warnings);
    Ok(ThreadSettings {
        project: place.project,
        provider: chosen.provider,
        provider_id: config.model_provider.clone(),
        retries: chosen.settings,
        model: config
            .model
            .clone()
            .unwrap_or_else(|| DEFAULT_MODEL.to_owned()),
        reasoning_effort: config.model_reasoning_effort.clone(),
        reasoning_summary: reasoning_summary(config),
        verbosity: config.model_verbosity.clone(),
        instructions: instructions(config)?,
        developer_instructions: config.developer_instructions.clone(),
        approval_policy: config.approval_policy.unwrap_or(options.default_approval),
        sandbox_mode: place.sandbox.mode,
        sandbox: place.sandbox,
        variables: environment_policy(config),
        shell: shell(variables),
        allow_login_shell: config.allow_login_shell,
        max_output_tokens: config
            .tool_output_token_limit
            .unwrap_or(DEFAULT_OUTPUT_TOKENS),
        interactive: options.interactive,
        ephemeral: options.ephemeral,
        limits: options.limits,
        hide_reasoning: config.hide_agent_reasoning,
        source: options.source,
        originator: options.originator,
        warnings: place.warnings,
        config: Arc::clone(config),
        cwd: place.cwd,
    })
}

/// The configuration with what a face changed of it.
fn changed(config: &Arc<Config>, change: &SettingsChange) -> Arc<Config> {
    if *change == SettingsChange::default() {
        return Arc::clone(config);
    }
    let mut config = Config::clone(config);
    if let Some(model) = &change.model {
        config.model = Some(model.clone());
    }
    if let Some(effort) = &change.reasoning_effort {
        config.model_reasoning_effort.clone_from(effort);
    }
    config.approval_policy = change.approval_policy.or(config.approval_policy);
    config.sandbox_mode = change.sandbox_mode.or(config.sandbox_mode);
    Arc::new(config)
}

/// Where commands run and what they may touch.
pub(crate) struct Place {
    pub(crate) cwd: PathBuf,
    pub(crate) project: Project,
    pub(crate) sandbox: SandboxPolicy,
    pub(crate) warnings: Vec<String>,
}

/// Finds the project and makes the sandbox policy.
pub(crate) fn place(
    config: &Config,
    options: &ThreadOptions,
    variables: &Variables,
    agent_home: &Path,
) -> Result<Place, SettingsError> {
    let cwd = options
        .cwd
        .canonicalize()
        .map_err(|source| SettingsError::Cwd {
            path: options.cwd.clone(),
            source,
        })?;
    if !cwd.is_dir() {
        return Err(SettingsError::Cwd {
            path: cwd,
            source: std::io::ErrorKind::NotADirectory.into(),
        });
    }
    let project = Project::find(&cwd, &config.project_root_markers);
    let mode = config
        .sandbox_mode
        .unwrap_or_else(|| default_mode(config, &cwd, &project));
    let mut warnings = Vec::new();
    let sources = sandbox::Sources {
        config,
        mode,
        cwd: &cwd,
        extra_roots: &options.writable_roots,
        variables,
        agent_home,
        project: &project,
    };
    let sandbox = sandbox::policy(&sources, &mut warnings)?;
    Ok(Place {
        cwd,
        project,
        sandbox,
        warnings,
    })
}

/// `none` asks for no summary at all, which models that do not reason insist on.
fn reasoning_summary(config: &Config) -> Option<String> {
    match config.model_reasoning_summary.as_deref() {
        Some("none") => None,
        Some(kind) => Some(kind.to_owned()),
        None => Some("auto".to_owned()),
    }
}

/// Without a word from the user: write in trusted directories, only read elsewhere.
fn default_mode(config: &Config, cwd: &Path, project: &Project) -> SandboxMode {
    match project.trust(config, cwd) {
        Some(TrustLevel::Trusted) => SandboxMode::WorkspaceWrite,
        Some(TrustLevel::Untrusted) | None => SandboxMode::ReadOnly,
    }
}

fn instructions(config: &Config) -> Result<Arc<str>, SettingsError> {
    match &config.model_instructions_file {
        None => Ok(agent_context::BASE_INSTRUCTIONS.into()),
        Some(path) => read_regular(path, MAX_INSTRUCTIONS_BYTES)
            .map(|bytes| String::from_utf8_lossy(&bytes).into())
            .map_err(|source| SettingsError::Instructions {
                path: path.clone(),
                source,
            }),
    }
}

/// Which variables commands get.
pub(crate) fn environment_policy(config: &Config) -> EnvironmentPolicy {
    let shell = &config.shell_environment;
    EnvironmentPolicy {
        inherit: match shell.inherit {
            agent_config::ShellInherit::All => Inherit::All,
            agent_config::ShellInherit::Core => Inherit::Core,
            agent_config::ShellInherit::None => Inherit::None,
        },
        keep_secrets: shell.ignore_default_excludes,
        exclude: shell.exclude.clone(),
        include_only: shell.include_only.clone(),
        set: shell.set.clone(),
        own_keys: provider::key_variables(config),
    }
}

/// The user's shell where it is one that takes `-c` scripts in the usual way, else bash or sh.
fn shell(variables: &Variables) -> PathBuf {
    let own = variables.get("SHELL").map(PathBuf::from);
    let is_known = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str);
        path.is_absolute() && matches!(name, Some("bash" | "zsh" | "sh" | "dash" | "ksh"))
    };
    let candidates = own.into_iter().filter(is_known);
    let mut candidates = candidates.chain(["/bin/bash", "/usr/bin/bash"].map(PathBuf::from));
    candidates
        .find(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}
