//! A terminal that only gets lines: no cursor movement, no colour, words instead of signs. For
//! screen readers and simple terminals.

use std::io;

use super::modes::write_all;
use crate::row::Row;

/// Writes lines, and a prompt where a line is waited for.
#[derive(Debug, Default)]
pub(crate) struct PlainTerminal {
    /// The prompt that stands at the end, waiting for a line.
    prompt: Option<&'static str>,
    /// What was asked last, so that it is asked once.
    asked: Vec<Row>,
}

impl PlainTerminal {
    /// Prints what is finished, what is asked if it is not the same as before, and the prompt.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn draw(
        &mut self,
        finished: &[Row],
        asked: Vec<Row>,
        prompt: Option<&'static str>,
    ) -> io::Result<()> {
        let new_question = !asked.is_empty() && asked != self.asked;
        let is_quiet = finished.is_empty() && !new_question && prompt == self.prompt;
        self.asked = asked;
        if is_quiet {
            return Ok(());
        }
        let mut out = String::new();
        if self.prompt.take().is_some() {
            out.push('\n');
        }
        let question = self.asked.iter().filter(|_| new_question);
        for row in finished.iter().chain(question) {
            out.push_str(row.text().trim_end());
            out.push('\n');
        }
        if let Some(prompt) = prompt {
            out.push_str(prompt);
        }
        self.prompt = prompt;
        write_all(&out)
    }

    /// The user ended the line of the prompt.
    pub(crate) fn line_ended(&mut self) {
        self.prompt = None;
        self.asked.clear();
    }
}
