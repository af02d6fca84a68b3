//! What is told of a call while the model writes it.

use std::fmt::Write as _;

use agent_core::tool::{
    CallDraft, DecisionContext, Effect, PreparedCall, Requirement, ToolContext, ToolError,
    ToolHandler, ToolInput, ToolOutcome, ToolPayload, ToolSpec,
};
use agent_protocol::{
    CallForm, ChangeKind, EditDraft, Event, FileChange, FileDraft, ItemEvent, ItemId, ItemStatus,
    NoticeEvent, Op, TurnEvent, TurnItem,
};
use agent_test_support::{Item, Step};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::support::Scene;

/// A tool that takes free text, and tells of each line of it while it comes.
pub(crate) struct Scribe;

struct Lines(usize);

impl CallDraft for Lines {
    fn push(&mut self, delta: &str) -> bool {
        let n_lines = delta.matches('\n').count();
        self.0 += n_lines;
        n_lines > 0
    }

    fn edit(&self) -> EditDraft {
        let file = FileDraft {
            path: "paper".to_owned(),
            kind: ChangeKind::Add,
            added: self.0,
            removed: 0,
        };
        EditDraft {
            files: vec![file],
            n_left_out: 0,
            added: self.0,
            removed: 0,
        }
    }
}

impl ToolHandler for Scribe {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "scribe".to_owned(),
            description: "For tests.".to_owned(),
            input: ToolInput::Custom {
                lark: "start: /.*/".to_owned(),
            },
        }
    }

    fn prepare(&self, _: &ToolPayload) -> Result<Box<dyn PreparedCall>, ToolError> {
        Ok(Box::new(ScribeCall))
    }

    fn draft(&self, form: CallForm) -> Option<Box<dyn CallDraft>> {
        (form == CallForm::Custom).then(|| -> Box<dyn CallDraft> { Box::new(Lines(0)) })
    }
}

struct ScribeCall;

impl PreparedCall for ScribeCall {
    fn effect(&self, _: &DecisionContext) -> Effect {
        Effect::Mutating
    }

    fn requirement(&self, _: &DecisionContext) -> Requirement {
        Requirement::Skip
    }

    fn item(&self, status: ItemStatus) -> Option<TurnItem> {
        Some(TurnItem::FileChange(FileChange {
            changes: Vec::new(),
            status,
            unified_diff: String::new(),
            error: None,
        }))
    }

    fn run(self: Box<Self>, _: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        let item = self.item(ItemStatus::Completed);
        Box::pin(async move {
            ToolOutcome {
                item,
                ..ToolOutcome::text("written")
            }
        })
    }
}

/// The events of one turn that concern drafts and steps, one line each. Of the states of a draft
/// in a row, the last one is shown: how many there are is a matter of time.
async fn told(scene: &mut Scene) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut ids: Vec<ItemId> = Vec::new();
    loop {
        let envelope = scene.thread.next_event().await.expect("an end of the turn");
        let number = envelope.item_id.map(|id| {
            let known = ids.iter().position(|other| *other == id);
            known.unwrap_or_else(|| {
                ids.push(id);
                ids.len() - 1
            })
        });
        let what = match envelope.event {
            Event::Item(ItemEvent::Writing { draft }) => format!("writing {}", draft.added),
            Event::Item(ItemEvent::Discarded) => "discarded".to_owned(),
            Event::Item(ItemEvent::Started {
                item: TurnItem::FileChange(_),
            }) => "started".to_owned(),
            Event::Item(ItemEvent::Completed {
                item: TurnItem::FileChange(_),
            }) => "completed".to_owned(),
            Event::Notice(NoticeEvent::Retry { .. }) => "retry".to_owned(),
            Event::Turn(TurnEvent::Completed { .. }) => break,
            Event::Turn(end @ (TurnEvent::Interrupted | TurnEvent::Failed(_))) => {
                let is_stop = end == TurnEvent::Interrupted;
                lines.push(if is_stop { "interrupted" } else { "failed" }.to_owned());
                break;
            }
            Event::Thread(_)
            | Event::Turn(_)
            | Event::Item(_)
            | Event::Approval(_)
            | Event::Question(_)
            | Event::Notice(_) => continue,
        };
        let line = match number {
            Some(number) => format!("{number} {what}"),
            None => what,
        };
        let state = |line: &str| line.split_once(" writing").map(|(id, _)| id.to_owned());
        let last = lines.last().and_then(|last| state(last));
        if last.is_some() && last == state(&line) {
            lines.pop();
        }
        lines.push(line);
    }
    lines.join(", ")
}

