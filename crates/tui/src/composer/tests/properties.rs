use proptest::prelude::*;

use super::super::rich_text::{Content, RichText};
use super::views::look;
use super::*;

const KEYS: &[&str] = &[
    "Left", "Right", "Up", "Down", "Home", "End", "BS", "Del", "Enter", "S-Enter", "Tab", "Esc",
    "C-a", "C-e", "C-b", "C-f", "C-w", "C-u", "C-k", "C-y", "M-y", "M-b", "M-f", "M-d", "M-BS",
    "C-7", "M-_", "C-r", "C-j", "C-Home", "C-End", "@", "/", "$", "!", "\\", "Space", "x",
];
const TEXTS: &[&str] = &[
    "a",
    "e\u{301}",
    "\u{301}",
    "\u{200d}",
    "👩\u{200d}💻",
    "🇩🇪",
    "🇩",
    "漢",
    "\u{202e}",
    "\u{200b}",
    "\r\n",
    "\t",
    "word two",
    "\u{e0061}",
    "\u{9b}",
    "\u{fe0f}",
    "नि",
    "각",
    "[Pasted text #1 +12 lines]",
    "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
    "ﷺ",
    "\u{1f3fd}",
    "\u{0600}",
    "\u{0d4e}",
];

#[derive(Debug, Clone)]
enum Step {
    Key(usize, u64),
    Vim(char),
    Paste(usize),
    Typed(char),
    Image,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..KEYS.len(), 0..40_u64).prop_map(|(key, pause)| Step::Key(key, pause)),
        2 => prop::sample::select("hjklwbe0^$gGiIaAoOxXDCsSdcypPurftFT;,~J23W".chars().collect::<Vec<_>>()).prop_map(Step::Vim),
        3 => (0..TEXTS.len()).prop_map(Step::Paste),
        2 => any::<char>().prop_map(Step::Typed),
        1 => Just(Step::Image),
    ]
}

fn take(composer: &mut Composer, step: &Step, now: &mut Instant) {
    match step {
        Step::Key(key, pause) => {
            *now += Duration::from_millis(*pause);
            for key in parse(KEYS[*key]) {
                composer.key(key, *now);
            }
        }
        Step::Vim(c) | Step::Typed(c) => {
            *now += Duration::from_millis(20);
            composer.key(KeyEvent::new(KeyCode::Char(*c), KeyModifiers::NONE), *now);
        }
        Step::Paste(text) => paste(composer, TEXTS[*text]),
        Step::Image => composer.attach_image("/tmp/a.png".into()),
    }
}

/// Each element stands where its label is, and the cursor on a border.
fn check_invariants(composer: &Composer) -> Result<(), TestCaseError> {
    let text = composer.editor.text();
    let cursor = composer.editor.cursor();
    prop_assert_eq!(text.snap(cursor), cursor, "{:?}", text);
    let mut end = 0;
    for element in text.elements() {
        prop_assert!(element.range.start >= end);
        end = element.range.end;
        let label = text.get(element.range.clone());
        let start = match element.content {
            Content::Paste(_) => "[Pasted text #",
            Content::Image(_) => "[Image #",
        };
        prop_assert!(
            label.starts_with(start) && label.ends_with(']'),
            "{:?}",
            text
        );
    }
    Ok(())
}

fn check_view(composer: &Composer, width: u16) -> Result<(), TestCaseError> {
    let view = composer.view(&look(width), 4);
    prop_assert!(!view.rows.is_empty() && view.rows.len() <= 4);
    prop_assert!(view.popup.len() <= super::super::view::POPUP_ROWS);
    for row in view.rows.iter().chain(&view.popup) {
        prop_assert!(row.width() <= usize::from(width), "{:?}", row.text());
        prop_assert!(
            !row.text().chars().any(char::is_control),
            "{:?}",
            row.text()
        );
    }
    let (column, row) = view.cursor.unwrap();
    prop_assert!(column < width);
    prop_assert!(usize::from(row) < view.rows.len() + view.popup.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_keys_break_it(
        steps in prop::collection::vec(step(), 0..60),
        vim: bool,
        width in 1..12_u16,
    ) {
        let mut composer = Composer::new(ComposerOptions { vim, ..options() });
        composer.set_columns(width);
        composer.set_history(vec!["old\nmessage".to_owned(), "漢字".to_owned()]);
        let mut now = Instant::now();
        for step in &steps {
            take(&mut composer, step, &mut now);
            check_invariants(&composer)?;
            check_view(&composer, width)?;
        }
        let draft = composer.draft();
        let mut other = new();
        other.restore(&draft);
        prop_assert_eq!(other.draft(), draft);
    }

    #[test]
    fn undo_gives_back_what_was_there(steps in prop::collection::vec(step(), 0..30)) {
        let mut composer = with("draft|");
        let mut now = Instant::now();
        for step in &steps {
            // What empties the composer or walks through the history begins anew; an undo
            // leaves something to be done again.
            let begins_anew = |key: &str| {
                matches!(key, "Enter" | "Tab" | "Up" | "Down" | "C-r" | "C-7" | "M-_")
            };
            if !matches!(step, Step::Key(key, _) if begins_anew(KEYS[*key])) {
                take(&mut composer, step, &mut now);
            }
        }
        let end = composer.editor.text().clone();
        for _ in 0..200 {
            composer.editor.undo();
        }
        prop_assert_eq!(composer.editor.text().as_str(), "draft");
        for _ in 0..200 {
            composer.editor.redo();
        }
        prop_assert_eq!(composer.editor.text(), &end);
    }

    #[test]
    fn pastes_are_sent_as_they_were(
        pastes in prop::collection::vec(prop_oneof!["[a-z\\[\\]# \n]{0,60}", "(a\n){20}", "x{1100}"], 1..6),
    ) {
        let mut composer = with("|.");
        for text in &pastes {
            paste(&mut composer, text);
        }
        let sent = composer.editor.text().expanded();
        prop_assert_eq!(sent, pastes.concat() + ".");
    }

    #[test]
    fn movement_goes_through_all_borders(parts in prop::collection::vec(0..TEXTS.len(), 0..12)) {
        let mut text = RichText::default();
        for part in parts {
            let part = TEXTS[part].replace("\r\n", "\n");
            match super::super::paste::folded(&part, 1) {
                Some(element) => text.push(&element),
                None => text.push(&RichText::plain(part)),
            }
        }
        let mut borders = vec![0];
        while borders[borders.len() - 1] < text.len() {
            let at = borders[borders.len() - 1];
            prop_assert!(text.next(at) > at);
            borders.push(text.next(at));
        }
        let mut back = vec![text.len()];
        while back[back.len() - 1] > 0 {
            let at = back[back.len() - 1];
            back.push(text.prev(at));
        }
        back.reverse();
        prop_assert_eq!(back, borders);
    }

    #[test]
    fn rows_hold_the_whole_text(text in "[a-c 漢\u{301}\n]{0,80}", capacity in 1..10_usize) {
        let text = RichText::plain(text);
        let layout = super::super::layout::wrap(&text, capacity);
        let mut at = 0;
        for row in 0..layout.len() {
            let range = layout.row(row);
            let gap = text.get(at..range.start);
            prop_assert!(gap.is_empty() || gap == "\n");
            prop_assert!(layout.position(&text, range.end).1 <= capacity);
            at = range.end;
        }
        prop_assert_eq!(at, text.len());
    }
}
