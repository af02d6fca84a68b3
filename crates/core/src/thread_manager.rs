//! Starting and resuming threads.

mod places;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_config::{Config, TrustLevel};
use agent_protocol::{Envelope, ItemKind, Role, SerializedItem, ThreadId, TokenUsage};
use agent_rollout::{
    BaseInstructions, FindError, Found, GitInfo, LoadedItem, ReadError, Record, SessionMeta,
    Writer, WriterError, find_by_id, find_latest,
};
use agent_sandbox::SandboxPolicy;
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::commands::output_files::{self, OutputFiles};
use crate::commands::{CommandLimits, CommandSessions};
use crate::environment::Shims;
use crate::events::{CHANNEL_CAPACITY, EventSink};
use crate::history::History;
use crate::project::Project;
use crate::router::ToolRouter;
use crate::session::{RecordLog, Session, run_actor};
use crate::settings::{self, SettingsError, ThreadOptions, ThreadSettings, Variables};
use crate::thread::{OPS_CAPACITY, Thread};
use crate::tool::ToolHandler;

pub use places::{Preview, Trust, sandbox_level};

/// What the tools of a thread depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolSetup {
    /// The provider takes only function tools.
    pub functions_only: bool,
    /// The model has a plan that it can show.
    pub update_plan: bool,
    /// Somebody is there to answer questions.
    pub interactive: bool,
}

/// Makes the tools of a thread.
pub type ToolFactory = fn(ToolSetup) -> Vec<Arc<dyn ToolHandler>>;

/// Starts and resumes threads.
pub struct ThreadManager {
    home: PathBuf,
    config: Arc<Config>,
    variables: Variables,
    tools: ToolFactory,
    version: &'static str,
}

/// Which session to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// The one with this id.
    Id(String),
    /// The one of the working directory that was used last.
    Last,
}

/// What a command of the model would get.
#[derive(Debug)]
pub struct CommandSetting {
    /// Where it starts.
    pub cwd: PathBuf,
    /// What it may touch.
    pub policy: SandboxPolicy,
    /// Its environment.
    pub variables: Vec<(OsString, OsString)>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Why a thread cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Something in configuration or options.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// There is no such session.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The session cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The session is used by another process.
    #[error(transparent)]
    InUse(WriterError),
}

impl StartError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Settings(err) => err.hint(),
            Self::Find(FindError::None { .. }) => {
                Some("start a new session without `resume`, or name one by its id".to_owned())
            }
            Self::InUse(_) => Some("end the other process first".to_owned()),
            Self::Find(FindError::NoSuchSession { .. }) => {
                Some("`agent resume --all` lists the sessions there are".to_owned())
            }
            Self::Find(FindError::List { .. }) | Self::Read(_) => None,
        }
    }
}

impl ThreadManager {
    /// `home` is the agent's own directory, `variables` the environment of the process.
    pub fn new(
        home: PathBuf,
        config: Config,
        variables: Variables,
        tools: ToolFactory,
        version: &'static str,
    ) -> Self {
        Self {
            home,
            config: Arc::new(config),
            variables,
            tools,
            version,
        }
    }

    /// Whether the directory is in a project (something marks its root) or the user trusts it.
    pub fn is_project(&self, cwd: &Path) -> bool {
        let Ok(cwd) = cwd.canonicalize() else {
            return false;
        };
        let project = Project::find(&cwd, &self.config.project_root_markers);
        project.root.is_some() || project.trust(&self.config, &cwd) == Some(TrustLevel::Trusted)
    }

    /// What a command of the model would get in this place: the policy, the environment, and
    /// what the user should know.
    ///
    /// # Errors
    /// When the directory is not there.
    pub fn command_setting(&self, options: &ThreadOptions) -> Result<CommandSetting, StartError> {
        let place = settings::place(&self.config, options, &self.variables, &self.home)?;
        let policy = settings::environment_policy(&self.config);
        let mut variables = policy.prepare(self.variables.0.iter().cloned()).variables;
        if let Some(shims) = Shims::prepare(&self.home) {
            shims.put_first(&mut variables);
        }
        Ok(CommandSetting {
            cwd: place.cwd,
            policy: place.sandbox,
            variables,
            warnings: place.warnings,
        })
    }

    /// Starts a new thread.
    ///
    /// # Errors
    /// When configuration or options make no sense; nothing has been sent then.
    pub async fn start(&self, options: ThreadOptions) -> Result<Thread, StartError> {
        let settings = settings::resolve(&self.config, options, &self.variables, &self.home)?;
        let id = ThreadId(Uuid::now_v7());
        let (log, warning) = self.new_log(&settings, id);
        let fresh = Restored {
            id,
            log,
            history: History::default(),
            total_usage: TokenUsage::default(),
            warnings: warning.into_iter().collect(),
            instructions: None,
        };
        let (mut session, events) = self.session(settings, fresh).await;
        let meta = self.meta(&session.settings, id);
        session.write(&Record::SessionMeta(&meta)).await;
        Ok(run(session, id, events))
    }

