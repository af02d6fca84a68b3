//! What the configuration says of the interface.

/// Settings of the interface: the keys of `[tui]` and what the terminal asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one field a switch of the configuration or the environment"
)]
pub struct TuiSettings {
    /// Vim keys in the composer: `tui.vim_mode_default`.
    pub vim: bool,
    /// The name of the theme: `tui.theme`.
    pub theme: String,
    /// Nothing moves by itself: `tui.animations = false`.
    pub reduced_motion: bool,
    /// `NO_COLOR` is set.
    pub no_color: bool,
    /// Call the user when a turn ends or an answer is needed: `tui.notifications`.
    pub notifications: bool,
    /// How: `tui.notification_method`.
    pub notification: NotificationMethod,
    /// Call the user even when the terminal is focused: `tui.notification_condition = "always"`.
    pub notify_always: bool,
    /// What the status line shows, in order: `tui.status_line`.
    pub status_line: Vec<StatusItem>,
    /// Keep what was typed for later sessions: `history.persistence`.
    pub keep_history: bool,
}

/// How the user is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationMethod {
    /// OSC 9, which kitty, Ghostty, Windows Terminal and others know.
    Osc9,
    /// OSC 777, which urxvt, foot and VTE terminals know.
    Osc777,
    /// The bell.
    Bell,
}

/// A part of the status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusItem {
    /// Model and effort.
    Model,
    /// The directory.
    Directory,
    /// The branch.
    Branch,
    /// What commands may touch, and when the user is asked.
    Permissions,
    /// How much of the context window is left.
    Context,
}

impl StatusItem {
    /// All of them, in the usual order.
    pub const ALL: &[Self] = &[
        Self::Model,
        Self::Directory,
        Self::Branch,
        Self::Permissions,
        Self::Context,
    ];

    /// The word of the configuration.
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "model" => Some(Self::Model),
            "directory" | "current-dir" => Some(Self::Directory),
            "branch" | "git-branch" => Some(Self::Branch),
            "permissions" => Some(Self::Permissions),
            "context" | "context-remaining" => Some(Self::Context),
            _ => None,
        }
    }
}

impl Default for TuiSettings {
    fn default() -> Self {
        Self {
            vim: false,
            theme: "ansi".to_owned(),
            reduced_motion: false,
            no_color: false,
            notifications: true,
            notification: NotificationMethod::Osc9,
            notify_always: false,
            status_line: StatusItem::ALL.to_vec(),
            keep_history: true,
        }
    }
}
