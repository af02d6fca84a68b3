//! What the end-to-end tests share: the binary, the usual ways to run it, and what must hold for
//! every run.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agent_test_support::{AgentCommand, ModelServer, Run, Step, Workspace};
use jsonschema::Validator;
use serde_json::Value;

/// How long a test waits for something that must happen. Only hanging takes so long.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// The binary under test.
pub(crate) fn agent() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_agent"))
}

/// The published schema of one line of `exec --json`.
fn schema() -> &'static Validator {
    static SCHEMA: OnceLock<Validator> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let printed = AgentCommand::new(agent(), &Workspace::without_git())
            .args(["debug", "events", "--schema"])
            .run();
        let schema = serde_json::from_str(&printed.stdout).expect("a schema");
        jsonschema::validator_for(&schema).expect("a valid schema")
    })
}

/// What holds for every run: it ends by itself, does not panic, and leaves nobody behind who
/// holds its streams.
fn ends_well(run: &Run) {
    assert!(!run.timed_out, "no end: {run:#?}");
    assert!(!run.stderr.contains("panicked at"), "{}", run.stderr);
    assert!(!run.streams_held_open, "the streams are held: {run:#?}");
}

/// And for every run with `--json`: each whole line satisfies the published schema, and a failed
/// turn is never a success.
pub(crate) fn prints_events(run: &Run) {
    ends_well(run);
    let whole = run.stdout.rfind('\n').map_or("", |end| &run.stdout[..end]);
    for line in whole.lines() {
        let event: Value = serde_json::from_str(line).expect(line);
        let complaint = schema().validate(&event).err();
        assert!(complaint.is_none(), "{line}: {}", complaint.unwrap());
    }
    let failed = !run.events_of("turn.failed").is_empty();
    assert!(!failed || run.code != Some(0), "{run:#?}");
}

/// A workspace and a server whose address is in its configuration.
pub(crate) struct Scene {
    pub(crate) workspace: Workspace,
    pub(crate) server: ModelServer,
}

impl Scene {
    /// The server answers by these steps.
    pub(crate) fn new(steps: Vec<Step>) -> Self {
        Self::with_config(steps, "")
    }

    /// The same with more configuration.
    pub(crate) fn with_config(steps: Vec<Step>, more: &str) -> Self {
        let scene = Self::start(ModelServer::start(steps));
        scene.workspace.config(&scene.server, more);
        scene
    }

    /// The same with more keys for the provider.
    pub(crate) fn with_provider(steps: Vec<Step>, provider: &str) -> Self {
        let scene = Self::start(ModelServer::start(steps));
        let url = scene.server.base_url();
        scene.workspace.config_with(&url, "", provider);
        scene
    }

    /// With a server that was started by the test.
    pub(crate) fn start(server: ModelServer) -> Self {
        let workspace = Workspace::new();
        workspace.config(&server, "");
        Self { workspace, server }
    }

    /// Another server answers from now on.
    pub(crate) fn answer_by(&mut self, steps: Vec<Step>) {
        self.server = ModelServer::start(steps);
        self.workspace.config(&self.server, "");
    }

    /// `agent` with these arguments.
    pub(crate) fn agent(&self, args: &[&str]) -> AgentCommand {
        let prints_lines = args.contains(&"--json");
        AgentCommand::new(agent(), &self.workspace)
            .args(args.iter().copied())
            .checked_by(if prints_lines {
                prints_events
            } else {
                ends_well
            })
    }

    /// `agent exec --json` with the workspace sandbox and these arguments.
    pub(crate) fn exec(&self, args: &[&str]) -> AgentCommand {
        self.agent(&["exec", "--json", "-s", "workspace-write"])
            .args(args.iter().copied())
    }

    /// The same for people, without `--json`.
    pub(crate) fn human(&self, args: &[&str]) -> AgentCommand {
        self.agent(&["exec", "-s", "workspace-write"])
            .args(args.iter().copied())
    }

