//! What is known of a patch while it arrives is what the parsed patch says in the end.

use agent_apply_patch::{FileOp, FileProgress, Mark, Patch, PatchProgress, parse};
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// What the whole patch says.
fn expected(patch: &Patch) -> Vec<FileProgress> {
    let files = patch.hunks.iter().map(|hunk| {
        let touched = hunk.touched();
        let count = |mark: Mark| match &hunk.op {
            FileOp::Add { content } if mark == Mark::Add => content.lines().count(),
            FileOp::Add { .. } | FileOp::Delete => 0,
            FileOp::Update { chunks, .. } => {
                let lines = chunks.iter().flat_map(|chunk| &chunk.lines);
                lines.filter(|line| line.mark == mark).count()
            }
        };
        FileProgress {
            path: touched.path.to_owned(),
            kind: touched.kind,
            move_to: touched.move_to.map(str::to_owned),
            added: count(Mark::Add),
            removed: count(Mark::Remove),
        }
    });
    files.collect()
}

/// What is known after a text that came in slices with these ends.
fn after(text: &str, cuts: &[usize]) -> PatchProgress {
    let mut progress = PatchProgress::default();
    let mut cuts: Vec<usize> = cuts
        .iter()
        .map(|cut| text.floor_char_boundary(*cut))
        .collect();
    cuts.sort_unstable();
    let mut shown = Vec::new();
    let mut from = 0;
    for cut in cuts.into_iter().chain([text.len()]) {
        let changed = progress.push(&text[from..cut]);
        assert!(changed || progress.files() == shown, "{text}");
        shown = progress.files().to_vec();
        from = cut;
    }
    progress.finish();
    progress
}

