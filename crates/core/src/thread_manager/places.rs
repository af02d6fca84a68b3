//! What is known of a place before a thread works there: its settings, its sessions, whether
//! the user trusts it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_config::{Config, StoreError, TrustLevel, store_switch, store_text, store_trust};
use agent_protocol::{SandboxLevel, ThreadInfo};
use agent_rollout::Found;
use agent_sandbox::{Holder, HolderOptions};

use super::{CommandSetting, Resume, StartError, ThreadManager, ToolSetup};
use crate::project::Project;
use crate::router::ToolRouter;
use crate::settings::{self, ThreadOptions};
use crate::transcript::{TranscriptEntry, transcript};

/// What a thread would work with.
#[derive(Debug)]
pub struct Preview {
    /// Its settings.
    pub info: ThreadInfo,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Whether the user trusts a directory, and what depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// The directory that the answer is stored for: the project's root, or the directory itself.
    pub directory: PathBuf,
    /// `None` when nobody has been asked.
    pub trusted: Option<bool>,
    /// Files of the project that are or would be used, relative to the directory.
    pub files: Vec<PathBuf>,
}

/// Files that tell the agent what to do or what to run.
const PROJECT_FILES: &[&str] = &[
    "AGENTS.md",
    ".agent/config.toml",
    ".agent/hooks.json",
    ".agent/skills",
    ".agents/skills",
    ".codex/config.toml",
];

impl ThreadManager {
    /// What a thread with these options would work with. Nothing is started or written.
    ///
    /// # Errors
    /// When configuration or options make no sense.
    pub fn preview(&self, options: &ThreadOptions) -> Result<Preview, StartError> {
        let options = options.clone();
        let settings = settings::resolve(&self.config, options, &self.variables, &self.home)?;
        Ok(Preview {
            info: settings.info(),
            branch: settings.project.branch(),
            warnings: settings.warnings,
        })
    }

    /// Whether the user trusts a directory.
    pub fn trust(&self, cwd: &Path) -> Trust {
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let project = Project::find(&cwd, &self.config.project_root_markers);
        let directory = project.root.clone().unwrap_or_else(|| cwd.clone());
        let trusted = project
            .trust(&self.config, &cwd)
            .map(|level| level == TrustLevel::Trusted);
        let files = PROJECT_FILES.iter().map(PathBuf::from);
        let files = files.filter(|file| directory.join(file).exists());
        Trust {
            trusted,
            files: files.collect(),
            directory,
        }
    }

    /// Stores whether the user trusts a directory. Threads that start from now on go by it.
    ///
    /// # Errors
    /// When the configuration file cannot be changed; the answer holds for this run then.
    pub fn set_trust(&mut self, directory: &Path, trusted: bool) -> Result<(), StoreError> {
        let level = if trusted {
            TrustLevel::Trusted
        } else {
            TrustLevel::Untrusted
        };
        let config = Arc::make_mut(&mut self.config);
        config.projects.insert(directory.to_owned(), level);
        store_trust(&self.config_file(), directory, level)
    }

    /// Stores a text of the terminal interface under `tui.KEY`.
    ///
    /// # Errors
    /// When the configuration file cannot be changed.
    pub fn store_tui_text(&self, key: &str, text: &str) -> Result<(), StoreError> {
        store_text(&self.config_file(), &["tui", key], text)
    }

    /// Stores a switch of the terminal interface under `tui.KEY`.
    ///
    /// # Errors
    /// When the configuration file cannot be changed.
    pub fn store_tui_switch(&self, key: &str, on: bool) -> Result<(), StoreError> {
        store_switch(&self.config_file(), &["tui", key], on)
    }

    fn config_file(&self) -> PathBuf {
        self.home.join("config.toml")
    }

    /// The agent's own directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The configuration, for what a face reads of it itself.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether there is such a session.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(&self, which: &Resume, cwd: &Path) -> Result<(), StartError> {
        self.found(which, cwd)?;
        Ok(())
    }

    fn found(&self, which: &Resume, cwd: &Path) -> Result<Found, StartError> {
        Ok(match which {
            Resume::Id(id) => agent_rollout::find_by_id(&self.home, id)?,
            Resume::Last => self.find_last(cwd, &mut Vec::new())?,
        })
    }

    /// What happened in a session so far, as people see it: the last `max` entries, and how many
    /// there were before them. Blocks while it reads the file.
    ///
    /// # Errors
    /// When there is no such session or it cannot be read.
    pub fn transcript(
        &self,
        which: &Resume,
        cwd: &Path,
        max: usize,
    ) -> Result<(Vec<TranscriptEntry>, usize), StartError> {
        let found = self.found(which, cwd)?;
        let loaded = agent_rollout::read(&found.path)?;
        let router = ToolRouter::new((self.tools)(ToolSetup {
            functions_only: false,
            update_plan: false,
            interactive: false,
        }));
        let mut entries = transcript(&loaded.items, &router);
        let n_before = entries.len().saturating_sub(max);
        Ok((entries.split_off(n_before), n_before))
    }
}

/// How much of the policy this machine enforces, found out by really doing it.
///
/// # Errors
/// When no command could run, with the reason.
///
/// # Cancel safety
/// When dropped, what was begun ends.
pub async fn sandbox_level(setting: &CommandSetting) -> Result<SandboxLevel, String> {
    let holder = Holder::start(&setting.policy, HolderOptions::default()).await;
    holder
        .map(|holder| holder.level())
        .map_err(|err| err.to_string())
}