/// An answer that ends or breaks off after these events.
fn raw(events: &[Value]) -> Step {
    let mut body = String::new();
    for event in events {
        write!(body, "data: {event}\n\n").unwrap();
    }
    Step::empty().raw(body)
}

fn added(item_id: &str, call_id: &str) -> Value {
    json!({"type": "response.output_item.added", "item": {
        "type": "custom_tool_call", "id": item_id, "call_id": call_id, "name": "scribe"}})
}

fn delta(item_id: Option<&str>, text: &str) -> Value {
    json!({"type": "response.custom_tool_call_input.delta", "item_id": item_id, "delta": text})
}

fn done(item_id: &str, call_id: &str) -> Value {
    json!({"type": "response.output_item.done", "item": {"type": "custom_tool_call",
        "id": item_id, "call_id": call_id, "name": "scribe", "input": "a\nb\nc\n"}})
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"id": "r"}})
}

async fn check(steps: Vec<Step>, expected: &str) {
    let mut scene = Scene::start(steps).await;
    scene.say("go").await;
    assert_eq!(told(&mut scene).await, expected);
    scene.server.assert_clean();
}

#[tokio::test]
async fn a_call_is_told_while_it_comes_and_then_as_its_step() {
    let step = Step::items(vec![Item::custom_call("scribe", "a\nb\nc\n")]).deltas(6);
    let expected = "0 writing 3, 0 discarded, 1 started, 1 completed";
    check(vec![step, Step::message("done")], expected).await;
}

#[tokio::test]
async fn calls_in_one_answer_are_told_apart() {
    let step = raw(&[
        added("i1", "c1"),
        added("i2", "c2"),
        delta(Some("i2"), "a\n"),
        delta(Some("i1"), "a\nb\n"),
        delta(Some("i3"), "a\n\n\n\n"),
        done("i1", "c1"),
        done("i2", "c2"),
        completed(),
    ]);
    let mut scene = Scene::start(vec![step, Step::message("done")]).await;
    scene.say("go").await;
    let told = told(&mut scene).await;
    for part in ["0 writing 1", "1 writing 2, 1 discarded"] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(told.matches("discarded").count(), 2, "{told}");
    assert!(!told.contains("writing 4"), "{told}");
}

#[tokio::test]
async fn what_broke_off_is_discarded_before_it_is_asked_for_again() {
    let broken = raw(&[added("i", "c"), delta(Some("i"), "a\nb\n")]);
    let step = Step::items(vec![Item::custom_call("scribe", "a\n")]);
    let expected = "0 writing 2, 0 discarded, retry, \
        1 writing 1, 1 discarded, 2 started, 2 completed";
    check(vec![broken, step, Step::message("done")], expected).await;
}

#[tokio::test]
async fn an_interrupted_draft_is_discarded() {
    let call = Item::custom_call("scribe", "a\n".repeat(100));
    let step = Step::items(vec![call])
        .deltas(100)
        .delay_between_deltas(std::time::Duration::from_millis(50));
    let mut scene = Scene::start(vec![step]).await;
    scene.say("go").await;
    let draft = |event| {
        if let Event::Item(ItemEvent::Writing { draft }) = event {
            return Some(draft.added);
        }
        None
    };
    assert_eq!(scene.find(draft).await, 1);
    scene.thread.submit(Op::Interrupt).await.unwrap();
    let told = told(&mut scene).await;
    assert!(told.ends_with("0 discarded, interrupted"), "{told}");
}

#[tokio::test]
async fn servers_that_tell_less_are_understood() {
    let only_the_end = raw(&[delta(Some("i"), "a\n"), done("i", "c"), completed()]);
    check(
        vec![only_the_end, Step::message("done")],
        "0 started, 0 completed",
    )
    .await;

    let no_ids_of_items = raw(&[
        json!({"type": "response.output_item.added", "item": {"type": "custom_tool_call",
            "id": 5, "call_id": "c", "name": "scribe"}}),
        delta(None, "a\nb\n"),
        done("other", "c"),
        completed(),
    ]);
    let expected = "0 writing 2, 0 discarded, 1 started, 1 completed";
    check(vec![no_ids_of_items, Step::message("done")], expected).await;

    let never_done = raw(&[added("i", "c"), delta(Some("i"), "a\n"), completed()]);
    check(vec![never_done], "0 writing 1, 0 discarded, failed").await;
}
