use std::path::PathBuf;

use super::*;

/// Sends keys one millisecond apart, as a terminal does with a paste.
fn burst(composer: &mut Composer, now: &mut Instant, text: &str) -> Vec<ComposerEffect> {
    let mut effects = Vec::new();
    for character in text.chars() {
        *now += Duration::from_millis(1);
        let key = match character {
            '\r' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
            '\n' => KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL),
            '\t' => KeyEvent::new(KeyCode::Tab, KeyModifiers::NONE),
            other => KeyEvent::new(KeyCode::Char(other), KeyModifiers::NONE),
        };
        effects.push(composer.key(key, *now));
    }
    effects
}

#[test]
fn line_ends_of_an_unbracketed_paste_submit_nothing() {
    for text in [
        "line1\rline2\rline3",
        "line1\nline2\nline3",
        "line1\r\rline3\r\r",
    ] {
        let mut composer = new();
        let mut now = Instant::now();
        let effects = burst(&mut composer, &mut now, text);
        assert!(
            effects.iter().all(|e| *e == ComposerEffect::Changed),
            "{text:?}"
        );
        assert_eq!(composer.deadline(), None, "{text:?}");
        now += Duration::from_secs(1);
        assert_eq!(composer.tick(now), ComposerEffect::None);
        let enter = parse("Enter")[0];
        let submission = submitted(composer.key(enter, now));
        assert_eq!(submission.text, text.replace('\r', "\n"));
    }
}

#[test]
fn an_enter_that_nothing_follows_is_one() {
    let mut composer = new();
    let mut now = Instant::now();
    let effects = burst(&mut composer, &mut now, "hello\r");
    assert_eq!(effects.last(), Some(&ComposerEffect::Changed));
    let deadline = composer.deadline().unwrap();
    assert!(deadline - now <= Duration::from_millis(30));
    assert_eq!(
        composer.tick(now + Duration::from_millis(20)),
        ComposerEffect::None
    );
    assert_eq!(submitted(composer.tick(deadline)).text, "hello");
    assert_eq!(composer.deadline(), None);
}

#[test]
fn characters_are_shown_at_once() {
    let mut composer = new();
    burst(&mut composer, &mut Instant::now(), "abc");
    assert_eq!(state(&composer), "abc|");
}

#[test]
fn fast_typing_is_no_paste() {
    let mut composer = new();
    let mut now = Instant::now();
    for key in parse("hello") {
        now += Duration::from_millis(15);
        composer.key(key, now);
    }
    now += Duration::from_millis(15);
    assert_eq!(
        submitted(composer.key(parse("Enter")[0], now)).text,
        "hello"
    );
}

#[test]
fn a_pasted_tab_neither_queues_nor_completes() {
    let mut composer = new();
    burst(&mut composer, &mut Instant::now(), "if x:\r\treturn\r");
    assert_eq!(state(&composer), "if x:\n\treturn\n|");
}

#[test]
fn a_pause_within_a_paste_does_not_end_it() {
    let mut composer = new();
    let mut now = Instant::now();
    burst(&mut composer, &mut now, "line1\rline2");
    now += Duration::from_millis(20);
    burst(&mut composer, &mut now, "\rline3");
    assert_eq!(state(&composer), "line1\nline2\nline3|");
}

#[test]
fn an_enter_is_a_line_break_when_another_key_or_paste_follows() {
    let mut composer = new();
    let mut now = Instant::now();
    burst(&mut composer, &mut now, "hello\r");
    let effect = composer.key(parse("C-c")[0], now);
    assert_eq!(effect, ComposerEffect::Unhandled(parse("C-c")[0]));
    assert_eq!(state(&composer), "hello\n|");
    composer.clear();
    burst(&mut composer, &mut now, "hello\r");
    paste(&mut composer, "x");
    assert_eq!(
        (state(&composer), composer.deadline()),
        ("hello\nx|".to_owned(), None)
    );
}

#[track_caller]
fn check_image(text: &str, path: &str) {
    let mut composer = new();
    composer.paste(text, &|asked: &Path| asked == Path::new(path));
    let name = Path::new(path).file_name().unwrap().to_str().unwrap();
    assert_eq!(state(&composer), format!("[Image #1 {name}]|"), "{text:?}");
    let submission = submitted(press(&mut composer, "Enter"));
    assert_eq!(submission.images, [PathBuf::from(path)]);
    assert_eq!(submission.text, format!("[Image #1 {name}]"));
}

#[test]
fn the_path_of_an_image_attaches_it() {
    check_image("/tmp/a.png", "/tmp/a.png");
    check_image(" /tmp/a.PNG\n", "/tmp/a.PNG");
    check_image("'/tmp/a b.jpg'", "/tmp/a b.jpg");
    check_image("\"/tmp/a b.webp\"", "/tmp/a b.webp");
    check_image(r"/tmp/a\ b\(1\).gif", "/tmp/a b(1).gif");
    check_image(r"/tmp/a\b.png", r"/tmp/a\b.png");
    check_image("file:///tmp/a%20b.jpeg", "/tmp/a b.jpeg");
    check_image("file://localhost/tmp/%E6%BC%A2.png", "/tmp/漢.png");
}

#[test]
fn what_is_no_image_stays_text() {
    for text in [
        "/tmp/a.txt",
        "/tmp/a.png /tmp/b.png",
        "file://host/a.png",
        "file:///%",
        "'",
    ] {
        let mut composer = new();
        composer.paste(text, &|asked: &Path| {
            asked != Path::new("/tmp/a.png /tmp/b.png")
        });
        assert_eq!(state(&composer), format!("{text}|"));
    }
    let mut composer = new();
    paste(&mut composer, "/tmp/gone.png");
    assert_eq!(state(&composer), "/tmp/gone.png|");
}

#[test]
fn the_name_of_an_image_cannot_fake_the_screen() {
    let mut composer = new();
    composer.attach_image("/tmp/a\u{1b}[2J\n\u{202e}.png".into());
    assert_eq!(state(&composer), "[Image #1 a \\u{202e}.png]|");
}
