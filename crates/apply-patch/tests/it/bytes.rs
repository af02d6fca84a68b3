//! What stays as it is: endings, byte order mark, final newline, bytes that are not UTF-8.

use crate::support::{check_bytes, edit};

#[test]
fn ap_01_crlf_kept() {
    check_bytes(
        b"one\r\ntwo\r\nthree\r\n",
        "@@\n one\n-two\n+TWO\n three\n",
        b"one\r\nTWO\r\nthree\r\n",
    );
}

#[test]
fn ap_03_mixed_file_stays_mixed() {
    let before = b"a\r\nb\nc\r\nd\n";
    check_bytes(before, "@@\n b\n-c\n+C\n d\n", b"a\r\nb\nC\r\nd\n");
    check_bytes(before, "@@\n b\n+n\n c\n", b"a\r\nb\nn\nc\r\nd\n");
    check_bytes(before, "@@\n c\n+m\n d\n", b"a\r\nb\nc\r\nm\r\nd\n");
}

#[test]
fn a_replaced_line_keeps_its_own_ending() {
    let before = b"a\r\nb\nc\r\nd\n";
    check_bytes(before, "@@\n-a\n-b\n+A\n+B\n+X\n", b"A\r\nB\nX\nc\r\nd\n");
    check_bytes(before, "@@\n+A\n+B\n-a\n-b\n", b"A\r\nB\nc\r\nd\n");
    check_bytes(before, "@@\n-b\n-c\n+B\n", b"a\r\nB\nd\n");
}

#[test]
fn a_line_at_the_start_takes_the_ending_of_the_first() {
    check_bytes(b"a\r\nb\n", "@@\n+x\n a\n", b"x\r\na\r\nb\n");
}

#[test]
fn a_crlf_patch_edits_an_lf_file() {
    let patch =
        "*** Begin Patch\r\n*** Update File: f\r\n@@\r\n a\r\n-b\r\n+B\r\n*** End Patch\r\n";
    let files = [("f".to_owned(), b"a\nb\n".to_vec())].into();
    let (files, _) = crate::support::apply(&files, patch).unwrap();
    assert_eq!(files.get("f").unwrap(), b"a\nB\n");
}

#[test]
fn a_lone_cr_is_no_line_end() {
    check_bytes(b"a\rb\nc\n", "@@\n-c\n+C\n", b"a\rb\nC\n");
}

#[test]
fn ap_05_blank_last_line_is_kept() {
    check_bytes(
        b"alpha\nbeta\n\n",
        "@@\n-alpha\n+gamma\n beta\n",
        b"gamma\nbeta\n\n",
    );
    check_bytes(
        b"gamma\nbeta\n\n",
        "@@\n-gamma\n+delta\n beta\n",
        b"delta\nbeta\n\n",
    );
}

#[test]
fn ap_07_bom_kept() {
    let before = b"\xef\xbb\xbfval = 1\nnext\n";
    let after = b"\xef\xbb\xbfval = 2\nnext\n";
    check_bytes(before, "@@\n-val = 1\n+val = 2\n next\n", after);
    check_bytes(
        before,
        "@@\n-\u{feff}val = 1\n+\u{feff}val = 2\n next\n",
        after,
    );
    check_bytes(
        before,
        "@@\n+x\n val = 1\n",
        b"\xef\xbb\xbfx\nval = 1\nnext\n",
    );
    check_bytes(before, "@@\n-val = 1\n-next\n", b"\xef\xbb\xbf");
    check_bytes(b"\xef\xbb\xbf", "@@\n+x\n", b"\xef\xbb\xbfx\n");
}

#[test]
fn ap_29_empty_files() {
    check_bytes(b"", "@@\n+one\n+two\n", b"one\ntwo\n");
    check_bytes(b"", "+one\n", b"one\n");
    check_bytes(b"only\n", "@@\n-only\n", b"");
    check_bytes(b"only", "@@\n-only\n", b"");
    let text = "*** Begin Patch\n*** Add File: z\n*** End Patch";
    let (files, _) = crate::support::apply(&[].into(), text).unwrap();
    assert_eq!(files.get("z").unwrap(), b"");
}

#[test]
fn the_final_newline_stays_as_it_was() {
    check_bytes(b"a\nb", "@@\n-a\n+A\n", b"A\nb");
    check_bytes(b"a\nb", "@@\n-b\n+B\n", b"a\nB");
    check_bytes(b"a\nb\n", "@@\n-b\n+B\n", b"a\nB\n");
    check_bytes(b"a\nb", "@@\n b\n+c\n", b"a\nb\nc");
    check_bytes(b"a\r\nb", "@@\n b\n+c\n", b"a\r\nb\r\nc");
    check_bytes(b"a\r\nb", "@@\n-b\n+B\n+C\n", b"a\r\nB\r\nC");
    check_bytes(b"b", "@@\n+c\n*** End of File\n", b"b\nc");
    // A kept line keeps its own ending, although it has become the last one.
    check_bytes(b"a\nb", "@@\n-b\n", b"a\n");
}

#[test]
fn the_marker_for_no_newline_decides_about_a_new_last_line() {
    let marker = "\\ No newline at end of file\n";
    check_bytes(b"a\nb\n", &format!("@@\n-b\n+B\n{marker}"), b"a\nB");
    check_bytes(b"a\nb", &format!("@@\n-b\n{marker}+b\n"), b"a\nb\n");
    check_bytes(b"a\nb", &format!("@@\n-b\n{marker}+B\n{marker}"), b"a\nB");
    check_bytes(b"a\nb\n", &format!("@@\n-a\n+A\n{marker} b\n"), b"A\nb\n");
}

#[test]
fn other_encodings_are_edited_byte_exactly_or_refused() {
    check_bytes(b"caf\xe9\nx\n", "@@\n-x\n+y\n", b"caf\xe9\ny\n");
    check_bytes(
        b"caf\xe9\nx\n",
        "@@\n caf\u{fffd}\n-x\n+y\n",
        b"caf\xe9\ny\n",
    );
    let err = edit(b"caf\xe9\nx\n", "@@\n-x\n+\u{e9}\n").unwrap_err();
    assert!(err.contains("`f`: it is not UTF-8"), "{err}");
    let err = edit(b"\xff\xfea\0\n\0", "@@\n+x\n*** End of File\n").unwrap_err();
    assert!(err.contains("`f`: it is UTF-16"), "{err}");
}

#[test]
fn lenient_context_keeps_its_bytes() {
    check_bytes(b"a  \n\tb\nc\n", "@@\n a\n b\n-c\n+C\n", b"a  \n\tb\nC\n");
    check_bytes(b"\ta\nb\n", "@@\n     a\n-b\n+B\n", b"\ta\nB\n");
}

#[test]
fn ap_17_typographic_context_is_kept() {
    let before = "say\u{a0}\u{201c}hello\u{201d} \u{2013} world\ncount = 1\nend\n";
    let body = "@@\n say \"hello\" - world\n-count = 1\n+count = 2\n end\n";
    check_bytes(before.as_bytes(), body, before.replace('1', "2").as_bytes());
}
