//! What keys do: the full screen first, then what is in front of the composer, the composer,
//! and at last the interface as a whole.

use std::time::Instant;

use agent_protocol::Op;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{App, Armed, CONFIRM_TIME, Effect, Queued, user_input};
use crate::composer::{ComposerEffect, Submission};
use crate::overlay::{Outcome, Overlay, help};

impl App {
    pub(super) fn key(&mut self, key: KeyEvent, now: Instant) -> Vec<Effect> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        let is_kept = self.has_guarded() && self.guard.keeps_away(key, now);
        self.guard.pressed(now);
        let armed = self.armed.take().filter(|(_, until)| *until > now);
        if let Some(effects) = self.global_key(key) {
            return effects;
        }
        if let Some(screen) = &mut self.screen {
            let outcome = screen.key(key);
            return self.screen_outcome(outcome);
        }
        if let Some(overlay) = self.overlays.front_mut() {
            if is_kept {
                return Vec::new();
            }
            let outcome = overlay.key(key, now);
            if outcome == Outcome::Unused && overlay.is_guarded() {
                self.guard.unused(key, now);
            }
            return self.overlay_outcome(outcome);
        }
        let is_up = key.code == KeyCode::Up && key.modifiers.is_empty();
        if is_up && self.composer.is_empty() && !self.queue.is_empty() {
            return self.edit_queued();
        }
        let effect = self.composer.key(key, now);
        if let ComposerEffect::Unhandled(key) = effect {
            return self.app_key(key, armed.map(|(what, _)| what), now);
        }
        self.composer_effect(effect, now)
    }

    /// Keys that mean the same everywhere.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other keys are the same here"
    )]
    fn global_key(&mut self, key: KeyEvent) -> Option<Vec<Effect>> {
        if key.modifiers != KeyModifiers::CONTROL {
            return None;
        }
        match key.code {
            KeyCode::Char('z') => Some(vec![Effect::Suspend]),
            KeyCode::Char('l') => Some(vec![Effect::Redraw]),
            KeyCode::Char('t') if self.screen.is_none() => {
                self.open_transcript();
                Some(Vec::new())
            }
            _ => None,
        }
    }

    pub(super) fn composer_effect(&mut self, effect: ComposerEffect, now: Instant) -> Vec<Effect> {
        match effect {
            ComposerEffect::None | ComposerEffect::Changed | ComposerEffect::Unhandled(_) => {
                Vec::new()
            }
            ComposerEffect::Queue(submission) if self.is_busy() => {
                let remember = Effect::Remember(submission.text.clone());
                self.queue.push_back(Queued { submission });
                vec![remember]
            }
            ComposerEffect::Submit(submission) | ComposerEffect::Queue(submission) => {
                self.send(&submission, now)
            }
            ComposerEffect::Command { name, argument } => {
                let line = format!("/{name} {argument}");
                let mut effects = self.command(&name, argument.trim(), now);
                effects.push(Effect::Remember(line.trim_end().to_owned()));
                effects
            }
            ComposerEffect::UnknownCommand(name) => {
                self.info_line(&format!("there is no command /{name}; /help lists them"));
                Vec::new()
            }
            ComposerEffect::Shell(command) => {
                if self.is_busy() {
                    self.commands.push_back(command.clone());
                }
                let remember = Effect::Remember(format!("!{command}"));
                vec![Effect::Submit(Op::UserCommand { command }), remember]
            }
            ComposerEffect::OpenEditor(text) => vec![Effect::OpenEditor(text)],
        }
    }

    /// Sends what the user wrote: it begins a turn, or steers the one that runs.
    pub(super) fn send(&mut self, submission: &Submission, now: Instant) -> Vec<Effect> {
        let remember = Effect::Remember(submission.text.clone());
        let mut effects = self.send_again(submission, now);
        effects.push(remember);
        effects
    }

    /// Sends what is in the history already.
    pub(super) fn send_again(&mut self, submission: &Submission, now: Instant) -> Vec<Effect> {
        if self.turn.is_some() {
            self.steering.push_back(submission.text.clone());
        } else {
            self.show_typed(&submission.text, submission.images.len());
            self.begin_turn(now);
        }
        vec![Effect::Submit(Op::UserTurn {
            input: user_input(submission),
            output_schema: None,
        })]
    }

    /// Keys that the composer has no use for.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other keys are the same here"
    )]
    fn app_key(&mut self, key: KeyEvent, armed: Option<Armed>, now: Instant) -> Vec<Effect> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => self.escape(armed, now),
            KeyCode::Char('c') if control => self.control_c(armed, now),
            KeyCode::Char('v') if control => vec![Effect::TakeImage],
            KeyCode::Char('d') if control && self.composer.is_empty() => {
                if !self.is_busy() || armed == Some(Armed::Quit) {
                    return vec![Effect::Quit];
                }
                self.armed = Some((Armed::Quit, now + CONFIRM_TIME));
                Vec::new()
            }
            KeyCode::Char('?') => {
                self.overlays
                    .push_back(Overlay::Help(help::Help::default()));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn escape(&mut self, armed: Option<Armed>, now: Instant) -> Vec<Effect> {
        if self.is_busy() {
            return self.interrupt();
        }
        if !self.composer.is_empty() || self.n_user_messages == 0 {
            return Vec::new();
        }
        if armed == Some(Armed::Back) {
            return self.choose_earlier_message();
        }
        self.armed = Some((Armed::Back, now + CONFIRM_TIME));
        Vec::new()
    }

    fn control_c(&mut self, armed: Option<Armed>, now: Instant) -> Vec<Effect> {
        if armed == Some(Armed::Quit) {
            return vec![Effect::Quit];
        }
        if !self.composer.is_empty() {
            // Up brings it back.
            let text = self.composer.text();
            self.composer.remember(&text);
            self.composer.clear();
            if !self.is_busy() {
                self.armed = Some((Armed::Quit, now + CONFIRM_TIME));
            }
            return Vec::new();
        }
        self.armed = Some((Armed::Quit, now + CONFIRM_TIME));
        if self.is_busy() {
            return self.interrupt();
        }
        Vec::new()
    }

    fn interrupt(&mut self) -> Vec<Effect> {
        if let Some(turn) = &mut self.turn {
            turn.interrupting = true;
        }
        vec![Effect::Submit(Op::Interrupt)]
    }

    /// Takes the last message of the queue back into the composer.
    fn edit_queued(&mut self) -> Vec<Effect> {
        if let Some(queued) = self.queue.pop_back() {
            self.composer.restore(&queued.submission.draft);
        }
        Vec::new()
    }
}
