//! What the thread says, and what becomes of it.

use std::time::{Duration, Instant};

use agent_core::TranscriptEntry;
use agent_protocol::{
    ApprovalEvent, CommandSource, Envelope, Event, ItemEvent, ItemId, NoticeEvent, Op,
    QuestionEvent, ThreadEvent, TokenUsage, TurnEvent, TurnFailure, TurnItem, UserInput,
};
use ratatui_core::text::Span;

use super::{App, Effect, RunningTurn, Trouble};
use crate::cell::{Cell, Notice};
use crate::overlay::{Overlay, approval, question};
use crate::report;
use crate::row::Row;
use crate::screen::Screen;
use crate::text;

impl App {
    pub(super) fn thread_event(&mut self, envelope: Envelope, now: Instant) -> Vec<Effect> {
        match envelope.event {
            Event::Thread(event) => self.thread_changed(event),
            Event::Turn(event) => return self.turn_event(event, now),
            Event::Item(event) => {
                if let Some(turn) = &mut self.turn {
                    turn.trouble = None;
                }
                if started_by_user(&event) {
                    self.commands.pop_front();
                }
                self.announce_command(&event);
                if let Some(id) = envelope.item_id {
                    self.announce_files(id, &event);
                    self.transcript.item_event(id, event, &self.look, now);
                }
            }
            Event::Approval(ApprovalEvent::Requested(request)) => {
                self.call_for_attention("approval needed");
                let overlay = Overlay::Approval(approval::Approval::new(
                    request,
                    self.home_directory.clone(),
                ));
                self.ask(overlay);
            }
            Event::Question(QuestionEvent::Asked(request)) => {
                self.call_for_attention("a question waits");
                let overlay = Overlay::Question(question::Questions::new(request));
                self.ask(overlay);
            }
            Event::Approval(ApprovalEvent::Resolved { request_id })
            | Event::Question(QuestionEvent::Resolved { request_id }) => {
                self.overlays
                    .retain(|overlay| overlay.asks() != Some(request_id));
            }
            Event::Notice(event) => self.notice(event, now),
        }
        Vec::new()
    }

    /// Puts a question before menus and help, behind the questions that came first.
    fn ask(&mut self, question: Overlay) {
        let others = self.overlays.iter();
        let at = others.take_while(|overlay| overlay.is_question()).count();
        self.overlays.insert(at, question);
    }

    /// Where only lines are printed, a command that begins is a line.
    fn announce_command(&mut self, event: &ItemEvent) {
        if let ItemEvent::Started {
            item: TurnItem::CommandExecution(command),
        } = event
            && self.echoes
        {
            self.announce(&format!("Running {}", command.command));
        }
    }

    /// There, a file that the model begins to write is a line too.
    fn announce_files(&mut self, id: ItemId, event: &ItemEvent) {
        if let ItemEvent::Writing { draft } = event
            && self.echoes
        {
            let n_told = self.transcript.n_drafted(id);
            for file in draft.files.iter().skip(n_told) {
                self.announce(&format!("Writing {}", file.path));
            }
        }
    }

    fn announce(&mut self, what: &str) {
        let line = text::spelled_out_line(what);
        let row = text::truncate_row(&Row::from(Span::raw(line)), &self.look);
        self.transcript.push(Cell::Rows(vec![row]), &self.look);
    }

    fn thread_changed(&mut self, event: ThreadEvent) {
        match event {
            ThreadEvent::Started(info) | ThreadEvent::Configured(info) => self.info = info,
            ThreadEvent::InputReturned { input } => self.take_back(input),
            ThreadEvent::Closed => {}
        }
    }

    /// Puts words that nobody read back into the composer, before what is there.
    pub(crate) fn take_back(&mut self, input: Vec<UserInput>) {
        self.steering.clear();
        let mut images = Vec::new();
        let texts = input.into_iter().filter_map(|part| match part {
            UserInput::Text { text } => Some(text),
            UserInput::LocalImage { path } => {
                images.push(path);
                None
            }
        });
        let mut text = texts.collect::<Vec<_>>().join("\n");
        if self.echoes {
            // There is no line to put it back into.
            return self.info_line(&format!("not sent: {text}"));
        }
        let draft = self.composer.text();
        if !draft.is_empty() {
            text.push('\n');
            text.push_str(&draft);
        }
        self.composer.set_text(&text);
        for image in images {
            self.composer.attach_image(image);
        }
    }

    fn turn_event(&mut self, event: TurnEvent, now: Instant) -> Vec<Effect> {
        match event {
            TurnEvent::Started => {
                self.begin_turn(now);
                return Vec::new();
            }
            TurnEvent::Steered { input } => {
                self.steered(&input);
                return Vec::new();
            }
            TurnEvent::Completed { usage, .. } => {
                let elapsed = self.turn_time(now);
                self.end_turn();
                self.transcript
                    .push(Cell::Footer { elapsed, usage }, &self.look);
                self.call_for_attention("the turn is over");
            }
            TurnEvent::Failed(failure) => {
                self.end_turn();
                self.failed(&failure);
                self.call_for_attention("the turn failed");
                // What stood in the way of this turn stands in the way of the next one.
                self.return_queue();
                return Vec::new();
            }
            TurnEvent::Interrupted => {
                self.end_turn();
                self.transcript.push(Cell::Interrupted, &self.look);
                self.return_queue();
                return Vec::new();
            }
        }
        self.send_queued(now)
    }

    fn turn_time(&self, now: Instant) -> std::time::Duration {
        let started = self.turn.as_ref().map_or(now, |turn| turn.started);
        now.saturating_duration_since(started)
    }

