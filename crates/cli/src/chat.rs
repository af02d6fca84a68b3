//! `agent` and `agent resume`: from the command line to the terminal interface.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;

use agent_config::TuiConfig;
use agent_core::{Config, Resume, ThreadManager, ThreadOptions, Variables};
use agent_tui::{
    Begin, NotificationMethod, StatusItem, TerminalFacts, TuiError, TuiExit, TuiOptions,
    TuiSettings,
};

use crate::args::{ChatArgs, ChatResumeArgs, CommonArgs};
use crate::config::{self, UserFile};
use crate::exec::cwd;
use crate::{home, log, say};

/// The longest first message from standard input, in bytes.
const MAX_STDIN_BYTES: u64 = 4 << 20;

/// Begins a new conversation.
pub(crate) fn begin(
    common: &CommonArgs,
    chat: &ChatArgs,
    prompt: Option<String>,
) -> anyhow::Result<ExitCode> {
    run(common, chat, Begin::New, prompt)
}

/// Goes on with a saved one.
pub(crate) fn resume(common: &CommonArgs, args: ChatResumeArgs) -> anyhow::Result<ExitCode> {
    let mut words = args.words.into_iter();
    let begin = if args.last {
        Begin::Resume(Resume::Last)
    } else {
        match words.next() {
            Some(id) => Begin::Resume(Resume::Id(id)),
            None => Begin::Choose { all: args.all },
        }
    };
    let prompt = words.next();
    if let Some(word) = words.next() {
        return Err(say::usage(
            format!("unexpected argument `{word}`"),
            "put what you want to say in quotes",
        ));
    }
    run(common, &args.chat, begin, prompt)
}

fn run(
    common: &CommonArgs,
    chat: &ChatArgs,
    begin: Begin,
    prompt: Option<String>,
) -> anyhow::Result<ExitCode> {
    if !io::stdout().is_terminal() {
        let task = prompt.as_deref().unwrap_or("explain this repository");
        return Err(say::usage(
            "standard output is no terminal",
            format!("to run one task without a terminal: agent exec {task:?}"),
        ));
    }
    let prompt = with_stdin(prompt)?;
    let variables = home::variables();
    let agent_home = home::agent_home(&variables)?;
    let log_warning = log::start(&agent_home, &variables);
    let loaded = config::read(common, &agent_home, UserFile::Read, Vec::new())?;
    let (settings, mut warnings) = settings(&loaded.config, &variables);
    warnings.extend(loaded.warnings);
    warnings.extend(log_warning);
    let mut thread = ThreadOptions::interactive(cwd(common)?);
    thread.writable_roots.clone_from(&common.add_dir);
    let images = chat.image.iter().map(|path| thread.cwd.join(path));
    let options = TuiOptions {
        settings,
        begin,
        prompt,
        images: images.collect(),
        // Who says what commands may touch has decided already.
        first_start: !agent_home.join("config.toml").exists(),
        ask_trust: loaded.config.sandbox_mode.is_none(),
        warnings,
        terminal: terminal_facts(&variables),
        plain: chat.plain || is_dumb(),
        version: env!("CARGO_PKG_VERSION"),
        thread,
    };
    let manager = ThreadManager::new(
        agent_home,
        loaded.config,
        variables,
        agent_tools::tools,
        env!("CARGO_PKG_VERSION"),
    );
    drive(manager, options)
}

fn drive(manager: ThreadManager, options: TuiOptions) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let exit = runtime.block_on(agent_tui::run(manager, options));
    // A read of the keyboard that still waits must not keep us.
    runtime.shutdown_background();
    match exit {
        Ok(TuiExit::Left) => Ok(ExitCode::SUCCESS),
        Ok(TuiExit::Signal(number)) => {
            let code = u8::try_from(128 + number).unwrap_or(u8::MAX);
            Ok(ExitCode::from(code))
        }
        Err(err @ (TuiError::Start(_) | TuiError::Terminal(_))) => {
            Err(say::usage_from(&err, err.hint()))
        }
        Err(err @ (TuiError::Signals(_) | TuiError::Panicked { .. })) => Err(err.into()),
    }
}