/// One line a file, after each line of the text that changes something.
#[track_caller]
fn check(text: &str, expected: &Expect) {
    let mut progress = PatchProgress::default();
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if progress.push(line) {
            let files = progress.files().iter().map(|file| {
                let FileProgress {
                    path,
                    kind,
                    move_to,
                    added,
                    removed,
                } = file;
                let to = move_to
                    .as_ref()
                    .map(|to| format!(" -> {to}"))
                    .unwrap_or_default();
                format!("{kind:?} {path}{to} +{added} -{removed}")
            });
            out.push_str(&files.collect::<Vec<_>>().join(", "));
            out.push('\n');
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn files_and_lines_are_told_as_they_come() {
    check(
        "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ fn f\n x\n-y\n+z\n\n*** Add File: n\n+1\n+2\n*** Delete File: d\n*** End Patch\n",
        &expect![[r#"
            Update a +0 -0
            Update a -> b +0 -0
            Update a -> b +0 -1
            Update a -> b +1 -1
            Update a -> b +1 -1, Add n +0 -0
            Update a -> b +1 -1, Add n +1 -0
            Update a -> b +1 -1, Add n +2 -0
            Update a -> b +1 -1, Add n +2 -0, Delete d +0 -0
        "#]],
    );
}

#[test]
fn what_is_no_patch_shows_no_file() {
    for text in [
        "",
        "*** Add File: a\n+x\n",
        "Here is the patch:\n*** Begin Patch\n*** Add File: a\n+x\n",
        "{\"input\": \"*** Begin Patch\\n*** Add File: a\\n\"}",
        "```\n```\n```\n```\n```\n*** Begin Patch\n*** Add File: a\n+x\n",
        "*** Begin Patch\n*** Add File:a\n+x\n*** Update File: \n+x\n",
    ] {
        assert_eq!(after(text, &[]).files(), &[], "{text}");
    }
}

#[test]
fn it_agrees_where_lines_look_like_something_else() {
    for (text, lines) in [
        // A line of context like the last marker, before a line like the end of the heredoc.
        (
            "apply_patch <<+x\n*** Begin Patch\n*** Update File: a\n@@\n *** End Patch\n+x\n y\n*** End Patch\n+x\n",
            (1, 0),
        ),
        // Right after the header of a file the next one may be indented, later it is context.
        (
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n  *** Add File: c\n+x\n*** Update File: d\n+y\n  *** Add File: e\n-z\n*** End Patch",
            (2, 1),
        ),
        // Only the first line is indented, so that the others mean what they say.
        (
            " *** Begin Patch\n*** Update File: a\n +x\n-y\n*** End Patch",
            (0, 1),
        ),
    ] {
        let progress = after(text, &[]);
        assert_eq!(progress.files(), expected(&parse(text).unwrap()), "{text}");
        assert_eq!(progress.lines(), lines, "{text}");
    }
}

#[test]
fn nothing_after_the_last_marker_counts() {
    let text = "*** Begin Patch\n*** Update File: a\n+x\n*** End Patch\n+y\n*** Add File: b\n";
    assert_eq!(after(text, &[]).lines(), (1, 0));
    assert_eq!(after(text, &[]).files().len(), 1);
}

#[test]
fn a_patch_of_very_many_files_is_held_by_its_ends() {
    let mut text = "*** Begin Patch\n".to_owned();
    for n in 0..1000 {
        text.push_str(&format!("*** Add File: f{n}\n+x\n+y\n"));
    }
    let progress = after(&text, &[]);
    let files = progress.files();
    assert_eq!(files.len() + progress.n_left_out(), 1000);
    assert_eq!(files[1].path, "f1");
    assert_eq!(files.last().unwrap().path, "f999");
    assert_eq!(progress.lines(), (2000, 0));
}

#[test]
fn of_a_line_without_end_only_the_beginning_is_held() {
    let long = "x".repeat(1 << 20);
    let text = format!("*** Begin Patch\n*** Update File: a\n+{long}\n-y\n*** Add File: {long}\n");
    let progress = after(&text, &[10, 100, 1000, 5000, 6000, 1 << 19]);
    assert_eq!(progress.lines(), (1, 1));
    assert!(progress.files()[1].path.len() < 5000);
}

/// Lines that are easily taken for something else.
fn body_line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[-+ ][a-c]{0,3}",
        1 => Just("@@ fn f".to_owned()),
        1 => "[ \t]{0,3}",
        1 => " {0,2}\\*\\*\\* End Patch ?",
        1 => Just("\\ No newline at end of file".to_owned()),
        1 => Just("*** End of File".to_owned()),
        1 => " {0,2}(EOF|```|~~~|\\+x|-)",
        1 => " {1,2}\\*\\*\\* (Add|Update|Delete) File: q",
    ]
}

fn file() -> impl Strategy<Value = String> {
    let path = "[a-c/é]{1,4}";
    let lines = prop::collection::vec(body_line(), 0..6);
    let added = prop::collection::vec("\\+[a-c]{0,2}", 0..4);
    prop_oneof![
        (path, added, any::<bool>(), 0..3usize).prop_map(|(path, lines, unended, n_blank)| {
            let mark = if unended {
                "\\ No newline at end of file\n"
            } else {
                ""
            };
            let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
            format!(
                "*** Add File: {path}\n{lines}{mark}{mark}{}",
                "\n".repeat(n_blank)
            )
        }),
        path.prop_map(|path| format!("  *** Delete File:  {path} \n")),
        (path, prop::option::of(path), any::<bool>(), lines).prop_map(|(path, to, bare, lines)| {
            let to = to
                .map(|to| format!("*** Move to: {to}\n"))
                .unwrap_or_default();
            let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let header = if bare { "" } else { "@@\n" };
            format!("*** Update File: {path}\n{to}{header}{lines}")
        }),
    ]
}

fn wrapper() -> impl Strategy<Value = (String, String)> {
    prop_oneof![
        Just(("```diff", "```")),
        Just(("~~~~", "~~~~")),
        Just(("<<'EOF'", "EOF")),
        Just(("apply_patch <<+x", "+x")),
        Just(("cat <<'-' | apply_patch", " - ")),
    ]
    .prop_map(|(open, close)| (open.to_owned(), close.to_owned()))
}

/// Most of these are patches.
fn text() -> impl Strategy<Value = String> {
    let files = prop::collection::vec(file(), 1..4);
    let wrappers = prop::collection::vec(wrapper(), 0..3);
    let indent = prop_oneof![3 => Just(""), 1 => Just("  "), 1 => Just(" ")];
    // Whether all lines have the indentation, or only the first, or all but the last.
    let where_indented = prop_oneof![Just("all"), Just("first"), Just("not the last")];
    let around = (wrappers, any::<bool>(), any::<bool>(), 0..3usize);
    (files, indent, where_indented, around).prop_map(
        |(files, indent, where_indented, (wrappers, crlf, bom, n_blank))| {
            let body = format!("*** Begin Patch\n{}*** End Patch", files.concat());
            let n_lines = body.lines().count();
            let lines = body.lines().enumerate().map(|(index, line)| {
                let indented = match where_indented {
                    "first" => index == 0,
                    "not the last" => index + 1 < n_lines,
                    _ => true,
                };
                format!("{}{line}\n", if indented { indent } else { "" })
            });
            let mut text: String = lines.collect();
            for (open, close) in wrappers {
                let blank = "\n".repeat(n_blank);
                text = format!("{open}\n{blank}{text}{blank}{close}\n");
            }
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            format!("{}{text}", if bom { "\u{feff}" } else { "" })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_patch_shows_what_it_says_however_it_is_sliced(
        text in text(),
        cuts in prop::collection::vec(0..300usize, 0..12),
        end in 0..3usize,
    ) {
        let text = &text[..text.floor_char_boundary(text.len() - end.min(text.len()))];
        let cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
        let progress = after(text, &cuts);
        if let Ok(patch) = parse(text) {
            prop_assert_eq!(progress.files(), expected(&patch));
        }
        let all: Vec<usize> = (0..text.len()).collect();
        let one_by_one = after(text, &all);
        prop_assert_eq!(progress.files(), one_by_one.files());
    }

    #[test]
    fn any_text_is_taken_without_panic(
        text in "(\\*\\*\\* (Begin Patch|End Patch|Add File: a|Update File: f|Move to: b|End of File|Delete File: d)\r?\n|```\n|<<E\n|E\n| |@@( [a-c])?\n|[-+ ][a-c]?\n|\\\\ No newline at end of file\n|\\PC{0,9}\n){0,16}",
        cuts in prop::collection::vec(0..300usize, 0..12),
    ) {
        for text in [text.clone(), format!("*** Begin Patch\n{text}*** End Patch")] {
            let cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
            let progress = after(&text, &cuts);
            if let Ok(patch) = parse(&text) {
                prop_assert_eq!(progress.files(), expected(&patch));
            }
            let (added, removed) = progress.lines();
            let files = progress.files().iter();
            let sums = files.fold((0, 0), |sum, file| (sum.0 + file.added, sum.1 + file.removed));
            prop_assert_eq!((added, removed), sums);
        }
    }
}

#[test]
fn most_texts_of_the_generator_are_patches() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let texts = (0..500).map(|_| text().new_tree(&mut runner).unwrap().current());
    let n_patches = texts.filter(|text| parse(text).is_ok()).count();
    assert!(n_patches > 150, "{n_patches} of 500");
}
