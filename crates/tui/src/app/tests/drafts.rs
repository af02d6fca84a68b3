//! An edit while the model writes it.

use agent_protocol::{ChangeKind, EditDraft, Event, FileDraft, ItemEvent, TurnEvent};
use expect_test::expect;

use super::pictures::at_widths;
use super::support::*;

fn file(path: &str, kind: ChangeKind, added: usize, removed: usize) -> FileDraft {
    FileDraft {
        path: path.to_owned(),
        kind,
        added,
        removed,
    }
}

fn writing(files: &[FileDraft], n_left_out: usize) -> ItemEvent {
    let draft = EditDraft {
        files: files.to_vec(),
        n_left_out,
        added: files.iter().map(|file| file.added).sum(),
        removed: files.iter().map(|file| file.removed).sum(),
    };
    ItemEvent::Writing { draft }
}

/// Writes one file, and then more of it.
fn one_file(face: &mut Face) {
    face.started();
    face.wait(5000);
    let path = "src/parser.rs";
    face.item(3, writing(&[file(path, ChangeKind::Update, 0, 0)], 0));
    face.item(3, writing(&[file(path, ChangeKind::Update, 12, 3)], 0));
}

#[test]
fn the_file_that_is_being_written() {
    at_widths(
        one_file,
        [
            expect![[r#"
        ----
        • Writing src/p… (5s · esc to interrupt)

        › ▏Ask, @ files, / commands, ? shortcuts
          big-model high
    "#]],
            expect![[r#"
        ----
        • Writing src/parser.rs (+12 -3) (5s · esc to interrupt)

        › ▏Ask anything, @ files, / commands, ? shortcuts
          big-model high · ~/work/parser · main · workspace-write · on-request
    "#]],
            expect![[r#"
        ----
        • Writing src/parser.rs (+12 -3) (5s · esc to interrupt)

        › ▏Ask anything, @ files, / commands, ? shortcuts
          big-model high · ~/work/parser · main · workspace-write · on-request
    "#]],
        ],
    );
}

#[test]
fn several_files_that_are_being_written() {
    at_widths(
        |face| {
            one_file(face);
            let files = [
                file("src/parser.rs", ChangeKind::Update, 12, 3),
                file("src/\u{1b}[2Jnew\r.rs", ChangeKind::Add, 5, 0),
            ];
            face.item(3, writing(&files, 0));
        },
        [
            expect![[r#"
            ----
            • Writing src/\… (5s · esc to interrupt)

            › ▏Ask, @ files, / commands, ? shortcuts
              big-model high
        "#]],
            expect![[r#"
            ----
            • Writing src/\u{1b}[2Jnew\r.rs (+5 -0) · 2 files (+17… (5s · esc to interrupt)

            › ▏Ask anything, @ files, / commands, ? shortcuts
              big-model high · ~/work/parser · main · workspace-write · on-request
        "#]],
            expect![[r#"
            ----
            • Writing src/\u{1b}[2Jnew\r.rs (+5 -0) · 2 files (+17 -3) (5s · esc to interrupt)

            › ▏Ask anything, @ files, / commands, ? shortcuts
              big-model high · ~/work/parser · main · workspace-write · on-request
        "#]],
        ],
    );
}

#[test]
fn what_is_said_of_a_file() {
    let mut face = Face::bare(80, 24);
    one_file(&mut face);
    let mut said = String::new();
    for (draft, n_left_out) in [
        (file("a", ChangeKind::Add, 0, 0), 0),
        (file("a", ChangeKind::Delete, 0, 0), 0),
        (file("z", ChangeKind::Add, 1, 0), 1000),
    ] {
        face.item(3, writing(&[draft], n_left_out));
        let live = face.live();
        let row = live.lines().find(|row| row.contains("Writing")).unwrap();
        said.push_str(row);
        said.push('\n');
    }
    expect![[r#"
        • Writing a (5s · esc to interrupt)
        • Writing a (deletion) (5s · esc to interrupt)
        • Writing z (+1 -0) · 1001 files (+1 -0) (5s · esc to interrupt)
    "#]]
    .assert_eq(&said);
}

#[test]
fn a_draft_leaves_nothing_behind() {
    let mut face = Face::bare(80, 24);
    one_file(&mut face);
    face.item(3, ItemEvent::Discarded);
    let shown = face.shown();
    assert!(!shown.contains("Writing"), "{shown}");
    assert!(shown.starts_with("----\n"), "{shown}");
    // Whatever is missing, nothing of it outlives the turn.
    face.item(4, writing(&[file("a", ChangeKind::Add, 1, 0)], 0));
    assert!(face.shown().contains("Writing a"));
    face.thread(Event::Turn(TurnEvent::Interrupted));
    face.started();
    let shown = face.shown();
    assert!(!shown.contains("Writing"), "{shown}");
}

#[test]
fn in_lines_each_file_is_told_once() {
    let mut face = Face::plain();
    face.app.echoes = true;
    one_file(&mut face);
    let files = [
        file("src/parser.rs", ChangeKind::Update, 20, 3),
        file("a\nb", ChangeKind::Add, 1, 0),
    ];
    face.item(3, writing(&files, 0));
    face.frame();
    let shown = face.shown();
    let printed = shown.split("----").next().unwrap();
    expect![[r#"
        Writing src/parser.rs

        Writing a\nb
    "#]]
    .assert_eq(printed);
}