    /// Goes on with a session.
    ///
    /// # Errors
    /// When there is no such session, another process uses it, or configuration or options make
    /// no sense.
    pub async fn resume(
        &self,
        which: &Resume,
        options: ThreadOptions,
    ) -> Result<Thread, StartError> {
        let settings = settings::resolve(&self.config, options, &self.variables, &self.home)?;
        let mut warnings = Vec::new();
        let Found { id, path } = match which {
            Resume::Id(id) => find_by_id(&self.home, id)?,
            Resume::Last => self.find_last(&settings.cwd, &mut warnings)?,
        };
        let (log, warning) = old_log(&settings, &path)?;
        let loaded = agent_rollout::read(&path)?;
        warnings.extend(warning);
        if !loaded.damage.is_none() {
            warnings.push(format!(
                "the session file `{}` is damaged: {}",
                path.display(),
                loaded.damage
            ));
        }
        if matches!(which, Resume::Id(_)) {
            warnings.extend(moved(loaded.meta.as_ref(), &settings.cwd));
        }
        let (history, n_left_out) = History::from_items(sendable(loaded.items));
        if n_left_out > 0 {
            warnings.push(format!(
                "{n_left_out} items of the session do not fit the rest and are not sent"
            ));
        }
        let instructions = loaded.meta.and_then(|meta| meta.base_instructions);
        let restored = Restored {
            id,
            log,
            history,
            total_usage: loaded.total_usage,
            warnings,
            instructions,
        };
        let (mut session, events) = self.session(settings, restored).await;
        session.repair_after_resume().await;
        Ok(run(session, id, events))
    }

    /// Begins a thread with the conversation of another one, up to the user's message of this
    /// number (from 0). The other one stays as it is.
    ///
    /// # Errors
    /// When there is no such session, it cannot be read, or configuration or options make no
    /// sense.
    pub async fn fork_before(
        &self,
        id: ThreadId,
        user_message: usize,
        options: ThreadOptions,
    ) -> Result<Thread, StartError> {
        let settings = settings::resolve(&self.config, options, &self.variables, &self.home)?;
        let found = find_by_id(&self.home, &id.to_string())?;
        let mut loaded = agent_rollout::read(&found.path)?;
        let is_user = |loaded: &&LoadedItem| {
            loaded.metadata.fragment.is_none()
                && loaded.item.kind() == &ItemKind::Message(Role::User)
        };
        let positions = loaded.items.iter().enumerate();
        let mut positions = positions.filter(|(_, item)| is_user(item));
        if let Some((at, _)) = positions.nth(user_message) {
            loaded.items.truncate(at);
        }
        let id = ThreadId(Uuid::now_v7());
        let (log, warning) = self.new_log(&settings, id);
        let fresh = Restored {
            id,
            log,
            history: History::default(),
            total_usage: TokenUsage::default(),
            warnings: warning.into_iter().collect(),
            instructions: loaded.meta.and_then(|meta| meta.base_instructions),
        };
        let (mut session, events) = self.session(settings, fresh).await;
        let meta = self.meta(&session.settings, id);
        session.write(&Record::SessionMeta(&meta)).await;
        let (history, _) = History::from_items(sendable(loaded.items));
        for entry in history.into_entries() {
            session.record_again(entry).await;
        }
        session.repair_after_resume().await;
        Ok(run(session, id, events))
    }

    /// The session of this directory that was used last; where there is none, that of any.
    fn find_last(&self, cwd: &Path, warnings: &mut Vec<String>) -> Result<Found, FindError> {
        match find_latest(&self.home, Some(cwd)) {
            Err(FindError::None { .. }) => {
                let found = find_latest(&self.home, None)?;
                warnings.push(format!(
                    "no session was started in `{}`; this goes on with the last one of all, {}",
                    cwd.display(),
                    found.id
                ));
                Ok(found)
            }
            found => found,
        }
    }

    fn new_log(&self, settings: &ThreadSettings, id: ThreadId) -> (RecordLog, Option<String>) {
        if settings.ephemeral {
            return (RecordLog::none(), None);
        }
        match Writer::create(&self.home, id) {
            Ok(writer) => (RecordLog::new(writer), None),
            Err(err) => (RecordLog::none(), Some(unsaved(&err))),
        }
    }

