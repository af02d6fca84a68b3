//! Progress for people, on standard error. The final answer is not printed here: it goes to
//! standard output alone.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use agent_protocol::{
    ChangeKind, CommandExecution, EditDraft, Envelope, Event, FileChange, ItemEvent, ItemId,
    ItemStatus, NoticeEvent, ThreadEvent, ThreadInfo, TodoItem, TokenUsage, TurnItem,
};
use agent_terminal_text::sanitize;

use crate::color::Paint;

/// Lines of a command's output that are shown, from its start and from its end.
const HEAD_LINES: usize = 4;
const TAIL_LINES: usize = 8;

/// Lines of the reason why a patch was not applied.
const MAX_REASON_LINES: usize = 6;
/// How many lines of the diff of a turn are shown.
const MAX_DIFF_LINES: usize = 1_000;

/// Prints progress.
pub(crate) struct HumanOutput<W> {
    out: W,
    paint: Paint,
    version: &'static str,
    /// A message that may be the last one; it is printed here only when more follows.
    held: Option<String>,
    /// The command whose line was printed last, while its output is still to come.
    begun: Option<ItemId>,
    /// Somebody watches while it is printed.
    is_watched: bool,
    /// Edits that are being written, and how many of their files were told.
    drafts: HashMap<ItemId, usize>,
}

impl<W: Write> HumanOutput<W> {
    pub(crate) fn new(out: W, paint: Paint, version: &'static str) -> Self {
        Self {
            out,
            paint,
            version,
            held: None,
            begun: None,
            is_watched: false,
            drafts: HashMap::new(),
        }
    }

    /// Tells also what is only under way.
    pub(crate) fn watched(self) -> Self {
        Self {
            is_watched: true,
            ..self
        }
    }

    /// Prints what an event says.
    pub(crate) fn event(&mut self, envelope: &Envelope) -> io::Result<()> {
        match &envelope.event {
            Event::Thread(ThreadEvent::Started(info)) => {
                self.header(info, &envelope.thread_id.to_string())
            }
            Event::Item(event) => self.item_event(envelope.item_id, event),
            Event::Notice(notice) => self.notice(notice),
            Event::Thread(
                ThreadEvent::Closed
                | ThreadEvent::Configured(_)
                | ThreadEvent::InputReturned { .. },
            )
            | Event::Turn(_)
            | Event::Approval(_)
            | Event::Question(_) => Ok(()),
        }
    }

    /// The prompt, as it was understood.
    pub(crate) fn prompt(&mut self, text: &str) -> io::Result<()> {
        let text = sanitize(text);
        let lines: Vec<&str> = text.trim().lines().collect();
        let mut shown = String::new();
        for (line_idx, line) in lines.iter().take(HEAD_LINES).enumerate() {
            let mark = if line_idx == 0 { "›" } else { " " };
            let _ = writeln!(shown, "{} {line}", self.paint.cyan(mark));
        }
        if lines.len() > HEAD_LINES {
            let more = format!("  … {} more lines", lines.len() - HEAD_LINES);
            let _ = writeln!(shown, "{}", self.paint.dim(&more));
        }
        writeln!(self.out, "\n{shown}")
    }