    /// Runs one task and checks that it completed and that every request was right.
    #[track_caller]
    pub(crate) fn completes(&self, args: &[&str]) -> Run {
        let run = self.exec(args).run();
        run.assert_code(0);
        self.server.assert_clean();
        run
    }

    /// Runs one task and checks that it failed with this code before anything was asked.
    #[track_caller]
    pub(crate) fn is_refused(&self, args: &[&str]) -> Run {
        let run = self.exec(args).run();
        run.assert_code(2);
        assert_eq!(self.server.requests().len(), 0);
        run
    }

    /// The output that the first call of the n-th answer got, from the next request.
    #[track_caller]
    pub(crate) fn output(&self, answer: usize, call: usize) -> String {
        let requests = self.server.requests();
        let id = format!("call_{answer}_{call}");
        let output = requests.iter().find_map(|request| request.output_of(&id));
        output.unwrap_or_else(|| panic!("no output for {id}"))
    }

    /// What the command of that call printed.
    #[track_caller]
    pub(crate) fn printed(&self, answer: usize, call: usize) -> String {
        let output = self.output(answer, call);
        let (_, printed) = output.split_once("Output:\n").expect(&output);
        printed.to_owned()
    }

    /// The paths of all session files.
    pub(crate) fn rollouts(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.workspace.home().join("sessions")];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|end| end == "jsonl") {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// The path of a file outside everything that may be written.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.workspace.outside().join(name)
    }
}

/// The texts of a run's `agent_message` items.
pub(crate) fn messages(run: &Run) -> Vec<String> {
    let texts = items(run, "agent_message").into_iter();
    texts
        .map(|item| item["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// The completed items of one type.
pub(crate) fn items<'a>(run: &'a Run, kind: &str) -> Vec<&'a Value> {
    let items = run.events_of("item.completed").into_iter();
    items
        .map(|event| &event["item"])
        .filter(|item| item["type"] == kind)
        .collect()
}

/// The warnings of a run.
pub(crate) fn warnings(run: &Run) -> Vec<String> {
    let items = items(run, "error").into_iter();
    items
        .map(|item| item["message"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Why the turn failed; it is the last thing that was said.
#[track_caller]
pub(crate) fn failure(run: &Run) -> String {
    let last = run.events.last().expect("an event");
    assert_eq!(last["type"], "turn.failed", "{run:#?}");
    last["error"]["message"].as_str().expect("text").to_owned()
}

/// The texts of the user's messages in a request.
pub(crate) fn user_texts(scene: &Scene, request: usize) -> Vec<String> {
    let requests = scene.server.requests();
    let items = requests[request].input().iter();
    items
        .filter(|item| item["role"] == "user")
        .flat_map(|item| item["content"].as_array().cloned().unwrap_or_default())
        .filter_map(|part| part["text"].as_str().map(str::to_owned))
        .collect()
}

/// Whether this became true in time.
pub(crate) fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + LONG;
    while Instant::now() < end {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    holds()
}

/// A number of seconds for `sleep` that no other process uses, and by which it is found.
pub(crate) fn unique_sleep() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("7{:07}{number:03}", std::process::id())
}

/// How many processes have this among their arguments.
pub(crate) fn n_processes(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            line.split(|byte| *byte == 0)
                .any(|word| word == argument.as_bytes())
        })
        .count()
}

/// A program of the test itself, with its output.
pub(crate) fn tool(program: &str) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test's own tools are started as a person would"
    )]
    let command = Command::new(program);
    command
}

/// Whether a program is there; where it is missing the test says so.
pub(crate) fn is_there(program: &str) -> bool {
    let there = tool(program).arg("--version").output().is_ok();
    if !there {
        eprintln!("SKIPPED: `{program}` is not there");
    }
    there
}

/// Whether the tests run as the superuser, whom permissions do not hold back.
pub(crate) fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status
        .lines()
        .any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}