/// What is piped in comes before or instead of the prompt; the keys come from the terminal.
fn with_stdin(prompt: Option<String>) -> anyhow::Result<Option<String>> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(prompt);
    }
    let mut bytes = Vec::new();
    stdin.lock().take(MAX_STDIN_BYTES).read_to_end(&mut bytes)?;
    let piped = String::from_utf8_lossy(&bytes);
    let piped = piped.trim_end();
    Ok(match (prompt, piped.is_empty()) {
        (prompt, true) => prompt,
        (None, false) => Some(piped.to_owned()),
        (Some(prompt), false) => Some(format!("{prompt}\n\n<stdin>\n{piped}\n</stdin>")),
    })
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The settings of the interface, and what is wrong with them.
fn settings(config: &Config, variables: &Variables) -> (TuiSettings, Vec<String>) {
    let TuiConfig {
        theme,
        vim_mode_default,
        animations,
        notifications,
        notification_method,
        notify_always,
        status_line,
    } = config.tui.clone();
    let mut warnings = Vec::new();
    let usual = TuiSettings::default();
    let theme = theme.unwrap_or_else(|| usual.theme.clone());
    if !agent_tui::theme_names().contains(&theme.as_str()) {
        warnings.push(format!(
            "`tui.theme` is `{theme}`; there are: {}",
            agent_tui::theme_names().join(", ")
        ));
    }
    let mut named = |word: &String| {
        let item = StatusItem::named(word);
        if item.is_none() {
            warnings.push(format!(
                "`tui.status_line` has `{word}`; there are: model, directory, branch, \
                 permissions, context"
            ));
        }
        item
    };
    let status_line = status_line.map(|words| words.iter().filter_map(&mut named).collect());
    let settings = TuiSettings {
        vim: vim_mode_default,
        theme,
        reduced_motion: !animations,
        no_color: home::no_color(),
        notifications,
        notification: notification(notification_method.as_deref(), variables),
        notify_always,
        status_line: status_line.unwrap_or(usual.status_line),
        keep_history: config.keep_history,
    };
    (settings, warnings)
}

fn notification(method: Option<&str>, variables: &Variables) -> NotificationMethod {
    match method {
        Some("osc9") => NotificationMethod::Osc9,
        Some("osc777") => NotificationMethod::Osc777,
        Some("bel") => NotificationMethod::Bell,
        _ => {
            let program = variables.get("TERM_PROGRAM").and_then(|name| name.to_str());
            let term = variables.get("TERM").and_then(|name| name.to_str());
            let knows_osc9 = matches!(program, Some("iTerm.app" | "WezTerm" | "ghostty"))
                || term == Some("xterm-kitty")
                || variables.get("WT_SESSION").is_some();
            let knows_osc777 = variables.get("VTE_VERSION").is_some()
                || term.is_some_and(|term| term.starts_with("foot") || term.starts_with("rxvt"));
            match (knows_osc9, knows_osc777) {
                (true, _) => NotificationMethod::Osc9,
                (false, true) => NotificationMethod::Osc777,
                (false, false) => NotificationMethod::Bell,
            }
        }
    }
}

/// Variables that only terminals set which wrap lines anew when they become narrower.
const REFLOWING: &[&str] = &[
    "ALACRITTY_WINDOW_ID",
    "GHOSTTY_RESOURCES_DIR",
    "ITERM_SESSION_ID",
    "KITTY_WINDOW_ID",
    "KONSOLE_VERSION",
    "TERMINATOR_UUID",
    "TILIX_ID",
    "TMUX",
    "VTE_VERSION",
    "WEZTERM_PANE",
    "WT_SESSION",
    "ZELLIJ",
];

/// Values of `TERM` of such terminals.
const REFLOWING_TERMS: &[&str] = &[
    "alacritty",
    "foot",
    "tmux",
    "wezterm",
    "xterm-kitty",
    "xterm-ghostty",
];

fn terminal_facts(variables: &Variables) -> TerminalFacts {
    let text = |name: &str| variables.get(name).and_then(|value| value.to_str());
    let is_set = |name: &&str| variables.get(name).is_some();
    let term = text("TERM").unwrap_or_default();
    let reflows = REFLOWING.iter().any(is_set)
        || REFLOWING_TERMS.iter().any(|name| term.starts_with(name))
        || matches!(
            text("TERM_PROGRAM"),
            Some("vscode" | "Apple_Terminal" | "tmux")
        );
    let progress = matches!(text("TERM_PROGRAM"), Some("ghostty" | "WezTerm"))
        || is_set(&"WT_SESSION")
        || is_set(&"ConEmuPID");
    let tmux = is_set(&"TMUX");
    TerminalFacts {
        reflows,
        progress: progress && !tmux,
        tmux,
        home: variables.get("HOME").map(PathBuf::from),
        editor: text("VISUAL").or_else(|| text("EDITOR")).map(str::to_owned),
    }
}
