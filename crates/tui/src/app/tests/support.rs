//! An interface without a terminal: keys and events go in, pictures and effects come out.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use agent_protocol::{
    ApprovalChoice, ApprovalEvent, ApprovalPolicy, ApprovalRequest, ApprovalSubject, CallId,
    CommandExecution, CommandSource, Envelope, Event, ItemDelta, ItemEvent, ItemId, ItemStatus,
    NoticeEvent, Question, QuestionEvent, QuestionOption, QuestionRequest, RequestId, SandboxMode,
    ThreadId, ThreadInfo, TokenUsage, TurnEvent, TurnItem,
};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use expect_test::Expect;

use crate::app::{App, AppEvent, Effect, View};
use crate::look::{Glyphs, Theme};
use crate::settings::TuiSettings;
use crate::shown::look;
use crate::terminal::{Frame, Size};
use crate::text::tests::assert_sound;

/// An interface at some moment.
pub(super) struct Face {
    pub(super) app: App,
    pub(super) now: Instant,
    size: Size,
    /// What was printed so far.
    printed: String,
}

impl Face {
    /// At the start, with nothing printed.
    pub(super) fn bare(columns: u16, rows: u16) -> Self {
        let mut app = App::new(look(columns), TuiSettings::default(), info());
        app.is_file = |_| false;
        app.branch = Some("main".to_owned());
        app.home_directory = Some(PathBuf::from("/home/kim"));
        Self {
            app,
            now: Instant::now(),
            size: Size { columns, rows },
            printed: String::new(),
        }
    }

    /// With plain glyphs, as for a terminal that only has lines.
    pub(super) fn plain() -> Self {
        let mut face = Self::bare(80, 24);
        face.app.look.glyphs = Glyphs::PLAIN;
        face.app.look.theme = Theme::MONOCHROME;
        face
    }

    pub(super) fn event(&mut self, event: AppEvent) -> Vec<Effect> {
        self.app.update(event, self.now)
    }

    pub(super) fn wait(&mut self, milliseconds: u64) -> Vec<Effect> {
        self.now += Duration::from_millis(milliseconds);
        self.event(AppEvent::Tick)
    }

    /// Keys at the pace of a person: `esc`, `ctrl-c`, `enter`, …; anything else is typed.
    pub(super) fn keys(&mut self, words: &[&str]) -> Vec<Effect> {
        let mut effects = Vec::new();
        for word in words {
            match named_key(word) {
                Some(key) => {
                    self.now += Duration::from_millis(100);
                    effects.extend(self.event(AppEvent::Key(key)));
                }
                None => {
                    for character in word.chars() {
                        self.now += Duration::from_millis(100);
                        let key = KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE);
                        effects.extend(self.event(AppEvent::Key(key)));
                    }
                }
            }
        }
        effects
    }

    /// Keys after a rest, so that a question takes them.
    pub(super) fn answer(&mut self, words: &[&str]) -> Vec<Effect> {
        self.wait(1000);
        self.keys(words)
    }

    pub(super) fn thread(&mut self, event: Event) -> Vec<Effect> {
        self.envelope(None, event)
    }

    fn envelope(&mut self, item_id: Option<ItemId>, event: Event) -> Vec<Effect> {
        let envelope = Envelope {
            thread_id: thread_id(),
            turn_id: None,
            item_id,
            seq: 0,
            event,
        };
        self.event(AppEvent::Thread(Box::new(envelope)))
    }

    pub(super) fn started(&mut self) {
        self.thread(Event::Turn(TurnEvent::Started));
    }

    pub(super) fn completed(&mut self) -> Vec<Effect> {
        let usage = TokenUsage {
            input_tokens: 12_345,
            cached_input_tokens: 8_000,
            output_tokens: 678,
            ..TokenUsage::default()
        };
        self.thread(Event::Turn(TurnEvent::Completed {
            usage,
            last_message: None,
        }))
    }

    pub(super) fn item(&mut self, id: u64, event: ItemEvent) {
        self.envelope(Some(ItemId(id)), Event::Item(event));
    }

    pub(super) fn starts(&mut self, id: u64, item: TurnItem) {
        self.item(id, ItemEvent::Started { item });
    }

    pub(super) fn ends(&mut self, id: u64, item: TurnItem) {
        self.item(id, ItemEvent::Completed { item });
    }

    pub(super) fn says(&mut self, id: u64, text: &str) {
        let delta = ItemDelta::Message {
            text: text.to_owned(),
        };
        self.item(id, ItemEvent::Delta { delta });
    }

    pub(super) fn prints(&mut self, id: u64, text: &str) {
        let delta = ItemDelta::CommandOutput {
            text: text.to_owned(),
        };
        self.item(id, ItemEvent::Delta { delta });
    }

    pub(super) fn notice(&mut self, notice: NoticeEvent) {
        self.thread(Event::Notice(notice));
    }

    pub(super) fn asks(&mut self, subject: ApprovalSubject, reason: Option<&str>) {
        let request = ApprovalRequest {
            request_id: RequestId(7),
            call_id: CallId("call".to_owned()),
            subject,
            reason: reason.map(str::to_owned),
            choices: vec![
                ApprovalChoice::Once,
                ApprovalChoice::ForSession,
                ApprovalChoice::Decline,
                ApprovalChoice::Stop,
            ],
        };
        self.thread(Event::Approval(ApprovalEvent::Requested(request)));
    }

    pub(super) fn resize(&mut self, columns: u16, rows: u16) {
        self.size = Size { columns, rows };
        self.app.resize(columns);
    }

    /// What there is to see, which must fit.
    #[track_caller]
    pub(super) fn frame(&mut self) -> Frame {
        let (View::Inline(frame) | View::Screen(frame)) = self.app.view(self.size, self.now);
        let height = usize::from(self.size.rows);
        assert!(
            frame.rows.len() <= height,
            "{} of {height} rows",
            frame.rows.len()
        );
        assert_sound(&frame.rows, self.size.columns);
        if let Some((column, row)) = frame.cursor {
            assert!(column < self.size.columns, "cursor in column {column}");
            assert!(usize::from(row) < frame.rows.len(), "cursor in row {row}");
        }
        let printed = self.app.transcript.take_unprinted();
        assert_sound(&printed, self.size.columns.max(80));
        for row in printed {
            let _ = writeln!(self.printed, "{}", row.text().trim_end());
        }
        frame
    }

    /// The text of what is drawn; the cursor as a bar.
    #[track_caller]
    pub(super) fn live(&mut self) -> String {
        let frame = self.frame();
        let mut shown = String::new();
        for (index, row) in frame.rows.iter().enumerate() {
            let text = row.text();
            match frame.cursor {
                Some((column, row)) if usize::from(row) == index => {
                    let (before, behind) = split_at(&text, usize::from(column));
                    let _ = writeln!(shown, "{before:<0$}▏{behind}", usize::from(column));
                }
                _ => {
                    let _ = writeln!(shown, "{}", text.trim_end());
                }
            }
        }
        shown
    }

    /// What was printed since the last call, a rule, and what is drawn.
    #[track_caller]
    pub(super) fn shown(&mut self) -> String {
        let live = self.live();
        format!("{}----\n{live}", std::mem::take(&mut self.printed))
    }

    #[track_caller]
    pub(super) fn check(&mut self, expected: &Expect) {
        expected.assert_eq(&self.shown());
    }
}

