//! What has happened in the thread: cells that are finished, and steps that still change.
//!
//! Finished cells are printed in the order in which their steps began. A message is printed
//! while it arrives, as far as it can no longer change; consecutive looks around (reads,
//! searches) are held back until it is known that no more of them follow.

mod live;

use std::time::{Duration, Instant};

use agent_protocol::{
    CommandExecution, CommandSource, EditDraft, ItemDelta, ItemEvent, ItemId, ItemStatus, TurnItem,
};

use crate::cell::{Cell, Detail};
use crate::cells::{self, AgentMessage};
use crate::look::Look;
use crate::row::Row;
use live::LiveItem;

/// How much output of a finished command is kept for the transcript, in bytes.
const KEPT_OUTPUT_BYTES: usize = 64 << 10;

/// The transcript of a thread.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    cells: Vec<Cell>,
    /// Rows that wait to be printed.
    unprinted: Vec<Row>,
    /// Whether anything was printed, so that a blank row belongs before the next cell.
    begun: bool,
    /// Steps that have begun, in order.
    live: Vec<LiveItem>,
    /// Edits that the model is still writing.
    drafts: Vec<(ItemId, EditDraft)>,
    /// Looks around that ended and may be joined by more.
    explored: Vec<CommandExecution>,
    /// The plan, which changes until its steps are done or the turn ends.
    plan: Option<LiveItem>,
    /// The plan as it was printed when its steps were done.
    printed_plan: Option<(ItemId, TurnItem)>,
}

impl Transcript {
    /// The finished cells, oldest first.
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Appends a cell that is finished from the start.
    pub(crate) fn push(&mut self, cell: Cell, look: &Look) {
        self.flush_explored(look);
        self.print_cell(cell, look);
    }

    /// Appends a cell that is on the terminal already.
    pub(crate) fn push_printed(&mut self, cell: Cell, look: &Look) {
        self.flush_explored(look);
        self.begun = true;
        self.cells.push(cell);
    }

    /// Appends a step that is finished from the start.
    pub(crate) fn push_item(&mut self, item: TurnItem, look: &Look) {
        self.print_done(item, None, look);
    }

    /// What the user said, oldest first.
    pub(crate) fn user_messages(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().filter_map(Cell::user_message)
    }

    /// Begins with no cell; what is printed stays.
    pub(crate) fn begin_anew(&mut self) {
        self.cells.clear();
    }

    /// Leaves out the user's message of this number and all after it; what is printed stays.
    pub(crate) fn cut_before(&mut self, index: usize) {
        let users = self.cells.iter().enumerate();
        let mut users = users.filter(|(_, cell)| cell.user_message().is_some());
        if let Some((at, _)) = users.nth(index) {
            self.cells.truncate(at);
        }
    }

    /// Whether a blank row belongs between what is printed and what still changes: not within a
    /// message that is printed in part.
    pub(crate) fn wants_gap(&self) -> bool {
        let within = self.live.first().and_then(|live| live.stream.as_ref());
        self.begun && !within.is_some_and(AgentMessage::has_begun)
    }

