//! Settings that change while a thread is open, and what the next request would hold.

use agent_protocol::{
    ContextPart, ContextReport, Event, FragmentKind, ItemKind, NoticeEvent, Role, SettingsChange,
    ThreadEvent,
};

use super::Session;

/// Bytes that stand for one token where nothing better is known.
const BYTES_PER_TOKEN: u64 = 4;

impl Session {
    /// Changes settings for the turns from now on, and tells the face what they are then.
    pub(crate) async fn configure(&mut self, change: SettingsChange) {
        if let Some(model) = change.model {
            self.settings.model = model;
        }
        if let Some(effort) = change.reasoning_effort {
            self.settings.reasoning_effort = effort;
        }
        if let Some(policy) = change.approval_policy {
            self.settings.approval_policy = policy;
        }
        if let Some(mode) = change.sandbox_mode
            && mode != self.settings.sandbox_mode
        {
            // Commands that still run were started under other limits.
            self.commands.stop_all("the sandbox was changed").await;
            self.settings.sandbox_mode = mode;
            self.settings.sandbox.mode = mode;
            self.environment = self.settings.environment(&self.variables);
        }
        let configured = ThreadEvent::Configured(self.info());
        self.sink.emit(Event::Thread(configured)).await;
    }

    /// Tells where the context window goes.
    pub(crate) async fn report_context(&mut self) {
        let report = self.context_report();
        self.sink
            .emit(Event::Notice(NoticeEvent::Context(report)))
            .await;
    }

    fn context_report(&self) -> ContextReport {
        let mut parts = Parts::default();
        parts.add("base instructions", self.settings.instructions.len());
        parts.add("tools", self.router.json().len());
        for entry in self.history.entries() {
            let name = match (entry.metadata.fragment, entry.item.kind()) {
                (Some(FragmentKind::AgentsMd), _) => "AGENTS.md",
                (Some(_), _) => "permissions and environment",
                (None, ItemKind::Message(Role::Assistant)) => "answers",
                (None, ItemKind::Message(_)) => "your messages",
                (None, ItemKind::Reasoning) => "reasoning",
                (None, ItemKind::Call { .. }) => "tool calls",
                (None, ItemKind::Output { .. }) => "tool outputs",
                (None, ItemKind::Other) => "other",
            };
            parts.add(name, entry.item.json().len());
        }
        ContextReport {
            parts: parts.0,
            last_request_tokens: self.last_request_tokens,
            window: self.settings.config.model_context_window,
        }
    }
}

#[derive(Default)]
struct Parts(Vec<ContextPart>);

impl Parts {
    fn add(&mut self, name: &str, n_bytes: usize) {
        let tokens = (n_bytes as u64).div_ceil(BYTES_PER_TOKEN);
        if let Some(part) = self.0.iter_mut().find(|part| part.name == name) {
            part.items += 1;
            part.tokens += tokens;
            return;
        }
        self.0.push(ContextPart {
            name: name.to_owned(),
            items: 1,
            tokens,
        });
    }
}
