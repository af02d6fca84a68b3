//! The `/` commands. Those whose engine does not exist yet are absent.

use std::path::PathBuf;
use std::time::Instant;

use agent_protocol::{ApprovalPolicy, Op, SandboxMode, SettingsChange};

use super::{App, Effect};
use crate::cell::Cell;
use crate::command_table::COMMANDS;
use crate::composer::{CommandInfo, ComposerOptions, Submission};
use crate::look::Theme;
use crate::overlay::menu::{Choice, Menu, Purpose};
use crate::overlay::{Overlay, help};
use crate::report;
use crate::settings::TuiSettings;

/// What `/init` asks the model to do.
const INIT: &str = "Write a file AGENTS.md at the root of this repository for coding agents: how \
    it is laid out, how to build it, run its tests and checks, and the conventions that its code \
    keeps. Look at the repository first and state only what you found there. Keep it under 60 \
    lines. If there is one already, improve it instead of replacing it.";

/// The words of the efforts that providers know.
const EFFORTS: &[&str] = &["minimal", "low", "medium", "high", "xhigh"];

/// What a composer is made with.
pub(super) fn composer_options(settings: &TuiSettings) -> ComposerOptions {
    let commands = COMMANDS.iter();
    ComposerOptions {
        vim: settings.vim,
        commands: commands
            .map(|(name, summary, takes_argument)| CommandInfo {
                name: (*name).to_owned(),
                summary: (*summary).to_owned(),
                takes_argument: *takes_argument,
            })
            .collect(),
        skills: Vec::new(),
    }
}

impl App {
    pub(super) fn command(&mut self, name: &str, argument: &str, now: Instant) -> Vec<Effect> {
        match name {
            "model" => return self.choose_model(argument),
            "permissions" => self.open(permissions_menu(self)),
            "new" => return vec![Effect::NewThread],
            "resume" => return vec![Effect::ListSessions { all: false }],
            "fork" => return vec![Effect::ForkBefore(usize::MAX)],
            "back" => return self.choose_earlier_message(),
            "context" => return Self::submit(Op::ReportContext),
            "status" => self.show_status(),
            "diff" => return Self::submit(Op::ShowDiff),
            "init" => return self.send(&Submission::of_text(INIT, Vec::new()), now),
            "copy" => return self.copy(),
            "export" => {
                let path = (!argument.is_empty()).then(|| PathBuf::from(argument));
                return vec![Effect::Export(path)];
            }
            "theme" => return self.choose_theme(argument),
            "vim" => return self.switch(Switch::Vim),
            "settings" => {
                let menu = settings_menu(&self.settings);
                self.open(menu);
            }
            "keymap" | "help" => self
                .overlays
                .push_back(Overlay::Help(help::Help::default())),
            "trust" => return vec![Effect::AskTrust],
            "ps" => return Self::submit(Op::ListCommands),
            "stop" => {
                let interrupt = self.is_busy().then_some(Op::Interrupt);
                let ops = interrupt
                    .into_iter()
                    .chain([Op::StopCommands, Op::ListCommands]);
                return ops.map(Effect::Submit).collect();
            }
            "quit" => return vec![Effect::Quit],
            _ => self.info_line(&format!("there is no command /{name}")),
        }
        Vec::new()
    }

    fn open(&mut self, menu: Menu) {
        self.overlays.push_back(Overlay::Menu(menu));
    }

    /// `/model NAME [EFFORT]`, or a menu.
    fn choose_model(&mut self, argument: &str) -> Vec<Effect> {
        let mut words = argument.split_whitespace();
        let Some(model) = words.next() else {
            let menu = effort_menu(self);
            self.open(menu);
            return Vec::new();
        };
        let effort = words.next().map(|effort| Some(effort.to_owned()));
        vec![Effect::Configure(SettingsChange {
            model: Some(model.to_owned()),
            reasoning_effort: effort,
            ..SettingsChange::default()
        })]
    }

    fn choose_theme(&mut self, argument: &str) -> Vec<Effect> {
        if argument.is_empty() {
            let menu = theme_menu(&self.settings);
            self.open(menu);
            return Vec::new();
        }
        self.set_theme(argument)
    }

    fn set_theme(&mut self, name: &str) -> Vec<Effect> {
        let Some(theme) = Theme::named(name) else {
            let names = Theme::NAMES.join(", ");
            self.info_line(&format!("there is no theme `{name}`; there are: {names}"));
            return Vec::new();
        };
        if !self.settings.no_color {
            self.look.theme = theme;
        }
        name.clone_into(&mut self.settings.theme);
        self.info_line(&format!("theme {name}"));
        vec![Effect::StoreText("theme", name.to_owned()), Effect::Redraw]
    }

