//! Fixtures: a workspace with an outside, and shell commands in a sandbox.

use std::fs;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use agent_protocol::SandboxMode;
use agent_sandbox::{
    CommandEnd, CommandSpec, Finding, Holder, HolderOptions, Layer, LevelReport, NetworkAccess,
    SandboxError, SandboxPolicy,
};

/// A workspace `W`, a home `H` and an outside `O`, none of them under a temporary root.
pub(crate) struct World {
    pub(crate) base: PathBuf,
    _guard: tempfile::TempDir,
}

/// What a test closed even to its owner could not be removed.
impl Drop for World {
    fn drop(&mut self) {
        open_up(&self.base);
    }
}

fn open_up(directory: &Path) {
    // What is not ours stays as it is, and is found by the removal.
    fs::set_permissions(directory, PermissionsExt::from_mode(0o700)).ok();
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        open_up(&entry.path());
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let guard = tempfile::Builder::new()
            .prefix("agent-sandbox")
            .tempdir()
            .unwrap();
        let base = guard.path().canonicalize().unwrap();
        for name in ["W", "O", "H", "T"] {
            fs::create_dir(base.join(name)).unwrap();
        }
        Self {
            base,
            _guard: guard,
        }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.base.join("W")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.base.join(path)).unwrap()
    }

    pub(crate) fn policy(&self) -> SandboxPolicy {
        let mut policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, self.workspace());
        policy.temporary_roots = vec![self.base.join("T")];
        policy.home = self.base.join("H");
        policy.network = NetworkAccess::Off;
        policy
    }
}

/// What a command did.
pub(crate) struct Outcome {
    pub(crate) end: CommandEnd,
    pub(crate) output: String,
    pub(crate) findings: Vec<Finding>,
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub(crate) async fn start(policy: &SandboxPolicy) -> Holder {
    Holder::start(policy, HolderOptions::default())
        .await
        .unwrap()
}

/// A shell command whose output goes to `output`.
pub(crate) fn shell(script: &str, cwd: &Path, output: &fs::File) -> CommandSpec {
    let fd = || OwnedFd::from(output.try_clone().unwrap());
    let variable = |name: &str| (name.into(), std::env::var_os(name).unwrap_or_default());
    CommandSpec {
        argv: vec!["sh".into(), "-c".into(), script.into()],
        env: vec![variable("PATH"), ("LC_ALL".into(), "C".into())],
        cwd: cwd.to_owned(),
        stdin: None,
        stdout: fd(),
        stderr: fd(),
    }
}

pub(crate) fn contents(mut file: fs::File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs a script, then ends whatever it left.
pub(crate) async fn sh(holder: &Holder, script: &str, cwd: &Path) -> Outcome {
    let output = tempfile::tempfile().unwrap();
    let mut command = holder.spawn(shell(script, cwd, &output)).await.unwrap();
    let end = command.wait().await.unwrap();
    command.kill().await;
    Outcome {
        end,
        output: contents(output),
        findings: command.findings().to_vec(),
    }
}

/// Runs a script in the workspace under a holder of its own.
pub(crate) fn run(world: &World, policy: &SandboxPolicy, script: &str) -> Outcome {
    block_on(async {
        let holder = start(policy).await;
        let outcome = sh(&holder, script, &world.workspace()).await;
        holder.shutdown().await;
        outcome
    })
}

/// Looks at what this machine grants for a policy, or at why it grants nothing.
pub(crate) fn with_level(
    policy: &SandboxPolicy,
    look: impl FnOnce(Result<LevelReport, SandboxError>),
) {
    block_on(async {
        match Holder::start(policy, HolderOptions::default()).await {
            Ok(holder) => {
                look(Ok(holder.report().clone()));
                holder.shutdown().await;
            }
            Err(error) => look(Err(error)),
        }
    });
}

/// What this machine grants for a policy.
pub(crate) fn confined(policy: &SandboxPolicy) -> LevelReport {
    block_on(async {
        let holder = start(policy).await;
        let report = holder.report().clone();
        holder.shutdown().await;
        report
    })
}

/// Whether mounts prevent what is otherwise only found and undone afterwards.
pub(crate) fn mounts_hold() -> bool {
    static HOLD: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *HOLD.get_or_init(|| {
        let held = confined(&World::new().policy()).has(Layer::Namespaces);
        if !held {
            eprintln!("SKIPPED in part: no namespaces here, so protected paths are restored");
        }
        held
    })
}

/// Whether a program is there; says so loudly if not.
pub(crate) fn available(program: &str) -> bool {
    let found = std::process::Command::new(program)
        .arg("--version")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        eprintln!("SKIPPED: there is no `{program}` here");
    }
    found
}

/// This test program in another role.
pub(crate) fn again(role: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.env("TEST_ROLE", role);
    command
}

/// Looks until `probe` says yes, for ten seconds.
pub(crate) fn eventually(what: &str, mut probe: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !probe() {
        assert!(begin.elapsed().as_secs() < 10, "never happened: {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Whether a process with this text on its command line lives.
pub(crate) fn lives(text: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line)
            .replace('\0', " ")
            .contains(text)
    })
}
