//! The TU cases: what other terminal agents got wrong.

use agent_test_support::{Item, Step};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::support::{
    CTRL_A, CTRL_C, CTRL_D, EMPTY, ENTER, ESC, answers, ask, command, composed, escalated,
    is_restored, last_words, ready, request, start, submit, type_in,
};
use crate::support::{Scene, agent};

#[test]
fn tu_01_exit_restores_the_terminal() {
    for way in ["ctrl-c", "ctrl-d", "/quit"] {
        let scene = answers(&["hi there"]);
        let mut terminal = start(&scene);
        ask(&terminal, "hello", "hi there");
        match way {
            "ctrl-c" => {
                terminal.send(CTRL_C);
                terminal.wait_for("press it again to quit");
                terminal.send(CTRL_C);
            }
            "ctrl-d" => terminal.send(CTRL_D),
            _ => submit(&terminal, way),
        }
        assert_eq!(terminal.wait().code, Some(0), "{way}");
        is_restored(&terminal, way);
    }
}

#[test]
fn tu_03_signals_restore_the_terminal() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let scene = answers(&["hi there"]);
        let mut terminal = start(&scene);
        ask(&terminal, "hello", "hi there");
        terminal.signal(signal);
        assert_eq!(terminal.wait().code, Some(code), "{signal}");
        is_restored(&terminal, signal);
    }
}

#[test]
fn tu_05_a_paste_without_brackets_is_not_sent_at_its_line_ends() {
    for line_end in ["\n", "\r"] {
        let scene = answers(&["got-it"]);
        let terminal = start(&scene);
        terminal.send(["line1", "line2", "line3"].join(line_end));
        terminal.wait_for("line3");
        terminal.settle(std::time::Duration::from_millis(300));
        assert_eq!(scene.server.requests().len(), 0, "{line_end:?}");
        terminal.send(ENTER);
        let words = last_words(&request(&scene, 1));
        assert_eq!(words.trim(), "line1\nline2\nline3", "{line_end:?}");
    }
}

#[test]
fn tu_07_a_folded_paste_is_sent_whole() {
    let scene = answers(&["got-it"]);
    scene.workspace.write("filename_here.txt", "x");
    let big: String = (b'a'..=b'z').cycle().take(2000).map(char::from).collect();
    let terminal = start(&scene);
    terminal.send(format!("\x1b[200~{big}\x1b[201~"));
    terminal.wait_for("[Pasted");
    terminal.send(" @filename_h");
    terminal.wait_for("filename_here.txt");
    terminal.send("\t");
    terminal.wait_for_screen("the completed mention", |rows| {
        let composer = rows.iter().rfind(|row| row.starts_with('›'));
        composer.is_some_and(|row| row.contains("filename_here.txt"))
    });
    terminal.send(" tail-word");
    terminal.wait_for("tail-word");
    terminal.send(CTRL_A);
    terminal.send("head-word ");
    terminal.wait_for("› head-word");
    terminal.send(ENTER);
    let words = last_words(&request(&scene, 1));
    assert!(words.contains(&big), "{words}");
    assert!(!words.contains("[Pasted"), "{words}");
    assert!(words.starts_with("head-word "), "{words}");
    assert!(words.ends_with("tail-word"), "{words}");
    assert!(words.contains("filename_here.txt"), "{words}");
}

#[test]
fn tu_09_narrow_spaces_and_combining_marks_are_edited_by_what_is_seen() {
    let scene = answers(&["got-it"]);
    let terminal = start(&scene);
    terminal.send("\x1b[200~a\u{202f}b\u{301}\u{200d}c\x1b[201~");
    terminal.wait_for("c");
    // To the start, over the first letter, away with the space, then a letter in its place.
    terminal.send("\x1b[D".repeat(6));
    terminal.send("\x1b[C");
    terminal.send("\x1b[3~");
    terminal.send("Z");
    terminal.wait_for("aZ");
    terminal.send("\x7f");
    terminal.send("Y");
    terminal.wait_for("aY");
    terminal.send(ENTER);
    assert_eq!(last_words(&request(&scene, 1)), "aYb\u{301}\u{200d}c");
}

#[test]
fn tu_13_no_text_of_others_reaches_the_terminal_as_it_is() {
    let name = "na\x1b[2Jme.txt";
    let cmd = "echo visible; rm -r precious \x1b[2K\r echo harmless \u{202e}gnitset";
    let said = "model \x1b]0;pwn\x07text \x1b[2J\x1b[31mred \u{202e}gnitset";
    let mut call = escalated(cmd);
    call["justification"] = "why \x1b[2K\rnot".into();
    let scene = Scene::new(vec![
        Step::message(said),
        Step::items(vec![Item::command("ls --show-control-chars")]),
        Step::message("second-answer"),
        Step::items(vec![Item::command_with(call)]),
        Step::message("third-answer"),
    ]);
    scene.workspace.write(name, "x");
    let terminal = start(&scene);
    ask(&terminal, "one", "model");
    ask(&terminal, "two", "second-answer");
    let before = terminal.n_bytes();
    submit(&terminal, "three");
    terminal.wait_for("Would you like");
    let screen = terminal.screen().join(" ");
    let words: Vec<&str> = screen.split_whitespace().collect();
    assert!(words.join(" ").contains("rm -r precious"), "{screen}");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    for sequence in ["\x1b]0;pwn", "\x1b[2J\x1b[31mred", "\x1b[2Jme", "\u{202e}"] {
        assert!(!raw.contains(sequence), "{sequence:?}");
    }
    let raw = terminal.raw();
    let asked = String::from_utf8_lossy(&raw[before..]);
    assert!(!asked.contains("\x1b[2K\r"), "{asked:?}");
    terminal.send(ESC);
    composed(&terminal, EMPTY);
}

#[test]
fn tu_15_what_is_piped_in_is_the_first_message_and_keys_are_read() {
    let scene = answers(&["piped-answer"]);
    let script = "echo hi-piped | \"$@\"";
    let terminal = ready(
        agent_test_support::TerminalCommand::new("sh", &scene.workspace)
            .args(["-c", script, "sh"])
            .arg(agent())
            .args(["-s", "workspace-write"]),
    );
    let words = last_words(&request(&scene, 1));
    assert!(words.contains("hi-piped"), "{words}");
    terminal.wait_for("piped-answer");
    type_in(&terminal, "zz-key");
}

#[test]
fn tu_17_copy_gives_the_markdown_and_the_mouse_is_left_to_the_terminal() {
    let markdown = "# Title\n\n- item **bold**\n\n```py\nprint(1)\n```\n";
    let scene = answers(&[markdown]);
    let terminal = ready(
        command(&scene)
            .env("SSH_TTY", "/dev/pts/9")
            .env("SSH_CONNECTION", "1 2 3 4"),
    );
    ask(&terminal, "go", "Title");
    submit(&terminal, "/copy");
    terminal.wait_for_line("copied");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    let (_, copied) = raw.split_once("\x1b]52;c;").expect("an OSC 52");
    let (copied, _) = copied.split_once('\x07').expect("its end");
    let copied = BASE64_STANDARD.decode(copied).expect("base64");
    assert_eq!(String::from_utf8_lossy(&copied).trim(), markdown.trim());
    for mode in ["\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h"] {
        assert!(!raw.contains(mode), "{mode:?}");
    }
}