    /// Turns a switch over, tells it and stores it.
    fn switch(&mut self, switch: Switch) -> Vec<Effect> {
        let on = !switch.is_on(&self.settings);
        let settings = &mut self.settings;
        match switch {
            Switch::Vim => {
                settings.vim = on;
                self.composer.set_vim(on);
            }
            Switch::Animations => {
                settings.reduced_motion = !on;
                self.look.reduced_motion = !on;
            }
            Switch::Notifications => settings.notifications = on,
        }
        let state = if on { "on" } else { "off" };
        self.info_line(&format!("{} {state}", switch.label()));
        vec![Effect::StoreSwitch(switch.key(), on)]
    }

    fn copy(&mut self) -> Vec<Effect> {
        if let Some(text) = self.transcript.last_message() {
            return vec![Effect::Copy(text.to_owned())];
        }
        self.info_line("there is no answer to copy yet");
        Vec::new()
    }

    fn show_status(&mut self) {
        let status = report::Status {
            info: &self.info,
            branch: self.branch.as_deref(),
            last_request: self.last_request,
            theme: &self.settings.theme,
        };
        let rows = report::status(&status, &self.look);
        self.transcript.push(Cell::Rows(rows), &self.look);
    }

    /// What the choice of a menu means.
    pub(super) fn chosen(&mut self, purpose: Purpose, choice: &str) -> Vec<Effect> {
        match purpose {
            Purpose::Effort => {
                let effort = (choice != DEFAULT).then(|| choice.to_owned());
                vec![Effect::Configure(SettingsChange {
                    reasoning_effort: Some(effort),
                    ..SettingsChange::default()
                })]
            }
            Purpose::Permissions if choice == FULL_ACCESS => {
                self.open(full_access_menu());
                Vec::new()
            }
            Purpose::Permissions | Purpose::FullAccess => Self::set_permissions(choice),
            Purpose::Settings => {
                let switch = Switch::ALL.iter().find(|switch| switch.key() == choice);
                switch.map_or_else(Vec::new, |switch| self.switch(*switch))
            }
            Purpose::Theme => self.set_theme(choice),
            Purpose::Trust => vec![Effect::Trust(choice == TRUST)],
            Purpose::Back => self.go_back(choice),
        }
    }

    fn set_permissions(choice: &str) -> Vec<Effect> {
        let preset = PERMISSIONS.iter().find(|preset| preset.name == choice);
        let Some(preset) = preset else {
            return Vec::new();
        };
        vec![Effect::Configure(SettingsChange {
            approval_policy: Some(preset.approval),
            sandbox_mode: Some(preset.sandbox),
            ..SettingsChange::default()
        })]
    }

    /// Lists the user's messages to go back to.
    pub(super) fn choose_earlier_message(&mut self) -> Vec<Effect> {
        let messages: Vec<&str> = self.transcript.user_messages().collect();
        let choices = messages
            .iter()
            .enumerate()
            .rev()
            .map(|(index, text)| Choice {
                name: index.to_string(),
                label: text.split_whitespace().collect::<Vec<_>>().join(" "),
                detail: String::new(),
            });
        let choices: Vec<Choice> = choices.collect();
        if choices.is_empty() {
            self.info_line("there is no message to go back to");
            return Vec::new();
        }
        let title = "Go back to a message and edit it. What came after stays in the old session.";
        self.open(Menu::new(Purpose::Back, title, choices));
        Vec::new()
    }

    fn go_back(&mut self, choice: &str) -> Vec<Effect> {
        let Ok(index) = choice.parse::<usize>() else {
            return Vec::new();
        };
        let text = self.transcript.user_messages().nth(index);
        if let Some(text) = text.map(str::to_owned) {
            self.composer.set_text(&text);
        }
        vec![Effect::ForkBefore(index)]
    }
}

/// A setting of the interface that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    Vim,
    Animations,
    Notifications,
}

impl Switch {
    const ALL: &[Self] = &[Self::Vim, Self::Animations, Self::Notifications];

