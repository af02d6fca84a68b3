//! Keeps what login shells set for the sessions to come, in the agent's own directory, which
//! commands neither see nor write.
//!
//! An entry is for one shell, environment, policy and set of profile files with their times.
//! What else a profile reads is not known, so that an entry is used for a day.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder, OpenOptions};
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::take::Setting;

/// Where entries are, in the agent's home. Not listed in what commands see of it.
const DIRECTORY: &str = "cache/shell";

/// How long an entry is used.
const MAX_AGE: Duration = Duration::from_hours(24);

/// How many entries are kept.
const MAX_ENTRIES: usize = 16;

/// Changes with the form of entries and of what they hold.
const VERSION: u32 = 1;

/// Variables that shells set themselves or that differ from call to call.
const IGNORED: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

#[derive(Serialize, Deserialize)]
struct Entry {
    version: u32,
    script: String,
}

/// Where the entry of a setting is, as the profile files are now.
pub(super) fn path(setting: &Setting) -> PathBuf {
    let mut hash = DefaultHasher::new();
    (VERSION, env!("CARGO_PKG_VERSION"), setting.kind).hash(&mut hash);
    let variables = setting.variables.iter();
    let mut variables: Vec<_> = variables
        .filter(|(name, _)| IGNORED.iter().all(|ignored| name != ignored))
        .collect();
    variables.sort();
    variables.hash(&mut hash);
    let policy = &setting.policy;
    let limits = (policy.mode, &policy.network, &policy.denied_reads);
    format!("{limits:?}").hash(&mut hash);
    let variable = |wanted: &str| {
        let mut found = setting.variables.iter();
        Some(found.find(|(name, _)| name == wanted)?.1.clone())
    };
    let profiles = setting.kind.profiles(&setting.home, variable);
    for file in std::iter::once(&setting.shell).chain(&profiles) {
        let facts = fs::metadata(file).ok();
        let facts = facts.map(|f| {
            (
                f.mtime(),
                f.mtime_nsec(),
                f.ctime(),
                f.ctime_nsec(),
                f.size(),
            )
        });
        (file, facts).hash(&mut hash);
    }
    let name = format!("{:016x}.json", hash.finish());
    setting.policy.agent_home.join(DIRECTORY).join(name)
}

/// The script of an entry, if it is there and not too old.
pub(super) fn load(path: &Path) -> Option<String> {
    let age = fs::metadata(path).ok()?.modified().ok()?.elapsed().ok()?;
    if age > MAX_AGE {
        return None;
    }
    let entry: Entry = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (entry.version == VERSION).then_some(entry.script)
}

/// Writes an entry and removes old ones. The next session does without where that fails.
pub(super) fn store(path: &Path, script: &str) {
    if let Err(err) = write(path, script) {
        tracing::warn!(path = %path.display(), error = %err, "the shell state is not kept");
    }
}

fn write(path: &Path, script: &str) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidFilename)?;
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let entry = Entry {
        version: VERSION,
        script: script.to_owned(),
    };
    let new = path.with_extension(format!("new{}", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(&serde_json::to_vec(&entry)?)?;
    fs::rename(&new, path)?;
    remove_old(directory)
}

fn remove_old(directory: &Path) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)?.flatten() {
        entries.push((entry.metadata()?.modified()?, entry.path()));
    }
    entries.sort();
    let n_kept = entries.iter().rev().take(MAX_ENTRIES);
    let n_kept = n_kept.filter(|(time, _)| time.elapsed().is_ok_and(|age| age <= MAX_AGE));
    let n_old = entries.len() - n_kept.count();
    for (_, path) in entries.iter().take(n_old) {
        fs::remove_file(path)?;
    }
    Ok(())
}
