//! In which order things are printed, and how often.

use super::*;
use crate::shown::look;

/// A transcript of a terminal of 60 columns.
struct Scene {
    transcript: Transcript,
    look: Look,
    now: Instant,
    printed: Vec<String>,
}

impl Scene {
    fn new() -> Self {
        Self {
            transcript: Transcript::default(),
            look: look(60),
            now: Instant::now(),
            printed: Vec::new(),
        }
    }

    fn event(&mut self, id: u64, event: ItemEvent) {
        let id = ItemId(id);
        self.transcript.item_event(id, event, &self.look, self.now);
        let rows = self.transcript.take_unprinted();
        self.printed.extend(rows.iter().map(Row::text));
    }

    fn starts(&mut self, id: u64, item: TurnItem) {
        self.event(id, ItemEvent::Started { item });
    }

    fn ends(&mut self, id: u64, item: TurnItem) {
        self.event(id, ItemEvent::Completed { item });
    }

    fn says(&mut self, id: u64, text: &str) {
        let delta = ItemDelta::Message {
            text: text.to_owned(),
        };
        self.event(id, ItemEvent::Delta { delta });
    }

    fn turn_ends(&mut self) {
        self.transcript.end_turn(&self.look);
        let rows = self.transcript.take_unprinted();
        self.printed.extend(rows.iter().map(Row::text));
    }

    fn live(&self) -> String {
        let rows = self.transcript.live_rows(&self.look, 100, self.now);
        rows.iter().map(|row| row.text() + "\n").collect()
    }

    fn text(&self) -> String {
        self.printed.join("\n")
    }
}

fn message(text: &str) -> TurnItem {
    TurnItem::AgentMessage {
        text: text.to_owned(),
    }
}

fn command(script: &str, status: ItemStatus, output: &str) -> TurnItem {
    TurnItem::CommandExecution(CommandExecution {
        command: script.to_owned(),
        aggregated_output: output.to_owned(),
        exit_code: (status == ItemStatus::Completed).then_some(0),
        status,
        duration_ms: None,
        source: CommandSource::Model,
        escalated: false,
        session_id: None,
        is_input: false,
    })
}

#[test]
fn steps_are_printed_in_the_order_in_which_they_began() {
    let mut scene = Scene::new();
    scene.starts(0, command("make one", ItemStatus::InProgress, ""));
    scene.starts(1, command("make two", ItemStatus::InProgress, ""));
    scene.ends(1, command("make two", ItemStatus::Completed, ""));
    assert_eq!(scene.text(), "", "the first one still runs");
    assert!(scene.live().contains("two"));
    scene.ends(0, command("make one", ItemStatus::Completed, ""));
    let text = scene.text();
    assert!(text.find("one") < text.find("two"), "{text}");
    assert_eq!(scene.live(), "");
}

#[test]
fn a_message_that_comes_in_parts_is_printed_once() {
    let whole = "# Head\n\nA paragraph of some words.\n\n- one\n- two\n\n```\ncode\n```\n\nEnd.";
    let mut scene = Scene::new();
    scene.starts(0, message(""));
    for part in whole.split_inclusive(' ') {
        scene.says(0, part);
    }
    scene.ends(0, message(whole));
    scene.turn_ends();
    let expected = Cell::Item(message(whole)).rows(&scene.look, Detail::Brief);
    let expected: Vec<String> = expected.iter().map(Row::text).collect();
    assert_eq!(scene.printed, expected);
    assert_eq!(scene.transcript.cells().len(), 1);
}

#[test]
fn a_message_behind_a_running_command_waits() {
    let mut scene = Scene::new();
    scene.starts(0, command("make", ItemStatus::InProgress, ""));
    scene.starts(1, message(""));
    scene.says(1, "First.\n\nSecond.\n\nThird.");
    assert_eq!(scene.text(), "");
    scene.ends(0, command("make", ItemStatus::Completed, ""));
    let text = scene.text();
    assert!(text.find("make") < text.find("First"), "{text}");
    scene.ends(1, message("First.\n\nSecond.\n\nThird."));
    assert_eq!(scene.text().matches("Second").count(), 1);
}

#[test]
fn a_message_that_is_cut_off_is_marked_if_some_of_it_was_printed() {
    let mut scene = Scene::new();
    scene.starts(0, message(""));
    scene.event(0, ItemEvent::Discarded);
    assert_eq!(scene.text(), "");
    scene.starts(1, message(""));
    scene.says(1, "One.\n\nTwo");
    scene.event(1, ItemEvent::Discarded);
    assert!(scene.text().contains("cut off"), "{}", scene.text());
    scene.starts(2, message(""));
    scene.says(2, "One.\n\nTwo.");
    scene.ends(2, message("One.\n\nTwo."));
    assert_eq!(scene.text().matches("Two").count(), 1);
    assert_eq!(scene.transcript.last_message(), Some("One.\n\nTwo."));
}