/// The text before a column and behind it.
fn split_at(text: &str, column: usize) -> (String, String) {
    let is_before = |at: usize| crate::text::width(&text[..at]) < column;
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let at = ends
        .into_iter()
        .find(|at| !is_before(*at))
        .unwrap_or(text.len());
    (text[..at].to_owned(), text[at..].trim_end().to_owned())
}

/// A key by its name.
pub(super) fn named_key(word: &str) -> Option<KeyEvent> {
    let (code, modifiers) = match word {
        "enter" => (KeyCode::Enter, KeyModifiers::NONE),
        "esc" => (KeyCode::Esc, KeyModifiers::NONE),
        "tab" => (KeyCode::Tab, KeyModifiers::NONE),
        "up" => (KeyCode::Up, KeyModifiers::NONE),
        "down" => (KeyCode::Down, KeyModifiers::NONE),
        "pageup" => (KeyCode::PageUp, KeyModifiers::NONE),
        "pagedown" => (KeyCode::PageDown, KeyModifiers::NONE),
        "backspace" => (KeyCode::Backspace, KeyModifiers::NONE),
        "end" => (KeyCode::End, KeyModifiers::NONE),
        "home" => (KeyCode::Home, KeyModifiers::NONE),
        _ => {
            let letter = word.strip_prefix("ctrl-")?.chars().next()?;
            (KeyCode::Char(letter), KeyModifiers::CONTROL)
        }
    };
    Some(KeyEvent::new(code, modifiers))
}

pub(super) fn thread_id() -> ThreadId {
    "00000000-0000-7000-8000-000000000001".parse().unwrap()
}

pub(super) fn info() -> ThreadInfo {
    ThreadInfo {
        cwd: PathBuf::from("/home/kim/work/parser"),
        model: "big-model".to_owned(),
        provider: "local".to_owned(),
        approval_policy: ApprovalPolicy::OnRequest,
        sandbox_mode: SandboxMode::WorkspaceWrite,
        reasoning_effort: Some("high".to_owned()),
        context_window: Some(200_000),
        rollout_path: None,
    }
}

pub(super) fn message(text: &str) -> TurnItem {
    TurnItem::AgentMessage {
        text: text.to_owned(),
    }
}

/// A command that runs.
pub(super) fn running(command: &str) -> TurnItem {
    TurnItem::CommandExecution(CommandExecution {
        command: command.to_owned(),
        aggregated_output: String::new(),
        exit_code: None,
        status: ItemStatus::InProgress,
        duration_ms: None,
        source: CommandSource::Model,
        escalated: false,
        session_id: None,
        is_input: false,
    })
}

/// A command that ended well.
pub(super) fn ran(command: &str, output: &str) -> TurnItem {
    TurnItem::CommandExecution(CommandExecution {
        command: command.to_owned(),
        aggregated_output: output.to_owned(),
        exit_code: Some(0),
        status: ItemStatus::Completed,
        duration_ms: Some(1234),
        source: CommandSource::Model,
        escalated: false,
        session_id: None,
        is_input: false,
    })
}

pub(super) fn command(command: &str, sandboxed: bool) -> ApprovalSubject {
    ApprovalSubject::Command {
        command: command.to_owned(),
        cwd: PathBuf::from("/home/kim/work/parser"),
        sandboxed,
    }
}

pub(super) fn question(id: &str, text: &str, options: &[&str]) -> Question {
    Question {
        id: id.to_owned(),
        header: id.to_uppercase(),
        question: text.to_owned(),
        options: options
            .iter()
            .map(|label| QuestionOption {
                label: (*label).to_owned(),
                description: format!("about {label}"),
            })
            .collect(),
    }
}

pub(super) fn asked(questions: Vec<Question>) -> Event {
    Event::Question(QuestionEvent::Asked(QuestionRequest {
        request_id: RequestId(9),
        call_id: CallId("ask".to_owned()),
        questions,
    }))
}
