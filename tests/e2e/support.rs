//! What the end-to-end tests share: the binary, and the usual ways to run it.

use std::path::PathBuf;

use agent_test_support::{AgentCommand, ModelServer, Run, Step, Workspace};

/// The binary under test.
pub(crate) fn agent() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_agent"))
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
        let workspace = Workspace::new();
        let server = ModelServer::start(steps);
        workspace.config(&server, more);
        Self { workspace, server }
    }

    /// `agent exec --json` with the workspace sandbox and these arguments.
    pub(crate) fn exec(&self, args: &[&str]) -> AgentCommand {
        AgentCommand::new(agent(), &self.workspace)
            .args(["exec", "--json", "-s", "workspace-write"])
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

    /// The output that the first call of the n-th answer got, from the next request.
    #[track_caller]
    pub(crate) fn output(&self, answer: usize, call: usize) -> String {
        let requests = self.server.requests();
        let id = format!("call_{answer}_{call}");
        let output = requests.iter().find_map(|request| request.output_of(&id));
        output.unwrap_or_else(|| panic!("no output for {id}"))
    }
}

/// The texts of a run's `agent_message` items.
pub(crate) fn messages(run: &Run) -> Vec<String> {
    let items = run.events_of("item.completed");
    let items = items.into_iter().map(|event| &event["item"]);
    let messages = items.filter(|item| item["type"] == "agent_message");
    messages
        .map(|item| item["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}
