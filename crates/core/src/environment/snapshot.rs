//! What the user's login profile sets, taken once for a session instead of by every command.
//!
//! A command in a login shell becomes one in a plain shell that takes the state over first. The
//! state stays in memory and is given in variables (`shell.rs`); a shell or a profile whose state
//! cannot be given runs as it always did. Owns the task that runs the profile; decides nothing
//! about what commands may touch.

mod cache;
mod shell;
mod state;
mod take;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::LocalSettings;
use super::shims::Shims;
use shell::{Kind, Loader};
use state::Unusable;
use take::{NotTaken, Setting, TIME_LIMIT, Taken};

/// How long commands wait for the profile, all together.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long after a request the profile is begun with: an answer without commands may be there.
const LATER: Duration = Duration::from_millis(50);

/// The state of a session's login shell.
#[derive(Debug)]
pub(super) struct ShellSnapshot {
    setting: Option<Arc<Setting>>,
    shared: Arc<Shared>,
    outcome: watch::Receiver<Option<Outcome>>,
    task: OnceLock<Mutex<JoinSet<()>>>,
    /// Until when commands wait.
    patience: OnceLock<Instant>,
}

#[derive(Debug)]
struct Shared {
    now: Notify,
    outcome: watch::Sender<Option<Outcome>>,
    warnings: Mutex<Vec<String>>,
    slow: OnceLock<()>,
}

/// How scripts for a login shell are run.
#[derive(Debug, Clone)]
enum Outcome {
    /// In a plain shell that takes this state over.
    Restored { loader: Loader, script: Arc<str> },
    /// In a login shell.
    Login,
    /// In a plain shell, because no login shell would come to them.
    WithoutProfile,
}

impl ShellSnapshot {
    /// Nothing is started yet.
    pub(super) fn new(settings: &LocalSettings) -> Self {
        let (outcome, receiver) = watch::channel(None);
        let kind = Kind::of(&settings.shell).filter(|_| settings.allow_login_shell);
        let home = settings.variables.iter().find(|(name, _)| name == "HOME");
        let setting = kind.map(|kind| Setting {
            kind,
            shell: settings.shell.clone(),
            policy: settings.policy.clone(),
            is_kept: settings.keeps_shell_state,
            variables: settings.variables.clone(),
            home: home
                .map(|(_, home)| PathBuf::from(home))
                .unwrap_or_default(),
        });
        Self {
            setting: setting.map(Arc::new),
            shared: Arc::new(Shared {
                now: Notify::new(),
                outcome,
                warnings: Mutex::default(),
                slow: OnceLock::new(),
            }),
            outcome: receiver,
            task: OnceLock::new(),
            patience: OnceLock::new(),
        }
    }

    /// Begins in a moment, unless that was done already: commands may come.
    pub(super) fn begin_later(&self) {
        let Some(setting) = &self.setting else { return };
        self.task.get_or_init(|| {
            let (setting, shared) = (Arc::clone(setting), Arc::clone(&self.shared));
            let mut tasks = JoinSet::new();
            tasks.spawn(async move {
                let _either = tokio::time::timeout(LATER, shared.now.notified()).await;
                let outcome = outcome(&setting, &shared).await;
                shared.outcome.send_replace(Some(outcome));
            });
            Mutex::new(tasks)
        });
    }

    /// Begins if this command needs it.
    pub(super) fn begin_for(&self, argv: &[String]) {
        if self.concerns(argv) {
            self.begin_later();
            self.shared.now.notify_one();
        }
    }