    pub(super) fn begin_turn(&mut self, now: Instant) {
        self.turn.get_or_insert(RunningTurn {
            started: now,
            usage: TokenUsage::default(),
            trouble: None,
            interrupting: false,
        });
    }

    pub(super) fn end_turn(&mut self) {
        self.turn = None;
        self.transcript.end_turn(&self.look);
        self.overlays.retain(|overlay| !overlay.is_question());
    }

    fn failed(&mut self, failure: &TurnFailure) {
        self.error(&failure.message, failure.hint.as_deref());
    }

    /// What steered the turn has become part of the conversation.
    fn steered(&mut self, input: &[UserInput]) {
        self.steering.pop_front();
        let texts = input.iter().filter_map(|part| match part {
            UserInput::Text { text } => Some(text.as_str()),
            UserInput::LocalImage { .. } => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        let n_images = input
            .iter()
            .filter(|part| matches!(part, UserInput::LocalImage { .. }))
            .count();
        self.show_typed(&text, n_images);
    }

    pub(super) fn show_user(&mut self, text: &str, n_images: usize) {
        self.n_user_messages += 1;
        let cell = Cell::User {
            text: text.to_owned(),
            n_images,
        };
        self.transcript.push(cell, &self.look);
    }

    /// What the user said at the terminal.
    pub(super) fn show_typed(&mut self, text: &str, n_images: usize) {
        if !self.echoes {
            return self.show_user(text, n_images);
        }
        self.n_user_messages += 1;
        let cell = Cell::User {
            text: text.to_owned(),
            n_images,
        };
        self.transcript.push_printed(cell, &self.look);
    }

    /// Sends what waited for the end of the turn, one message a turn.
    fn send_queued(&mut self, now: Instant) -> Vec<Effect> {
        if !self.steering.is_empty() {
            // The session begins a turn with what came too late for this one.
            return Vec::new();
        }
        match self.queue.pop_front() {
            Some(queued) => self.send_again(&queued.submission, now),
            None => Vec::new(),
        }
    }

    /// The user stopped the turn: what waited is theirs again.
    fn return_queue(&mut self) {
        if self.composer.is_empty()
            && let Some(queued) = self.queue.pop_front()
        {
            self.composer.restore(&queued.submission.draft);
        }
    }

    fn notice(&mut self, event: NoticeEvent, now: Instant) {
        match event {
            NoticeEvent::Warning { message } => {
                self.transcript.push(Cell::warning(&message), &self.look);
            }
            NoticeEvent::Retry {
                attempt,
                delay_ms,
                reason,
                ..
            } => {
                if let Some(turn) = &mut self.turn {
                    turn.trouble = Some(Trouble {
                        reason,
                        attempt,
                        next: now + Duration::from_millis(delay_ms),
                    });
                }
            }
            // The step says that it was declined, and each patch was shown when it was made.
            NoticeEvent::Declined { .. } | NoticeEvent::TurnDiff { .. } => {}
            NoticeEvent::Usage { request, turn } => {
                self.last_request = Some(request);
                if let Some(running) = &mut self.turn {
                    running.usage = turn;
                    running.trouble = None;
                }
            }
            NoticeEvent::Context(report) => {
                let rows = report::context(&report, &self.look);
                self.transcript.push(Cell::Rows(rows), &self.look);
            }
            NoticeEvent::Commands { commands } if commands.is_empty() => {
                self.nothing_runs();
            }
            NoticeEvent::Commands { commands } => {
                let rows = report::commands(&commands, &self.look);
                self.transcript.push(Cell::Rows(rows), &self.look);
            }
            NoticeEvent::Diff { text } => {
                if text.trim().is_empty() {
                    self.info_line("nothing differs from the last commit");
                } else {
                    self.screen = Some(Screen::diff(&text));
                }
            }
        }
    }

    pub(super) fn not_started(&mut self, message: &str, hint: Option<&str>) {
        self.end_turn();
        self.steering.clear();
        self.error(message, hint);
    }

    pub(super) fn error(&mut self, message: &str, hint: Option<&str>) {
        let cell = Cell::Notice {
            notice: Notice::Error,
            text: message.to_owned(),
            hint: hint.map(str::to_owned),
        };
        self.transcript.push(cell, &self.look);
    }

    /// There is no thread yet.
    pub(crate) fn nothing_runs(&mut self) {
        self.info_line("nothing runs in the background");
    }

    pub(super) fn info_line(&mut self, text: &str) {
        let cell = Cell::Notice {
            notice: Notice::Info,
            text: text.to_owned(),
            hint: None,
        };
        self.transcript.push(cell, &self.look);
    }

    /// Shows what happened before the session was resumed.
    pub(super) fn show_earlier(&mut self, entries: Vec<TranscriptEntry>, n_before: usize) {
        if n_before > 0 {
            self.info_line(&format!(
                "{n_before} earlier steps are in the session's file"
            ));
        }
        for entry in entries {
            match entry {
                TranscriptEntry::User { text, n_images } => self.show_user(&text, n_images),
                TranscriptEntry::Item(item) => self.transcript.push_item(item, &self.look),
            }
        }
        self.transcript.end_turn(&self.look);
    }

    /// An operation for the thread, in the form of effects.
    pub(super) fn submit(op: Op) -> Vec<Effect> {
        vec![Effect::Submit(op)]
    }
}

/// Whether a command of the user's own begins.
fn started_by_user(event: &ItemEvent) -> bool {
    matches!(
        event,
        ItemEvent::Started { item: TurnItem::CommandExecution(command) }
            if command.source == CommandSource::User
    )
}