#[test]
fn looks_around_are_one_cell_and_failures_are_not_among_them() {
    let mut scene = Scene::new();
    scene.ends(0, command("cat a.rs", ItemStatus::Completed, "a"));
    scene.ends(1, command("ls src", ItemStatus::Completed, "b"));
    assert_eq!(scene.text(), "", "more may follow");
    assert!(scene.live().contains("a.rs"));
    scene.ends(
        2,
        command("cat missing", ItemStatus::Failed, "no such file"),
    );
    scene.ends(3, command("cat b.rs", ItemStatus::Completed, "b"));
    scene.turn_ends();
    let text = scene.text();
    assert_eq!(text.matches("Explored").count(), 2, "{text}");
    assert!(text.contains("no such file"));
    assert_eq!(scene.transcript.cells().len(), 3);
}

#[test]
fn the_output_of_a_command_is_bounded() {
    let mut scene = Scene::new();
    scene.starts(0, command("yes", ItemStatus::InProgress, ""));
    for _ in 0..200 {
        let delta = ItemDelta::CommandOutput {
            text: "é".repeat(1000),
        };
        scene.event(0, ItemEvent::Delta { delta });
        let held = scene
            .transcript
            .live
            .first()
            .map_or(0, |live| live.output.len());
        assert!(held <= 2 * live::LIVE_OUTPUT_BYTES, "{held}");
    }
    let output = format!("begin{}end", "é".repeat(1 << 20));
    scene.ends(0, command("yes", ItemStatus::Completed, &output));
    let Some(Cell::Item(TurnItem::CommandExecution(kept))) = scene.transcript.cells().first()
    else {
        panic!("no cell");
    };
    let kept = &kept.aggregated_output;
    assert!(kept.len() < KEPT_OUTPUT_BYTES + 100, "{}", kept.len());
    assert!(kept.starts_with("begin") && kept.ends_with("end"));
    assert!(kept.contains("bytes are not kept"));
}

#[test]
fn a_plan_changes_in_place_until_its_steps_are_done() {
    let plan = |done: &[bool]| TurnItem::TodoList {
        items: done
            .iter()
            .map(|done| agent_protocol::TodoItem {
                text: "step".to_owned(),
                completed: *done,
                in_progress: false,
            })
            .collect(),
    };
    let update = |done: &[bool]| ItemEvent::Updated { item: plan(done) };
    let mut scene = Scene::new();
    scene.starts(0, plan(&[false, false]));
    scene.ends(1, command("make", ItemStatus::Completed, ""));
    scene.event(0, update(&[true, false]));
    assert!(!scene.text().contains("step"));
    assert_eq!(scene.live().matches("step").count(), 2);
    // Done: it stands before what is said then, and the turn's end does not repeat it.
    scene.event(0, update(&[true, true]));
    scene.ends(2, message("The end."));
    let item = plan(&[true, true]);
    scene.event(0, ItemEvent::Completed { item });
    scene.turn_ends();
    let text = scene.text();
    assert_eq!(text.matches("step").count(), 2, "{text}");
    assert!(text.find("step") < text.find("The end."), "{text}");
    // A plan that grows afterwards is shown again.
    scene.event(0, update(&[true, true, false]));
    assert_eq!(scene.live().matches("step").count(), 3);
}

#[test]
fn a_plan_that_is_not_done_is_printed_when_the_turn_ends() {
    let item = TurnItem::TodoList {
        items: vec![agent_protocol::TodoItem {
            text: "step".to_owned(),
            completed: false,
            in_progress: true,
        }],
    };
    let mut scene = Scene::new();
    scene.starts(0, item);
    scene.turn_ends();
    assert_eq!(scene.text().matches("step").count(), 1);
}

#[test]
fn what_an_interrupt_caught_has_failed_and_keeps_its_output() {
    let mut scene = Scene::new();
    scene.starts(0, command("make", ItemStatus::InProgress, ""));
    let delta = ItemDelta::CommandOutput {
        text: "half done".to_owned(),
    };
    scene.event(0, ItemEvent::Delta { delta });
    scene.turn_ends();
    let text = scene.text();
    assert!(
        text.contains("half done") && !text.contains("Running"),
        "{text}"
    );
    assert!(!scene.transcript.is_busy());
}

#[test]
fn a_word_of_the_program_within_a_message_stands_apart() {
    let mut scene = Scene::new();
    scene.starts(0, message(""));
    scene.says(0, "One.\n\nTwo");
    scene.transcript.push(Cell::warning("careful"), &scene.look);
    scene.says(0, ".\n\nThree.");
    scene.ends(0, message("One.\n\nTwo.\n\nThree."));
    let expected = "• One.\n\n⚠ careful\n\n  Two.\n\n  Three.";
    assert_eq!(scene.text(), expected);
}
