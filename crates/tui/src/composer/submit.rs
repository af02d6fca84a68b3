//! What a finished text is: a message, a command, or a line for the shell.

use super::completion::{Item, Token};
use super::{Composer, ComposerEffect, Submission};

impl Composer {
    /// Hands out the text. `message` is what a message becomes.
    pub(super) fn submit(
        &mut self,
        message: impl Fn(Submission) -> ComposerEffect,
    ) -> ComposerEffect {
        let text = self.editor.text().expanded();
        if text.trim().is_empty() {
            return ComposerEffect::None;
        }
        let shown = self.editor.text().as_str().to_owned();
        if shown.starts_with('!') {
            let line = text.strip_prefix('!').unwrap_or_default().trim().to_owned();
            if line.is_empty() {
                return ComposerEffect::None;
            }
            return self.hand_out(&text, ComposerEffect::Shell(line));
        }
        if let Some((name, argument)) = self.command(&shown, &text) {
            let effect = ComposerEffect::Command { name, argument };
            return self.hand_out(&text, effect);
        }
        if let Some(name) = unknown_command(&shown) {
            return ComposerEffect::UnknownCommand(name.to_owned());
        }
        let submission = Submission {
            images: self.editor.text().images(),
            draft: self.draft(),
            shown,
            text: text.clone(),
        };
        self.hand_out(&text, message(submission))
    }

    /// The command that a text is, and its argument.
    fn command(&self, shown: &str, text: &str) -> Option<(String, String)> {
        let name = shown.strip_prefix('/')?.split(char::is_whitespace).next()?;
        let known = self.commands.iter().find(|command| command.name == name)?;
        let argument = text.get(1 + name.len()..).unwrap_or_default().trim();
        Some((known.name.clone(), argument.to_owned()))
    }

    /// Enter on the list of commands. What stands behind the name is its argument.
    pub(super) fn run_selected(&mut self, token: &Token, item: &Item) -> ComposerEffect {
        let text = self.editor.text();
        let behind = text.slice(token.range.end..text.len()).expanded();
        let rest = behind.split_once(char::is_whitespace);
        let argument = rest.map_or("", |(_, rest)| rest).trim().to_owned();
        let line = format!("/{} {argument}", item.name);
        let effect = ComposerEffect::Command {
            name: item.name.clone(),
            argument,
        };
        self.hand_out(line.trim_end(), effect)
    }

    fn hand_out(&mut self, text: &str, effect: ComposerEffect) -> ComposerEffect {
        self.clear();
        self.history.remember(text);
        effect
    }
}

/// The name, when a text is nothing but a slash and a name. `/etc/passwd is odd` is a message.
fn unknown_command(shown: &str) -> Option<&str> {
    let name = shown.trim_end().strip_prefix('/')?;
    let is_name = !name.is_empty() && !name.contains(|c: char| c == '/' || c.is_whitespace());
    is_name.then_some(name)
}
