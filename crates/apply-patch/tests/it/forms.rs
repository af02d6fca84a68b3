//! The forms of a patch that models really send, and those that are refused.

use agent_apply_patch::{Patch, PatchKind, TouchedFile, parse};
use expect_test::{Expect, expect};

const CORE: &str = "*** Begin Patch\n*** Add File: z.txt\n+zed\n*** End Patch";

fn canonical() -> Patch {
    parse(CORE).unwrap()
}

#[track_caller]
fn check_same(text: &str) {
    match parse(text) {
        Ok(mut patch) => {
            // Blank lines before it are counted.
            patch.hunks[0].line = 2;
            assert_eq!(patch, canonical(), "{text}");
        }
        Err(err) => panic!("{err}\n{text}"),
    }
}

#[track_caller]
fn check_error(text: &str, expected: &Expect) {
    expected.assert_eq(&parse(text).unwrap_err().to_string());
}

#[test]
fn ap_23_padded_markers_and_fences() {
    check_same(&CORE.replace("*** Begin Patch", "  *** Begin Patch "));
    check_same(&format!("\n\n{CORE}\n\n"));
    check_same(&format!("{CORE}   \n"));
    check_same(&format!("```\n{CORE}\n```\n"));
    check_same(&format!("```patch\n{CORE}\n```"));
    check_same(&format!("~~~~ diff\n{CORE}\n~~~~"));
    check_same(&CORE.replace('\n', "\r\n"));
    check_same(&CORE.replace("*** Add File: z.txt", "  *** Add File:   z.txt  "));
    check_same(&format!("\u{feff}{CORE}"));
    check_same(&CORE.replace("Patch\n", "Patch\n\n"));
    check_same(&CORE.replace("+zed\n", "+zed\n\n  \n"));
}

#[test]
fn ap_19_heredoc_wrappers() {
    let openings = [
        ("<<EOF", "EOF"),
        ("<<'EOF'", "EOF"),
        ("<< \"END\"", "END"),
        ("<<-'X'", "X"),
        ("<<\\EOF", "EOF"),
        ("apply_patch <<'PATCH-1'", "PATCH-1"),
        ("applypatch <<EOF", "EOF"),
        ("apply_patch << 'EOF'", "EOF"),
        ("cat <<'EOF'", "EOF"),
        ("cat <<'EOF' | apply_patch", "EOF"),
    ];
    for (opening, delimiter) in openings {
        check_same(&format!("{opening}\n{CORE}\n{delimiter}\n"));
        check_same(&format!("```sh\n{opening}\n{CORE}\n{delimiter}\n```\n"));
    }
    for (opening, last) in [
        ("<<EOF", "xxEOF"),
        ("apply_patch <<EOF && rm x", "EOF"),
        ("rm <<EOF", "EOF"),
        ("<<", ""),
    ] {
        parse(&format!("{opening}\n{CORE}\n{last}\n")).unwrap_err();
    }
}

#[test]
fn a_wholly_indented_patch_is_moved_left() {
    let indented: String = CORE.lines().map(|line| format!("    {line}\n")).collect();
    check_same(&indented);
    let text = "  *** Begin Patch\n  *** Update File: f\n  @@\n   a\n  -b\n  *** End Patch\n";
    let plain = "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n*** End Patch\n";
    assert_eq!(parse(text).unwrap(), parse(plain).unwrap());
}

#[test]
fn indented_markers_right_after_the_file_header() {
    let text = "*** Begin Patch\n*** Update File: f\n  *** Move to: g\n  @@ x\n-b\n*** End of File  \n*** End Patch\n";
    let plain = "*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@ x\n-b\n*** End of File\n*** End Patch\n";
    assert_eq!(parse(text).unwrap(), parse(plain).unwrap());
}

#[test]
fn an_indented_marker_in_a_body_is_context() {
    let text =
        "*** Begin Patch\n*** Update File: f\n@@\n @@ x\n *** Add File: y\n-b\n*** End Patch\n";
    let patch = parse(text).unwrap();
    let agent_apply_patch::FileOp::Update { chunks, .. } = &patch.hunks[0].op else {
        panic!("{patch:?}");
    };
    assert_eq!(chunks[0].headers, [""; 0]);
    assert_eq!(chunks[0].lines.len(), 3);
}

#[test]
fn an_environment_id_is_ignored() {
    check_same(&CORE.replace("Patch\n", "Patch\n*** Environment ID: local\n"));
    check_error(
        &CORE.replace("Patch\n", "Patch\n*** Environment ID: \n"),
        &expect![[
            r#"invalid patch: line 2 `*** Environment ID:·`: `*** Environment ID: ` comes once, with an id, right after `*** Begin Patch`"#
        ]],
    );
}

