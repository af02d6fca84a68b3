use super::*;

#[test]
fn enter_submits_and_tab_queues() {
    let mut composer = with(" a\r\u{202e}b |");
    let submission = submitted(press(&mut composer, "Enter"));
    assert_eq!(submission.text, " a\r\u{202e}b ");
    assert!(composer.is_empty());
    let effect = press(&mut composer, "later Tab");
    assert!(matches!(effect, ComposerEffect::Queue(s) if s.text == "later"));
    assert!(composer.is_empty());
    // Both are remembered.
    press(&mut composer, "Up Up");
    assert!(state(&composer).starts_with(" a"));
}

#[test]
fn nothing_is_not_sent() {
    for text in ["|", " \n |", "!|", "! |"] {
        let mut composer = with(text);
        assert_eq!(press(&mut composer, "Enter"), ComposerEffect::None);
        assert_eq!(state(&composer), text);
    }
}

#[test]
fn a_bang_runs_a_command() {
    let effect = press(&mut with("! ls -l |"), "Enter");
    assert_eq!(effect, ComposerEffect::Shell("ls -l".to_owned()));
    let mut composer = with("!|");
    let long = "echo x\n".repeat(20);
    paste(&mut composer, &long);
    let effect = press(&mut composer, "Enter");
    assert_eq!(effect, ComposerEffect::Shell(long.trim().to_owned()));
}

#[track_caller]
fn check_command(text: &str, keys: &str, name: &str, argument: &str) {
    let mut composer = with(text);
    let expected = ComposerEffect::Command {
        name: name.to_owned(),
        argument: argument.to_owned(),
    };
    assert_eq!(press(&mut composer, keys), expected, "{text:?} {keys}");
    assert!(composer.is_empty());
}

#[test]
fn commands_run() {
    check_command("/quit|", "Enter", "quit", "");
    check_command("/model  fast one |", "Enter", "model", "fast one");
    check_command("|", "/mod Enter", "model", "");
    check_command("|", "/ Down Enter", "model", "");
    check_command("|", "/ Up Enter", "quit", "");
    check_command("|", "/mod Tab fast Enter", "model", "fast");
    check_command("/mod| fast", "x BS Enter", "model", "fast");
    check_command("/quit|", "Esc Enter", "quit", "");
    check_command("/quit|", "Esc Tab", "quit", "");
}

#[test]
fn what_is_no_command_is_a_message() {
    for text in [
        "/etc/passwd is odd|",
        "/etc/passwd|",
        "/frobnicate this|",
        " /quit|",
        "/ |",
    ] {
        let submission = submitted(press(&mut with(text), "Enter"));
        assert_eq!(submission.text, text.replace('|', ""));
    }
}

#[test]
fn an_unknown_command_stays() {
    let mut composer = with("/frobnicate|");
    let effect = press(&mut composer, "Enter");
    assert_eq!(
        effect,
        ComposerEffect::UnknownCommand("frobnicate".to_owned())
    );
    assert_eq!(state(&composer), "/frobnicate|");
}

#[test]
fn a_folded_paste_is_no_command() {
    let mut composer = new();
    paste(&mut composer, &"/quit\n".repeat(20));
    assert_eq!(
        submitted(press(&mut composer, "Enter")).text,
        "/quit\n".repeat(20)
    );
}
