//! A thread with two tools whose calls wait for each other, and a server behind it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agent_config::{Layer, load};
use agent_core::tool::{
    DecisionContext, Effect, Requirement, Tool, ToolContext, ToolHandler, ToolOutcome,
};
use agent_core::{Thread, ThreadManager, ThreadOptions, ToolSetup, Variables};
use agent_protocol::{
    ApprovalSubject, Event, ItemStatus, Op, Question, TurnEvent, TurnItem, UserInput,
};
use agent_test_support::{ModelServer, Step, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;

/// What the tools did, in order: `begin NAME` and `end NAME`.
static TRACE: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// Names the call, and the scene that it belongs to: `SCENE/NAME`.
    name: String,
    /// Waits for the begin of this other call.
    wait_for: Option<String>,
    /// Breaks instead of returning.
    breaks: Option<bool>,
    /// Never ends by itself.
    hangs: Option<bool>,
    /// Needs an approval for this file.
    file: Option<String>,
    /// Asks the user this.
    question: Option<String>,
}

fn note(what: &str, name: &str) {
    let mut trace = TRACE.lock().unwrap();
    trace.push((what.to_owned(), name.to_owned()));
}

fn begun(name: &str) -> bool {
    let trace = TRACE.lock().unwrap();
    trace
        .iter()
        .any(|(what, other)| what == "begin" && other == name)
}

/// What the calls of a scene did, in order.
pub(crate) fn trace(scene: &str) -> Vec<String> {
    let trace = TRACE.lock().unwrap();
    let own = trace.iter().filter_map(|(what, name)| {
        let name = name.strip_prefix(scene)?.strip_prefix('/')?;
        Some(format!("{what} {name}"))
    });
    own.collect()
}

async fn call(args: Args, context: ToolContext) -> ToolOutcome {
    note("begin", &args.name);
    assert!(args.breaks != Some(true), "this call breaks on purpose");
    if args.hangs == Some(true) {
        context.cancel.cancelled().await;
        note("cancelled", &args.name);
        return ToolOutcome::text("aborted by user");
    }
    if let Some(question) = args.question {
        let answers = context.person.ask(vec![Question {
            id: "q".to_owned(),
            header: "Header".to_owned(),
            question,
            options: Vec::new(),
        }]);
        return ToolOutcome::text(format!("answers: {:?}", answers.await));
    }
    if let Some(other) = &args.wait_for {
        while !begun(other) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
    note("end", &args.name);
    ToolOutcome::text(format!("output of {}", args.name))
}

macro_rules! tool {
    ($type:ident, $name:literal, $effect:expr) => {
        pub(crate) struct $type;

        impl Tool for $type {
            const NAME: &'static str = $name;
            const DESCRIPTION: &'static str = "For tests.";
            type Args = Args;

            fn effect(&self, _: &Args, _: &DecisionContext) -> Effect {
                $effect
            }

            fn requirement(&self, args: &Args, _: &DecisionContext) -> Requirement {
                match &args.file {
                    None => Requirement::Skip,
                    Some(file) => Requirement::NeedsApproval {
                        subject: ApprovalSubject::Patch {
                            paths: vec![file.into()],
                            diff: String::new(),
                        },
                        reason: Some("a reason".to_owned()),
                    },
                }
            }

            fn item(&self, _: &Args, _: ItemStatus) -> Option<TurnItem> {
                None
            }

            async fn run(self: Arc<Self>, args: Args, context: ToolContext) -> ToolOutcome {
                call(args, context).await
            }
        }
    };
}

tool!(Read, "read", Effect::ReadOnly);
tool!(Write, "write", Effect::Mutating);

fn tools(_: ToolSetup) -> Vec<Arc<dyn ToolHandler>> {
    vec![
        Arc::new(Arc::new(Read)),
        Arc::new(Arc::new(Write)),
        Arc::new(crate::drafts::Scribe),
    ]
}

/// A thread and what is around it.
pub(crate) struct Scene {
    pub(crate) server: ModelServer,
    pub(crate) thread: Thread,
    pub(crate) manager: ThreadManager,
    pub(crate) workspace: Workspace,
}

impl Scene {
    pub(crate) async fn start(steps: Vec<Step>) -> Self {
        Self::with_options(steps, ThreadOptions::unattended).await
    }

    /// With somebody who can be asked.
    pub(crate) async fn watched(steps: Vec<Step>) -> Self {
        Self::with_options(steps, ThreadOptions::interactive).await
    }

    async fn with_options(steps: Vec<Step>, options: fn(PathBuf) -> ThreadOptions) -> Self {
        let workspace = Workspace::new();
        let server = ModelServer::start(steps);
        workspace.config(&server, "");
        let home = workspace.home();
        let layer = Layer::from_file(&home.join("config.toml")).unwrap();
        let config = load(layer, None, &[], &home).unwrap().config;
        let variables = Variables(vec![("MOCK_KEY".into(), "x".into())]);
        let manager = ThreadManager::new(home.clone(), config, variables, tools, "0");
        let options = options(workspace.work());
        let thread = manager.start(options).await.unwrap();
        Self {
            server,
            thread,
            manager,
            workspace,
        }
    }

    pub(crate) async fn say(&self, text: &str) {
        let input = vec![UserInput::Text {
            text: text.to_owned(),
        }];
        let op = Op::UserTurn {
            input,
            output_schema: None,
        };
        self.thread.submit(op).await.unwrap();
    }

    /// The next event that this finds something in.
    pub(crate) async fn find<T>(&mut self, mut find: impl FnMut(Event) -> Option<T>) -> T {
        loop {
            let envelope = self.thread.next_event().await.expect("such an event");
            if let Some(found) = find(envelope.event) {
                return found;
            }
        }
    }

    /// How the turn ends.
    pub(crate) async fn end_of_turn(&mut self) -> TurnEvent {
        loop {
            let envelope = self.thread.next_event().await.expect("an end of the turn");
            if let Event::Turn(event) = envelope.event
                && !matches!(event, TurnEvent::Started | TurnEvent::Steered { .. })
            {
                return event;
            }
        }
    }

    /// What the last thing said was, if the turn completed.
    pub(crate) async fn answer(&mut self) -> String {
        match self.end_of_turn().await {
            TurnEvent::Completed { last_message, .. } => last_message.unwrap(),
            event @ (TurnEvent::Started
            | TurnEvent::Steered { .. }
            | TurnEvent::Failed(_)
            | TurnEvent::Interrupted) => panic!("{event:?}"),
        }
    }
}