    /// The transcript as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let parts: Vec<String> = self.cells.iter().filter_map(Cell::markdown).collect();
        parts.join("\n\n") + "\n"
    }

    /// Takes an event of a step.
    pub(crate) fn item_event(&mut self, id: ItemId, event: ItemEvent, look: &Look, now: Instant) {
        match event {
            ItemEvent::Writing { draft } => {
                self.drafts.retain(|(other, _)| *other != id);
                self.drafts.push((id, draft));
            }
            ItemEvent::Started { item } => self.start(id, item, now),
            ItemEvent::Updated { item } => {
                if self.is_printed_plan(id, &item) {
                    return;
                }
                if self.find(id).is_none() {
                    self.start(id, item.clone(), now);
                }
                if let Some(live) = self.find(id) {
                    live.done |= is_left(&item);
                    live.item = item;
                }
                self.finish_plan();
            }
            ItemEvent::Delta { delta } => self.delta(id, delta),
            ItemEvent::Completed { item } if self.is_printed_plan(id, &item) => {}
            ItemEvent::Completed { item } => self.complete(id, item, now),
            ItemEvent::Discarded => self.discard(id, look),
        }
        self.print_ready(look);
    }

    /// A plan whose steps are all done is finished, so that it stands before what is said then.
    fn finish_plan(&mut self) {
        let is_done = |live: &mut LiveItem| match &live.item {
            TurnItem::TodoList { items } => items.iter().all(|item| item.completed),
            TurnItem::AgentMessage { .. }
            | TurnItem::Reasoning { .. }
            | TurnItem::CommandExecution(_)
            | TurnItem::FileChange(_)
            | TurnItem::Error { .. } => false,
        };
        if let Some(mut plan) = self.plan.take_if(is_done) {
            plan.done = true;
            self.printed_plan = Some((plan.id, plan.item.clone()));
            self.live.push(plan);
        }
    }

    /// Whether this is the plan as it was printed already.
    fn is_printed_plan(&self, id: ItemId, item: &TurnItem) -> bool {
        let printed = self.printed_plan.as_ref();
        printed.is_some_and(|(printed_id, printed)| *printed_id == id && printed == item)
    }

    /// Everything that still changes has ended, whatever it says of itself.
    pub(crate) fn end_turn(&mut self, look: &Look) {
        self.drafts.clear();
        for live in &mut self.live {
            live.done = true;
            live.stop();
        }
        if let Some(mut plan) = self.plan.take() {
            plan.done = true;
            self.live.push(plan);
        }
        self.print_ready(look);
        self.flush_explored(look);
    }

    /// Whether a step is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.live.iter().any(|live| !live.done)
    }

    /// The command that runs now, if one does.
    pub(crate) fn running_command(&self) -> Option<&str> {
        let running = self.live.iter().filter(|live| !live.done);
        running
            .filter_map(|live| match &live.item {
                TurnItem::CommandExecution(command) => Some(command.command.as_str()),
                TurnItem::AgentMessage { .. }
                | TurnItem::Reasoning { .. }
                | TurnItem::FileChange(_)
                | TurnItem::TodoList { .. }
                | TurnItem::Error { .. } => None,
            })
            .next_back()
    }

    /// The edit that the model is writing now, if it is.
    pub(crate) fn draft(&self) -> Option<&EditDraft> {
        self.drafts.last().map(|(_, draft)| draft)
    }

    /// How many files of an edit that is being written are known.
    pub(crate) fn n_drafted(&self, id: ItemId) -> usize {
        let draft = self.drafts.iter().find(|(other, _)| *other == id);
        draft.map_or(0, |(_, draft)| draft.files.len())
    }

    /// Rows that are finished and have not been printed yet.
    pub(crate) fn take_unprinted(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.unprinted)
    }

    /// Rows that still change, at most `max` of them: the last ones.
    pub(crate) fn live_rows(&self, look: &Look, max: usize, now: Instant) -> Vec<Row> {
        let mut rows = Vec::new();
        if !self.explored.is_empty() {
            append(&mut rows, cells::explored(&self.explored, look));
        }
        for live in &self.live {
            append(&mut rows, live.rows(look, max, now));
        }
        if let Some(TurnItem::TodoList { items }) = self.plan.as_ref().map(|plan| &plan.item) {
            append(&mut rows, cells::plan(items, look));
        }
        let n_over = rows.len().saturating_sub(max);
        rows.split_off(n_over)
    }

    /// The text of the last thing that the model said.
    pub(crate) fn last_message(&self) -> Option<&str> {
        self.cells.iter().rev().find_map(|cell| match cell {
            Cell::Item(TurnItem::AgentMessage { text }) => Some(text.as_str()),
            Cell::Item(_)
            | Cell::Explored(_)
            | Cell::User { .. }
            | Cell::Rows(_)
            | Cell::Header(_)
            | Cell::Notice { .. }
            | Cell::Interrupted
            | Cell::Footer { .. } => None,
        })
    }

    fn find(&mut self, id: ItemId) -> Option<&mut LiveItem> {
        let plan = self.plan.iter_mut();
        self.live.iter_mut().chain(plan).find(|live| live.id == id)
    }

    fn start(&mut self, id: ItemId, item: TurnItem, started: Instant) {
        let is_plan = matches!(item, TurnItem::TodoList { .. });
        let live = LiveItem::new(id, item, started);
        if is_plan {
            self.plan = Some(live);
        } else {
            self.live.push(live);
        }
    }

    fn delta(&mut self, id: ItemId, delta: ItemDelta) {
        if let Some(live) = self.find(id) {
            live.take(delta);
        }
    }

    fn complete(&mut self, id: ItemId, item: TurnItem, now: Instant) {
        if self.find(id).is_none() {
            self.start(id, item.clone(), now);
        }
        if let Some(plan) = self.plan.take_if(|plan| plan.id == id) {
            self.live.push(plan);
        }
        if let Some(live) = self.find(id) {
            live.item = item;
            live.done = true;
        }
    }

    fn discard(&mut self, id: ItemId, look: &Look) {
        self.drafts.retain(|(other, _)| *other != id);
        let index = self.live.iter().position(|live| live.id == id);
        let Some(index) = index else { return };
        let live = self.live.remove(index);
        let was_shown = live.stream.is_some_and(|stream| stream.has_begun());
        if was_shown {
            let text = "the answer was cut off here and begins again";
            self.push(Cell::warning(text), look);
        }
    }

    /// Prints what has ended, from the front, and what can no longer change of the message
    /// that is next.
    fn print_ready(&mut self, look: &Look) {
        while self.live.first().is_some_and(|live| live.done) {
            let live = self.live.remove(0);
            self.print_done(live.item, live.stream, look);
        }
        let Some(LiveItem {
            stream: Some(stream),
            ..
        }) = self.live.first_mut()
        else {
            return;
        };
        let is_first = !stream.has_begun();
        let rows = stream.take_finished(look);
        if rows.is_empty() {
            return;
        }
        if is_first {
            self.flush_explored(look);
            self.separate();
        }
        self.unprinted.extend(rows);
    }

    fn print_done(&mut self, mut item: TurnItem, stream: Option<AgentMessage>, look: &Look) {
        if let TurnItem::CommandExecution(command) = &mut item {
            keep_ends(command);
            if is_exploration(command) {
                self.explored.push(command.clone());
                return;
            }
        }
        let cell = Cell::Item(item);
        match stream {
            Some(mut stream) if stream.has_begun() => {
                let rows = stream.finish(look);
                self.unprinted.extend(rows);
                self.cells.push(cell);
            }
            Some(_) | None => self.push(cell, look),
        }
    }

    fn flush_explored(&mut self, look: &Look) {
        if !self.explored.is_empty() {
            let explored = std::mem::take(&mut self.explored);
            self.print_cell(Cell::Explored(explored), look);
        }
    }

    fn print_cell(&mut self, cell: Cell, look: &Look) {
        let rows = cell.rows(look, Detail::Brief);
        if !rows.is_empty() {
            self.separate();
            self.unprinted.extend(rows);
        }
        self.cells.push(cell);
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            self.unprinted.push(Row::blank());
        }
    }
}

