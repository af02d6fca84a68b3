//! A place for one test: a repository to work in, and all the directories around it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::ModelServer;
use crate::command::clean_command;
use crate::fail::OrFail;

/// Sibling directories that go away together:
///
/// | directory | what it is |
/// |---|---|
/// | `work` | a git repository, the working directory |
/// | `home` | the agent's own home (`AGENT_HOME`) |
/// | `user_home` | `HOME` |
/// | `tmp` | `TMPDIR` |
/// | `outside` | nothing that anyone may touch |
///
/// They are under the target directory, not under `/tmp`, which sandboxes treat as writable.
#[derive(Debug)]
pub struct Workspace {
    root: TempDir,
}

impl Workspace {
    /// Makes the directories; `work` is an empty repository.
    pub fn new() -> Self {
        let workspace = Self::without_git();
        let work = workspace.work();
        workspace.git(&["init", "--quiet", "--initial-branch=main"]);
        assert!(work.join(".git").is_dir(), "git made no repository");
        workspace
    }

    /// Makes the directories; `work` is a plain directory.
    pub fn without_git() -> Self {
        let place = test_directory();
        fs::create_dir_all(&place).or_fail(format!("create `{}`", place.display()));
        let root = tempfile::Builder::new()
            .prefix("ws-")
            .tempdir_in(&place)
            .or_fail("create a temporary directory");
        for name in ["work", "home", "user_home", "tmp", "outside"] {
            fs::create_dir(root.path().join(name)).or_fail(format!("create `{name}`"));
        }
        let identity = "[user]\n\tname = Test\n\temail = test@example.invalid\n";
        let git_config = root.path().join("user_home/.gitconfig");
        fs::write(git_config, identity).or_fail("write .gitconfig");
        Self { root }
    }

    /// What holds all of them.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The repository.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// The agent's home.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The user's home.
    pub fn user_home(&self) -> PathBuf {
        self.root.path().join("user_home")
    }

    /// The directory of temporary files.
    pub fn tmp(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    /// A directory that no command may write to.
    pub fn outside(&self) -> PathBuf {
        self.root.path().join("outside")
    }

    /// Writes a file; a relative path is meant inside `work`. Its directories are made.
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).or_fail(format!("create `{}`", parent.display()));
        }
        fs::write(&path, bytes).or_fail(format!("write `{}`", path.display()));
        path
    }

    /// Reads a file; a relative path is meant inside `work`.
    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.work().join(path);
        fs::read_to_string(&path).or_fail(format!("read `{}`", path.display()))
    }

    /// Runs git in `work` and returns what it printed.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = clean_command(Path::new("git"), self)
            .args(arguments)
            .output()
            .or_fail("run git");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Writes `home/config.toml`: a provider `mock` at the server, trust for `work`, and what is
    /// given, whose first lines may be keys of the top level.
    pub fn config(&self, server: &ModelServer, extra_toml: &str) {
        self.config_with(&server.base_url(), extra_toml, "");
    }

    /// The same for any URL, with more keys for the provider.
    pub fn config_with(&self, base_url: &str, extra_toml: &str, provider_toml: &str) {
        let work = self.work();
        let work = work.display();
        let text = format!(
            "model = \"mock-model\"\nmodel_provider = \"mock\"\n{extra_toml}\n\n\
             [model_providers.mock]\nname = \"mock\"\nbase_url = \"{base_url}\"\n\
             wire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\n{provider_toml}\n\n\
             [projects.\"{work}\"]\ntrust_level = \"trusted\"\n"
        );
        fs::write(self.home().join("config.toml"), text).or_fail("write config.toml");
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

/// `tmp` in the target directory that holds the running test.
fn test_directory() -> PathBuf {
    let test = std::env::current_exe().or_fail("find the running test");
    let target = test
        .ancestors()
        .find(|directory| directory.join("CACHEDIR.TAG").is_file());
    target.map_or_else(std::env::temp_dir, |target| target.join("tmp"))
}