    /// Its key in `[tui]`.
    fn key(self) -> &'static str {
        match self {
            Self::Vim => "vim_mode_default",
            Self::Animations => "animations",
            Self::Notifications => "notifications",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Vim => "Vim keys",
            Self::Animations => "animations",
            Self::Notifications => "notifications",
        }
    }

    fn is_on(self, settings: &TuiSettings) -> bool {
        match self {
            Self::Vim => settings.vim,
            Self::Animations => !settings.reduced_motion,
            Self::Notifications => settings.notifications,
        }
    }
}

fn settings_menu(settings: &TuiSettings) -> Menu {
    let choices = Switch::ALL.iter().map(|switch| Choice {
        name: switch.key().to_owned(),
        label: switch.label().to_owned(),
        detail: if switch.is_on(settings) { "on" } else { "off" }.to_owned(),
    });
    let title = "Settings. /theme, /model and /permissions have menus of their own";
    Menu::new(Purpose::Settings, title, choices.collect())
}

/// The choice that leaves a setting to the provider.
const DEFAULT: &str = "default";

/// The choice that trusts a directory.
pub(super) const TRUST: &str = "trust";

/// What commands may touch and when the user is asked, together.
struct Preset {
    name: &'static str,
    detail: &'static str,
    sandbox: SandboxMode,
    approval: ApprovalPolicy,
}

/// The preset that is asked for twice.
const FULL_ACCESS: &str = "full access";

fn full_access_menu() -> Menu {
    let choice = |name: &str, label: &str| Choice {
        name: name.to_owned(),
        label: label.to_owned(),
        detail: String::new(),
    };
    let choices = vec![
        choice("", "No, keep what is set"),
        choice(FULL_ACCESS, "Yes, no sandbox and no questions"),
    ];
    let title = "Commands of the model could then do all that you can. Are you sure?";
    Menu::new(Purpose::FullAccess, title, choices)
}

const PERMISSIONS: &[Preset] = &[
    Preset {
        name: "read only",
        detail: "only reads; asks before it changes anything",
        sandbox: SandboxMode::ReadOnly,
        approval: ApprovalPolicy::OnRequest,
    },
    Preset {
        name: "workspace",
        detail: "writes in this workspace; asks to go beyond it",
        sandbox: SandboxMode::WorkspaceWrite,
        approval: ApprovalPolicy::OnRequest,
    },
    Preset {
        name: "workspace, ask for each command",
        detail: "as before; asks before all but reads",
        sandbox: SandboxMode::WorkspaceWrite,
        approval: ApprovalPolicy::Untrusted,
    },
    Preset {
        name: FULL_ACCESS,
        detail: "no sandbox, no questions; only on isolated machines",
        sandbox: SandboxMode::DangerFullAccess,
        approval: ApprovalPolicy::Never,
    },
];

fn permissions_menu(app: &App) -> Menu {
    let info = &app.info;
    let is_now = |preset: &Preset| {
        preset.sandbox == info.sandbox_mode && preset.approval == info.approval_policy
    };
    let choices = PERMISSIONS.iter().map(|preset| Choice {
        name: preset.name.to_owned(),
        label: preset.name.to_owned(),
        detail: preset.detail.to_owned(),
    });
    let title = format!(
        "Permissions. Now: {}, {}",
        info.sandbox_mode, info.approval_policy
    );
    let selected = PERMISSIONS.iter().position(is_now).unwrap_or(1);
    Menu::new(Purpose::Permissions, &title, choices.collect()).select(selected)
}

fn effort_menu(app: &App) -> Menu {
    let info = &app.info;
    let names = [DEFAULT].into_iter().chain(EFFORTS.iter().copied());
    let choices: Vec<Choice> = names
        .map(|name| Choice {
            name: name.to_owned(),
            label: name.to_owned(),
            detail: String::new(),
        })
        .collect();
    let now = info.reasoning_effort.as_deref().unwrap_or(DEFAULT);
    let selected = choices.iter().position(|choice| choice.name == now);
    let title = format!(
        "How much {} should think. Another model: /model NAME [EFFORT]",
        info.model
    );
    Menu::new(Purpose::Effort, &title, choices).select(selected.unwrap_or(0))
}

fn theme_menu(settings: &TuiSettings) -> Menu {
    let choices: Vec<Choice> = Theme::NAMES
        .iter()
        .map(|name| Choice {
            name: (*name).to_owned(),
            label: (*name).to_owned(),
            detail: String::new(),
        })
        .collect();
    let selected = choices
        .iter()
        .position(|choice| choice.name == settings.theme);
    Menu::new(Purpose::Theme, "Colours", choices).select(selected.unwrap_or(0))
}