/// Whether a command only looked around, and well.
fn is_exploration(command: &CommandExecution) -> bool {
    command.source == CommandSource::Model
        && command.status == ItemStatus::Completed
        && cells::exploration(&command.command).is_some()
}

/// Whether a command goes on after its call: its end will be a cell of its own.
fn is_left(item: &TurnItem) -> bool {
    matches!(
        item,
        TurnItem::CommandExecution(CommandExecution {
            status: ItemStatus::InProgress,
            session_id: Some(_),
            ..
        })
    )
}

/// Leaves out the middle of a very long output; the whole is in the session's file.
fn keep_ends(command: &mut CommandExecution) {
    let output = &command.aggregated_output;
    if output.len() <= KEPT_OUTPUT_BYTES {
        return;
    }
    let half = KEPT_OUTPUT_BYTES / 2;
    let (head, rest) = output.split_at(output.floor_char_boundary(half));
    let (middle, tail) = rest.split_at(rest.ceil_char_boundary(rest.len() - half));
    command.aggregated_output = format!(
        "{head}\n… {} bytes are not kept here …\n{tail}",
        middle.len()
    );
}

/// Appends a cell, a blank row before it if it is not the first.
fn append(rows: &mut Vec<Row>, cell: Vec<Row>) {
    if !rows.is_empty() && !cell.is_empty() {
        rows.push(Row::blank());
    }
    rows.extend(cell);
}

/// How long a turn has been running, in words: `12s`, `3m 04s`, `1h 02m`.
pub(crate) fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m {:02}s", seconds % 60),
        (_, _) => format!("{hours}h {minutes:02}m"),
    }
}

#[cfg(test)]
mod tests;