    fn meta(&self, settings: &ThreadSettings, id: ThreadId) -> SessionMeta {
        SessionMeta {
            id: id.to_string(),
            timestamp: format!("{:.3}", Timestamp::now()),
            cwd: settings.cwd.clone(),
            originator: settings.originator.clone(),
            cli_version: self.version.to_owned(),
            source: settings.source.into(),
            model_provider: Some(settings.provider_id.clone()),
            base_instructions: Some(BaseInstructions {
                text: settings.instructions.to_string(),
            }),
            git: settings.project.branch().map(|branch| GitInfo {
                branch: Some(branch),
                commit_hash: None,
            }),
        }
    }

    /// Puts a session together and tells its face that it is there.
    async fn session(
        &self,
        mut settings: ThreadSettings,
        restored: Restored,
    ) -> (Session, mpsc::Receiver<Envelope>) {
        if let Some(instructions) = restored.instructions {
            settings.instructions = instructions.text.into();
        }
        let (sender, events) = mpsc::channel(CHANNEL_CAPACITY);
        let mut warnings = std::mem::take(&mut settings.warnings);
        warnings.extend(restored.warnings);
        let outputs = output_files::directory(&self.home, restored.id);
        settings.sandbox.readable_records = vec![outputs.clone()];
        let outputs = OutputFiles::new(outputs, settings.ephemeral);
        let session = Session {
            router: Arc::new(ToolRouter::new(self.tools(&settings))),
            environment: settings.environment(&self.variables),
            variables: self.variables.clone(),
            last_request_tokens: None,
            consent: Arc::default(),
            commands: Arc::new(CommandSessions::new(command_limits(&self.config), outputs)),
            cache_key: restored.id.to_string(),
            n_responses: restored.history.last_response(),
            history: restored.history,
            log: restored.log,
            sink: EventSink::new(restored.id, sender),
            total_usage: restored.total_usage,
            settings,
        };
        session.announce(warnings).await;
        (session, events)
    }

    fn tools(&self, settings: &ThreadSettings) -> Vec<Arc<dyn ToolHandler>> {
        (self.tools)(ToolSetup {
            functions_only: settings.retries.functions_only || !self.config.apply_patch_freeform,
            update_plan: self.config.update_plan,
            interactive: settings.interactive,
        })
    }
}

/// The record of a session that is there already.
fn old_log(
    settings: &ThreadSettings,
    path: &Path,
) -> Result<(RecordLog, Option<String>), StartError> {
    if settings.ephemeral {
        return Ok((RecordLog::none(), None));
    }
    match Writer::resume(path) {
        Ok(writer) => Ok((RecordLog::new(writer), None)),
        Err(err @ WriterError::InUse { .. }) => Err(StartError::InUse(err)),
        Err(err @ WriterError::Open { .. }) => Ok((RecordLog::none(), Some(unsaved(&err)))),
    }
}

/// Hands the session to the task that owns it from now on.
fn run(session: Session, id: ThreadId, events: mpsc::Receiver<Envelope>) -> Thread {
    let (ops, ops_out) = mpsc::channel(OPS_CAPACITY);
    let mut actor = JoinSet::new();
    actor.spawn(run_actor(session, ops_out));
    Thread {
        id,
        ops,
        events,
        actor,
    }
}

/// What a session begins with.
struct Restored {
    id: ThreadId,
    log: RecordLog,
    history: History,
    total_usage: TokenUsage,
    warnings: Vec<String>,
    instructions: Option<BaseInstructions>,
}

/// What to say when a session goes on in another directory than it began in.
fn moved(meta: Option<&SessionMeta>, cwd: &Path) -> Option<String> {
    let began = &meta?.cwd;
    // Recorded as text, so compared as text.
    if began.to_string_lossy() == cwd.to_string_lossy() {
        return None;
    }
    Some(format!(
        "the session began in `{}`; its commands run in `{}` now (`--cd DIR` chooses)",
        began.display(),
        cwd.display()
    ))
}

fn unsaved(err: &WriterError) -> String {
    let cause = std::error::Error::source(err).map(|cause| format!(": {cause}"));
    format!(
        "{err}{}; the session goes on, but it cannot be resumed",
        cause.unwrap_or_default()
    )
}

/// Items that a provider takes back: kinds that only other programs read are left out.
fn sendable(items: Vec<LoadedItem>) -> Vec<LoadedItem> {
    let is_ghost = |item: &SerializedItem| item.json().contains("\"type\":\"ghost_snapshot\"");
    items
        .into_iter()
        .filter(|loaded| loaded.item.kind() != &ItemKind::Other || !is_ghost(&loaded.item))
        .collect()
}

fn command_limits(config: &Config) -> CommandLimits {
    CommandLimits {
        default_timeout: config.command_timeout_ms.map(Duration::from_millis),
        max_wait: Duration::from_millis(config.background_terminal_max_timeout),
    }
}