    /// Makes a command for a login shell one that has the state already. Waits for the state as
    /// long as the commands of the session have patience.
    ///
    /// # Cancel safety
    /// A call that is dropped has changed nothing.
    pub(super) async fn prepare(
        &self,
        argv: &mut [String],
        variables: &mut Vec<(OsString, OsString)>,
    ) {
        self.begin_for(argv);
        if !self.concerns(argv) {
            return;
        }
        let mut outcome = self.outcome.clone();
        let patience = *self.patience.get_or_init(|| Instant::now() + PATIENCE);
        let ready = outcome.wait_for(Option::is_some);
        let ready = match tokio::time::timeout_at(patience, ready).await {
            Ok(ready) => ready.ok().and_then(|outcome| outcome.clone()),
            Err(_elapsed) => None,
        };
        let Some([_, option, _]) = argv.get_mut(..) else {
            return;
        };
        match ready {
            Some(Outcome::Restored { loader, script }) => {
                "-c".clone_into(option);
                loader.load(&script, variables);
            }
            Some(Outcome::Login) => {}
            // A login shell would take as long, and one whose profile hangs would never come to
            // the command.
            Some(Outcome::WithoutProfile) => "-c".clone_into(option),
            None => {
                self.shared.warn_of_slowness();
                "-c".clone_into(option);
            }
        }
    }

    /// What people should know, once.
    pub(super) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.warnings())
    }

    fn concerns(&self, argv: &[String]) -> bool {
        let Some(setting) = &self.setting else {
            return false;
        };
        matches!(argv, [shell, option, _] if option == "-lc" && Path::new(shell) == setting.shell)
    }
}

impl Shared {
    fn warnings(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn warn_of_slowness(&self) {
        if self.slow.set(()).is_ok() {
            self.warn(format!(
                "the login profile of your shell takes more than {} s; commands run without \
                 it until it has ended",
                PATIENCE.as_secs()
            ));
        }
    }

    fn warn(&self, warning: String) {
        self.warnings().push(warning);
    }
}

/// Looks the state up or runs the profile.
async fn outcome(setting: &Setting, shared: &Shared) -> Outcome {
    let agent_home = &setting.policy.agent_home;
    let mut setting = setting.clone();
    let Some(shims) = Shims::prepare(agent_home) else {
        return Outcome::Login;
    };
    shims.put_first(&mut setting.variables);
    let loader = match Loader::prepare(setting.kind, agent_home) {
        Ok(loader) => loader,
        Err(err) => {
            tracing::warn!(error = %err, "no shell state");
            return Outcome::Login;
        }
    };
    let entry = cache::path(&setting);
    let restored = |script: String| Outcome::Restored {
        loader: loader.clone(),
        script: script.into(),
    };
    if let Some(script) = cache::load(&entry) {
        return restored(script);
    }
    let begun = Instant::now();
    let taken = take::take(&setting, &loader).await;
    tracing::info!(
        seconds = begun.elapsed().as_secs_f64(),
        taken = taken.is_ok(),
        "login profile"
    );
    match taken {
        Ok(Taken {
            script,
            is_secret,
            complaint,
        }) => {
            if let Some(complaint) = complaint {
                shared.warn(format!(
                    "the login profile of your shell complains: {complaint}"
                ));
            }
            // What somebody changed meanwhile is not in it.
            if setting.is_kept && !is_secret && cache::path(&setting) == entry {
                cache::store(&entry, &script);
            }
            restored(script)
        }
        Err(reason) => refused(&reason, shared),
    }
}

/// What is done without a state, and what people are told.
fn refused(reason: &NotTaken, shared: &Shared) -> Outcome {
    let unusable = match reason {
        NotTaken::NoShell => return Outcome::Login,
        NotTaken::NeverEnds => {
            shared.warn(format!(
                "the login profile of your shell had not ended after {} s; commands run without it",
                TIME_LIMIT.as_secs()
            ));
            return Outcome::WithoutProfile;
        }
        NotTaken::EndsShell(code) => {
            shared.warn(format!(
                "the login profile of your shell ends it with status {code}; commands run \
                 without the profile"
            ));
            return Outcome::WithoutProfile;
        }
        NotTaken::Unusable(unusable) => unusable,
    };
    let what = match unusable {
        Unusable::Traps => "sets traps",
        Unusable::Arguments => "sets positional parameters",
        Unusable::Descriptors => "redirects the shell or opens files for it",
        Unusable::TooLarge => "sets more than can be handed on",
        Unusable::NotBegun | Unusable::Unreadable => {
            "leaves the shell in a state that cannot be read"
        }
    };
    shared.warn(format!(
        "the login profile of your shell {what}; it is read again for each command"
    ));
    Outcome::Login
}

#[cfg(test)]
mod tests;
