//! The one table of paths under the home directory that commands may not read.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::unistd::{User, getuid};

use crate::policy::ResolvedPolicy;

/// Files and directories relative to the home directory. A final `*` matches any ending of the
/// last component.
const UNDER_HOME: &[&str] = &[
    // Keys and password stores.
    ".ssh",
    ".gnupg",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/op",
    ".config/Bitwarden*",
    ".vault-token",
    // Clouds and clusters.
    ".aws",
    ".azure",
    ".boto",
    ".config/doctl",
    ".config/gcloud",
    ".config/rclone",
    ".fly",
    ".kube",
    ".oci",
    ".s3cfg",
    ".terraform.d/credentials.tfrc.json",
    // Registries, forges and databases.
    ".cargo/credentials*",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".config/containers/auth.json",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/hub",
    ".docker/config.json",
    ".gem/credentials",
    ".git-credentials",
    ".m2/settings-security.xml",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    // Model providers and other agents.
    ".cache/huggingface/token",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".codex/sessions",
    ".config/github-copilot",
    ".gemini/oauth_creds.json",
    ".kaggle",
    ".local/share/opencode/auth.json",
    // Browsers and mail.
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/google-chrome*",
    ".config/microsoft-edge*",
    ".config/opera*",
    ".config/vivaldi*",
    ".mozilla",
    ".thunderbird",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.Chromium",
    ".var/app/org.mozilla.firefox",
    "snap/chromium",
    "snap/firefox",
    // Sockets of password managers and container daemons.
    ".1password",
    ".colima",
    ".config/containers/podman",
    ".docker/desktop",
    ".docker/run",
    ".lima",
    ".local/share/containers/podman",
    ".orbstack",
    ".rd",
    // Where macOS and its programs keep the same.
    #[cfg(target_os = "macos")]
    "Library/Accounts",
    #[cfg(target_os = "macos")]
    "Library/Application Support/BraveSoftware",
    #[cfg(target_os = "macos")]
    "Library/Application Support/Chromium",
    #[cfg(target_os = "macos")]
    "Library/Application Support/Firefox",
    #[cfg(target_os = "macos")]
    "Library/Application Support/Google/Chrome*",
    #[cfg(target_os = "macos")]
    "Library/Application Support/Microsoft Edge*",
    #[cfg(target_os = "macos")]
    "Library/Application Support/gcloud",
    #[cfg(target_os = "macos")]
    "Library/Containers",
    #[cfg(target_os = "macos")]
    "Library/Cookies",
    #[cfg(target_os = "macos")]
    "Library/Group Containers",
    #[cfg(target_os = "macos")]
    "Library/Keychains",
    #[cfg(target_os = "macos")]
    "Library/Mail",
    #[cfg(target_os = "macos")]
    "Library/Messages",
    #[cfg(target_os = "macos")]
    "Library/Safari",
];

/// Entries of the agent's own directory that commands may need. All else is hidden: settings may
/// hold keys.
const SHOWN_IN_AGENT_HOME: &[&str] = &[
    "AGENTS.md",
    "AGENTS.override.md",
    "agents",
    "bin",
    "prompts",
    "rules",
    "shims",
    "skills",
];

/// Directories at the top of a writable root that configure the agent itself.
pub(crate) const AGENT_NAMES: &[&str] = &[".agent", ".agents", ".codex"];

/// The home directory of the account that this process runs as, whatever `HOME` says.
pub fn account_home() -> Option<PathBuf> {
    static HOME: OnceLock<Option<PathBuf>> = OnceLock::new();
    HOME.get_or_init(|| {
        let user = User::from_uid(getuid()).ok()??;
        Some(user.dir).filter(|home| home.is_absolute())
    })
    .clone()
}

/// The secrets that exist under `home`, canonical: a link is denied where it leads.
pub(crate) fn existing(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // Most do not exist: one listing says so of nearly all of them.
    let names = fs::read_dir(home).and_then(|entries| {
        let names = entries.map(|entry| Ok(entry?.file_name()));
        names.collect::<io::Result<Vec<OsString>>>()
    });
    for entry in UNDER_HOME {
        let (path, is_prefix) = match entry.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (*entry, false),
        };
        let first = path.split('/').next().unwrap_or(path).as_bytes();
        if let Ok(names) = &names
            && !names.iter().any(|name| name.as_bytes().starts_with(first))
        {
            continue;
        }
        let path = home.join(path);
        if is_prefix {
            found.extend(with_prefix(&path));
        } else if path.symlink_metadata().is_ok() {
            found.extend(path.canonicalize());
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Whether commands see an entry of the agent's directory.
pub(crate) fn shown_in_agent_home(name: &std::ffi::OsStr) -> bool {
    SHOWN_IN_AGENT_HOME.iter().any(|shown| name == *shown)
}

/// What commands see of the agent's directory, as it exists now; `None` if it cannot be listed.
pub(crate) fn shown_of_agent_home(policy: &ResolvedPolicy, home: &Path) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(home).ok()?;
    let mut shown: Vec<_> = entries
        .flatten()
        .filter(|entry| shown_in_agent_home(&entry.file_name()))
        .filter(|entry| {
            entry
                .file_type()
                .is_ok_and(|kind| kind.is_dir() || kind.is_file())
        })
        .map(|entry| entry.path())
        // Where it may be written it is put back as a root.
        .chain(policy.workspace.clone().filter(|workspace| {
            policy.roots.is_empty() && workspace.starts_with(home) && workspace != home
        }))
        .collect();
    let records = policy.readable_records.iter();
    shown.extend(
        records
            .filter(|record| record.starts_with(home) && **record != home)
            .cloned(),
    );
    Some(shown)
}

/// The secrets that exist now. A directory around the workspace or a root stays visible: who
/// works in there asked for it.
pub(crate) fn hidden(policy: &ResolvedPolicy) -> Vec<PathBuf> {
    let mut paths = policy.denied_reads.clone();
    paths.extend(policy.homes.iter().flat_map(|home| existing(home)));
    paths.retain(|path| {
        let roots = policy.roots.iter().map(|root| &root.path);
        !policy
            .workspace
            .iter()
            .chain(roots)
            .any(|root| root.starts_with(path))
    });
    paths.sort();
    paths.dedup();
    paths
}

fn with_prefix(path: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(prefix)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name().as_bytes().starts_with(prefix.as_bytes()))
        .filter_map(|entry| entry.path().canonicalize().ok())
        .collect()
}