#[test]
fn files_are_listed_before_planning() {
    let text = "*** Begin Patch\n*** Add File: /abs/a\n+x\n*** Delete File: ../d\n*** Update File: u \"v\".txt\n*** Move to: w\n*** End Patch";
    let patch = parse(text).unwrap();
    let file = |path, kind, move_to| TouchedFile {
        path,
        kind,
        move_to,
    };
    assert_eq!(
        patch.files().collect::<Vec<_>>(),
        [
            file("/abs/a", PatchKind::Add, None),
            file("../d", PatchKind::Delete, None),
            file("u \"v\".txt", PatchKind::Update, Some("w")),
        ]
    );
    let paths: Vec<_> = patch.paths().collect();
    assert_eq!(paths, ["/abs/a", "../d", "u \"v\".txt", "w"]);
}

#[test]
fn what_is_cut_off_is_refused() {
    check_error(
        "",
        &expect!["invalid patch: line 1 ``: the first line of a patch must be `*** Begin Patch`"],
    );
    check_error(
        "*** Begin Patch\n*** Add File: a\n+x",
        &expect![
            "invalid patch: line 3 `+x`: the last line of a patch must be `*** End Patch`; the patch may have been cut off"
        ],
    );
    check_error(
        "*** Begin Patch\n*** End Patch",
        &expect![
            "invalid patch: line 1 `*** Begin Patch`: empty patch: it names no file; add an `*** Add File: `, `*** Delete File: ` or `*** Update File: ` section"
        ],
    );
    check_error(
        &format!("{CORE}\nDone!"),
        &expect![
            "invalid patch: line 5 `Done!`: text follows `*** End Patch`; send one patch and nothing after it"
        ],
    );
    check_error(
        &format!("Here:\n{CORE}"),
        &expect![
            "invalid patch: line 1 `Here:`: the first line of a patch must be `*** Begin Patch`"
        ],
    );
    check_error(
        "*** Begin Patch",
        &expect![
            "invalid patch: line 1 `*** Begin Patch`: the last line of a patch must be `*** End Patch`; the patch may have been cut off"
        ],
    );
}

#[test]
fn malformed_lines_are_refused() {
    let body = |body: &str| format!("*** Begin Patch\n{body}*** End Patch");
    check_error(
        &body("*** Add File: a\n+x\n\ty\n"),
        &expect![
            "invalid patch: line 4 `→y`: every line of a new file begins with `+`, blank lines too"
        ],
    );
    check_error(
        &body("*** Add File: a\n+x\n\n+y\n"),
        &expect![
            "invalid patch: line 5 `+y`: every line of a new file begins with `+`, blank lines too"
        ],
    );
    check_error(
        &body("*** Update File: a\n"),
        &expect![
            "invalid patch: line 2 `*** Update File: a`: this update changes nothing; write chunks with `-` and `+` lines after it"
        ],
    );
    check_error(
        &body("*** Update File: a\n@@\nx\n"),
        &expect![
            "invalid patch: line 4 `x`: every line of a chunk begins with ` ` (stays), `-` (goes) or `+` (comes), and a new chunk with `@@`"
        ],
    );
    check_error(
        &body("*** Update File: a\n@@ x\n"),
        &expect![
            "invalid patch: line 3 `@@ x`: no lines follow this `@@`; write the lines to find and change after it"
        ],
    );
    check_error(
        &body("*** Update File: a\n-x\n*** Move to: b\n"),
        &expect![
            "invalid patch: line 4 `*** Move to: b`: `*** Move to: ` comes right after an `*** Update File: ` line, once"
        ],
    );
    check_error(
        &body("*** Update File:\n-x\n"),
        &expect![
            "invalid patch: line 2 `*** Update File:`: the path is missing; write a space and the path after the colon"
        ],
    );
    check_error(
        &body("*** Update file: a\n-x\n"),
        &expect![
            "invalid patch: line 2 `*** Update file: a`: expected `*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH`"
        ],
    );
    check_error(
        &body("*** Update File: a\n*** End of File\n"),
        &expect![
            "invalid patch: line 3 `*** End of File`: `*** End of File` comes after the lines of a chunk"
        ],
    );
    check_error(
        &body("*** Delete File: a\n-x\n"),
        &expect![
            "invalid patch: line 3 `-x`: expected `*** Add File: PATH`, `*** Delete File: PATH` or `*** Update File: PATH`"
        ],
    );
}
