//! The agent's side: starts the holder and asks it for commands.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::io;
use std::path::{Path, PathBuf};

use crate::level::{LevelRefusal, LevelReport};
#[cfg(target_os = "linux")]
pub use linux::Holder;
#[cfg(target_os = "linux")]
pub(crate) use linux::{receive, send};
#[cfg(target_os = "macos")]
pub use macos::{Holder, PERSONALITY, run_personality};

/// Why there is no holder.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine grants too little of the sandbox.
    #[error("{}", report.refusal.unwrap_or(LevelRefusal::AnySandbox).reason())]
    Unavailable {
        /// What is missing, and why.
        report: LevelReport,
    },
    /// The holder could not be started.
    #[error("cannot start the sandbox holder `{program}`", program = program.display())]
    Start {
        /// The program that was to become the holder.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The holder ended or answered nonsense before it was ready.
    #[error("the sandbox holder ended while it was being set up")]
    SetUp {
        /// The error of the system.
        source: io::Error,
    },
}

/// How to start a holder.
#[derive(Debug, Clone)]
pub struct HolderOptions {
    /// The program that calls [`crate::run_personality`]. Not used on macOS, where the holder is a
    /// part of this process.
    pub program: PathBuf,
}

impl Default for HolderOptions {
    fn default() -> Self {
        Self {
            program: PathBuf::from("/proc/self/exe"),
        }
    }
}

/// The path with its links followed, as far as it exists; also a link to what does not exist.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many as the kernel follows (path_resolution(7)).
    for _ in 0..40 {
        let mut missing = Vec::new();
        let mut above = path.as_path();
        let real = loop {
            if let Ok(real) = above.canonicalize() {
                break real;
            }
            let (Some(parent), Some(name)) = (above.parent(), above.file_name()) else {
                return path;
            };
            if let Ok(target) = std::fs::read_link(above) {
                break parent.join(target);
            }
            missing.push(name);
            above = parent;
        };
        let is_real = above.canonicalize().is_ok();
        let whole = missing
            .iter()
            .rev()
            .fold(real, |path, name| path.join(name));
        if is_real {
            return whole;
        }
        path = whole;
    }
    path
}