    /// A note of the face itself.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        self.begun = None;
        let mark = self.paint.yellow("!");
        writeln!(self.out, "{mark} {}", sanitize(text))
    }

    /// The last line: what the turn cost.
    pub(crate) fn usage(&mut self, usage: TokenUsage) -> io::Result<()> {
        self.held = None;
        if usage == TokenUsage::default() {
            return Ok(());
        }
        let text = format!(
            "tokens: {} in ({} cached), {} out",
            usage.input_tokens, usage.cached_input_tokens, usage.output_tokens
        );
        let text = self.paint.dim(&text);
        writeln!(self.out, "{text}")
    }

    /// A message that turned out not to be the answer of a completed turn.
    pub(crate) fn release_held(&mut self) -> io::Result<()> {
        match self.held.take() {
            Some(text) => {
                self.begun = None;
                writeln!(self.out, "{}\n", sanitize(text.trim_end()))
            }
            None => Ok(()),
        }
    }

    fn header(&mut self, info: &ThreadInfo, id: &str) -> io::Result<()> {
        let ThreadInfo {
            cwd,
            model,
            provider,
            approval_policy,
            sandbox_mode,
            reasoning_effort,
            ..
        } = info;
        let effort = reasoning_effort
            .as_ref()
            .map(|effort| format!(", effort {effort}"))
            .unwrap_or_default();
        let title = self.paint.bold(&format!("agent {}", self.version));
        let cwd = cwd.to_string_lossy();
        writeln!(self.out, "{title}")?;
        let rows = [
            ("directory", cwd.to_string()),
            ("model", format!("{model} ({provider}{effort})")),
            (
                "sandbox",
                format!("{sandbox_mode}, approvals {approval_policy}"),
            ),
            ("session", id.to_owned()),
        ];
        for (name, value) in rows {
            let name = self.paint.dim(&format!("{name:<10}"));
            writeln!(self.out, "{name} {}", sanitize(&value).replace('\n', "\\n"))?;
        }
        Ok(())
    }

    fn item_event(&mut self, id: Option<ItemId>, event: &ItemEvent) -> io::Result<()> {
        match event {
            ItemEvent::Started {
                item: TurnItem::CommandExecution(command),
            } => {
                self.release_held()?;
                if self.begun.is_some() {
                    return Ok(()); // Its line comes with its output.
                }
                self.begun = id;
                self.command_line(&command.command)
            }
            ItemEvent::Completed {
                item: TurnItem::CommandExecution(command),
            } => {
                // Of commands that ran side by side, each output stands under its own line.
                if self.begun.take() != id || id.is_none() {
                    self.command_line(&command.command)?;
                }
                self.command_end(command)
            }
            ItemEvent::Updated {
                item:
                    TurnItem::CommandExecution(CommandExecution {
                        session_id: Some(session),
                        ..
                    }),
            } => {
                self.begun = None;
                let text = format!("  goes on in the background as session {session}");
                writeln!(self.out, "{}\n", self.paint.dim(&text))
            }
            ItemEvent::Started {
                item: TurnItem::TodoList { items },
            }
            | ItemEvent::Updated {
                item: TurnItem::TodoList { items },
            } => {
                self.release_held()?;
                self.plan(items)
            }
            ItemEvent::Completed { item } => self.completed(item),
            ItemEvent::Writing { draft } if self.is_watched => self.writing(id, draft),
            ItemEvent::Discarded => {
                id.and_then(|id| self.drafts.remove(&id));
                Ok(())
            }
            ItemEvent::Started { .. }
            | ItemEvent::Writing { .. }
            | ItemEvent::Updated { .. }
            | ItemEvent::Delta { .. } => Ok(()),
        }
    }

    /// One line for each file that the model begins to write.
    fn writing(&mut self, id: Option<ItemId>, draft: &EditDraft) -> io::Result<()> {
        let Some(id) = id else { return Ok(()) };
        let n_told = self.drafts.insert(id, draft.files.len()).unwrap_or(0);
        for file in draft.files.iter().skip(n_told) {
            self.release_held()?;
            self.begun = None;
            let path = sanitize(&file.path).replace('\n', "\\n");
            writeln!(self.out, "{}", self.paint.dim(&format!("… writing {path}")))?;
        }
        Ok(())
    }

    fn completed(&mut self, item: &TurnItem) -> io::Result<()> {
        match item {
            TurnItem::AgentMessage { text } => {
                self.release_held()?;
                self.held = Some(text.clone());
                Ok(())
            }
            TurnItem::Reasoning { text } => {
                self.release_held()?;
                self.begun = None;
                let text = self.paint.dim(sanitize(text).trim());
                writeln!(self.out, "{text}\n")
            }
            TurnItem::FileChange(change) => {
                self.release_held()?;
                self.file_change(change)
            }
            TurnItem::CommandExecution(_) | TurnItem::TodoList { .. } => Ok(()),
            TurnItem::Error { message } => self.note(message),
        }
    }

    fn command_line(&mut self, command: &str) -> io::Result<()> {
        let command = sanitize(command);
        let mut lines = command.trim_end().lines();
        let first = lines.next().unwrap_or_default();
        writeln!(
            self.out,
            "{} {}",
            self.paint.cyan("$"),
            self.paint.bold(first)
        )?;
        for line in lines {
            writeln!(self.out, "  {line}")?;
        }
        Ok(())
    }

    fn command_end(&mut self, command: &CommandExecution) -> io::Result<()> {
        let output = sanitize(&command.aggregated_output);
        let lines: Vec<&str> = output.trim_end().lines().collect();
        let n_hidden = lines.len().saturating_sub(HEAD_LINES + TAIL_LINES);
        for (line_idx, line) in lines.iter().enumerate() {
            if n_hidden > 1 && line_idx == HEAD_LINES {
                let text = format!("  … {n_hidden} lines …");
                writeln!(self.out, "{}", self.paint.dim(&text))?;
            }
            if n_hidden > 1 && (HEAD_LINES..HEAD_LINES + n_hidden).contains(&line_idx) {
                continue;
            }
            writeln!(self.out, "{}", self.paint.dim(&format!("  {line}")))?;
        }
        let end = self.describe_end(command);
        writeln!(self.out, "  {end}\n")
    }

    fn describe_end(&self, command: &CommandExecution) -> String {
        let time = command
            .duration_ms
            .map(|ms| format!(" in {}", duration(ms)))
            .unwrap_or_default();
        match (command.status, command.exit_code) {
            (ItemStatus::Completed, None) if command.is_input => self.paint.dim("typed"),
            (ItemStatus::Declined, _) => self.paint.yellow("declined"),
            (_, Some(0)) => self.paint.green(&format!("✓ exit 0{time}")),
            (_, Some(code)) => self.paint.red(&format!("✗ exit {code}{time}")),
            (_, None) => self.paint.red(&format!("✗ stopped{time}")),
        }
    }

    fn file_change(&mut self, change: &FileChange) -> io::Result<()> {
        self.begun = None;
        for path in &change.changes {
            let kind = match path.kind {
                ChangeKind::Add => "add",
                ChangeKind::Delete => "delete",
                ChangeKind::Update => "update",
            };
            let path = sanitize(&path.path).replace('\n', "\\n");
            writeln!(
                self.out,
                "{} {kind} {}",
                self.paint.cyan("±"),
                self.paint.bold(&path)
            )?;
        }
        match change.status {
            ItemStatus::Declined => writeln!(self.out, "  {}\n", self.paint.yellow("declined")),
            ItemStatus::Failed => {
                let reason = change.error.as_deref().unwrap_or("not applied");
                for line in sanitize(reason).lines().take(MAX_REASON_LINES) {
                    writeln!(self.out, "  {}", self.paint.red(&format!("✗ {line}")))?;
                }
                writeln!(self.out)
            }
            ItemStatus::Completed | ItemStatus::InProgress => writeln!(self.out),
        }
    }

    /// What the patches of the turn changed, at its end.
    fn turn_diff(&mut self, unified_diff: &str, left_out: &[String]) -> io::Result<()> {
        self.begun = None;
        let text = sanitize(unified_diff);
        let mut lines = text.lines();
        writeln!(self.out, "{}", self.paint.dim("changes of this turn"))?;
        for line in lines.by_ref().take(MAX_DIFF_LINES) {
            let is_name = line.starts_with("+++ ") || line.starts_with("--- ");
            let line = match line.chars().next() {
                Some('d') => self.paint.bold(line),
                Some('+') if !is_name => self.paint.green(line),
                Some('-') if !is_name => self.paint.red(line),
                Some(_) | None => self.paint.dim(line),
            };
            writeln!(self.out, "  {line}")?;
        }
        let n_more = lines.count();
        if n_more > 0 {
            let text = format!("  … {n_more} more lines; `agent apply` has them all");
            writeln!(self.out, "{}", self.paint.dim(&text))?;
        }
        for file in left_out {
            self.note(&format!("not in the diff: {}", sanitize(file)))?;
        }
        writeln!(self.out)
    }

    fn plan(&mut self, items: &[TodoItem]) -> io::Result<()> {
        self.begun = None;
        writeln!(self.out, "{}", self.paint.dim("plan"))?;
        for item in items {
            let text = sanitize(&item.text).replace('\n', " ");
            let line = match (item.completed, item.in_progress) {
                (true, _) => self.paint.dim(&format!("✓ {text}")),
                (false, true) => self.paint.bold(&format!("→ {text}")),
                (false, false) => format!("• {text}"),
            };
            writeln!(self.out, "  {line}")?;
        }
        writeln!(self.out)
    }

    fn notice(&mut self, notice: &NoticeEvent) -> io::Result<()> {
        match notice {
            NoticeEvent::Warning { message } => self.note(message),
            NoticeEvent::Retry {
                attempt,
                limit,
                delay_ms,
                reason,
            } => {
                let wait = duration(*delay_ms);
                self.note(&format!(
                    "reconnecting {attempt}/{limit} in {wait}: {reason}"
                ))
            }
            NoticeEvent::Declined { what } => self.note(&format!("declined: {what}")),
            NoticeEvent::TurnDiff {
                unified_diff,
                left_out,
            } => self.turn_diff(unified_diff, left_out),
            NoticeEvent::Commands { .. }
            | NoticeEvent::Usage { .. }
            | NoticeEvent::Context(_)
            | NoticeEvent::Diff { .. } => Ok(()),
        }
    }
}

/// Milliseconds as people read them.
fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}
