//! A step of a turn while it changes.

use std::time::Instant;

use agent_protocol::{ItemDelta, ItemId, ItemStatus, TurnItem};

use crate::cell::{Cell, Detail};
use crate::cells::{self, AgentMessage, CommandView};
use crate::look::Look;
use crate::row::Row;

/// How much of the output of a running command is held for showing, in bytes.
pub(super) const LIVE_OUTPUT_BYTES: usize = 16 << 10;

/// A step that still changes.
#[derive(Debug)]
pub(super) struct LiveItem {
    pub(super) id: ItemId,
    pub(super) item: TurnItem,
    started: Instant,
    /// The message as it arrives.
    pub(super) stream: Option<AgentMessage>,
    /// The last part of a command's output.
    pub(super) output: String,
    pub(super) done: bool,
}

impl LiveItem {
    /// A step that began at `started`.
    pub(super) fn new(id: ItemId, item: TurnItem, started: Instant) -> Self {
        let stream = match &item {
            TurnItem::AgentMessage { .. } => Some(AgentMessage::new()),
            TurnItem::Reasoning { .. }
            | TurnItem::CommandExecution(_)
            | TurnItem::FileChange(_)
            | TurnItem::TodoList { .. }
            | TurnItem::Error { .. } => None,
        };
        Self {
            id,
            item,
            started,
            stream,
            output: String::new(),
            done: false,
        }
    }

    /// A part of it arrived.
    pub(super) fn take(&mut self, delta: ItemDelta) {
        match (delta, &mut self.item) {
            (ItemDelta::Message { text }, _) => {
                if let Some(stream) = &mut self.stream {
                    stream.push(&text);
                }
            }
            (ItemDelta::Reasoning { text }, TurnItem::Reasoning { text: whole }) => {
                whole.push_str(&text);
            }
            (ItemDelta::CommandOutput { text }, _) => {
                self.output.push_str(&text);
                let n_over = self.output.len().saturating_sub(LIVE_OUTPUT_BYTES);
                if n_over > LIVE_OUTPUT_BYTES {
                    let cut = self.output.ceil_char_boundary(n_over);
                    self.output.drain(..cut);
                }
            }
            (ItemDelta::Reasoning { .. }, _) => {}
        }
    }

    /// It will not get to its end: a command or an edit that still runs has failed.
    pub(super) fn stop(&mut self) {
        match &mut self.item {
            TurnItem::CommandExecution(command) if command.status == ItemStatus::InProgress => {
                command.status = ItemStatus::Failed;
                if command.aggregated_output.is_empty() {
                    command.aggregated_output = std::mem::take(&mut self.output);
                }
            }
            TurnItem::FileChange(change) if change.status == ItemStatus::InProgress => {
                change.status = ItemStatus::Failed;
            }
            TurnItem::CommandExecution(_)
            | TurnItem::FileChange(_)
            | TurnItem::AgentMessage { .. }
            | TurnItem::Reasoning { .. }
            | TurnItem::TodoList { .. }
            | TurnItem::Error { .. } => {}
        }
    }

    pub(super) fn rows(&self, look: &Look, max: usize, now: Instant) -> Vec<Row> {
        if let Some(stream) = &self.stream {
            return stream.tail(look, max);
        }
        if let (TurnItem::CommandExecution(command), false) = (&self.item, self.done) {
            let view = CommandView {
                live_output: &self.output,
                elapsed: Some(now.saturating_duration_since(self.started)),
                ..CommandView::default()
            };
            return cells::command(command, &view, look);
        }
        Cell::Item(self.item.clone()).rows(look, Detail::Brief)
    }
}
