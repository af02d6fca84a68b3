use super::*;

/// Keys in normal mode, entered from insert mode without moving the cursor.
#[track_caller]
fn check(before: &str, keys: &str, after: &str) {
    let mut composer = Composer::new(ComposerOptions {
        vim: true,
        ..options()
    });
    put(&mut composer, before);
    let at = composer.editor.cursor();
    press(&mut composer, "Esc");
    composer.editor.move_to(at);
    press(&mut composer, keys);
    assert_eq!(state(&composer), after, "{before:?} {keys}");
}

#[test]
fn escape_goes_to_normal_mode_and_then_to_the_app() {
    let mut composer = Composer::new(ComposerOptions {
        vim: true,
        ..options()
    });
    put(&mut composer, "abc|");
    assert_eq!(press(&mut composer, "Esc"), ComposerEffect::Changed);
    assert_eq!(state(&composer), "ab|c");
    assert_eq!(press(&mut composer, "d Esc"), ComposerEffect::Changed);
    let escape = parse("Esc")[0];
    assert_eq!(
        press(&mut composer, "Esc"),
        ComposerEffect::Unhandled(escape)
    );
    assert_eq!(submitted(press(&mut composer, "Enter")).text, "abc");
    // A message begins in insert mode.
    press(&mut composer, "x");
    assert_eq!(state(&composer), "x|");
}

#[test]
fn movements() {
    check("a|bc", "h h", "|abc");
    check("|abc", "lllll", "ab|c");
    check("|ab\ncd", "lll", "a|b\ncd");
    check("|foo(bar) baz", "w", "foo|(bar) baz");
    check("|foo(bar) baz", "ww", "foo(|bar) baz");
    check("|foo(bar) baz", "W", "foo(bar) |baz");
    check("|a\n\nb", "w", "a\n|\nb");
    check("foo ba|r", "b b", "|foo bar");
    check("foo-bar ba|r", "BB", "|foo-bar bar");
    check("|foo bar", "e e", "foo ba|r");
    check("|foo-a bar", "E", "foo-|a bar");
    check("  a|b", "0", "|  ab");
    check("  a|b", "^", "  |ab");
    check("|ab\ncd", "$", "a|b\ncd");
    check("a\nb\n  c|d", "gg", "|a\nb\n  cd");
    check("|a\nb\n  cd", "G", "a\nb\n  |cd");
    check("|a\nb\n  cd", "2G", "a\n|b\n  cd");
    check("|abc\nx\nabc", "ll jj", "abc\nx\nab|c");
    check("abc\nx\nab|c", "kk", "ab|c\nx\nabc");
    check("|abcabc", "fc", "ab|cabc");
    check("|abcabc", "2fc", "abcab|c");
    check("|abcabc", "tc ;", "abca|bc");
    check("abcab|c", "Fb ,", "abca|bc");
    check("abcab|c", "Ta", "abca|bc");
    check("|abc\nx", "fx", "|abc\nx");
}

#[test]
fn insertions() {
    check("a|b", "ix Esc", "a|xb");
    check("a|b", "ax Esc", "ab|x");
    check("  a|b", "Ix", "  x|ab");
    check("a|b\nc", "Ax", "abx|\nc");
    check("a|b\nc", "ox", "ab\nx|\nc");
    check("a|b\nc", "Ox", "x|\nab\nc");
}

#[test]
fn deletions_and_changes() {
    check("a|bc", "x", "a|c");
    check("a|bc", "5x", "|a");
    check("ab|c", "X", "a|c");
    check("a|bc\nd", "D", "|a\nd");
    check("a|bc\nd", "Cx", "ax|\nd");
    check("a|bc", "sx", "ax|c");
    check("a|bc\nd", "Sx", "x|\nd");
    check("|one two three", "dw", "|two three");
    check("|one two three", "d2w", "|three");
    check("|one two three", "2dw", "|three");
    check("|one two", "cwx", "x| two");
    check("one |two\nthree", "dw", "one| \nthree");
    check("one| two", "d$", "on|e");
    check("one t|wo", "db", "one |wo");
    check("one t|wo", "de", "one |t");
    check("a\n|b\nc", "dd", "a\n|c");
    check("a\nb\n|c", "dd", "a\n|b");
    check("|a", "dd", "|");
    check("|a\nb\nc", "2dd", "|c");
    check("|a\nb\nc", "dj", "|c");
    check("a\nb\n|c", "dk", "|a");
    check("a\n|b\nc", "dG", "|a");
    check("a\n|b\nc", "dgg", "|c");
    check("a\n|b\nc", "ccx", "a\nx|\nc");
    check("foo(b|ar)", "diw", "foo(|)");
    check("one t|wo three", "daw", "one |three");
    check("one t|wo", "daw", "on|e");
    check("one t|wo three", "ciwx", "one x| three");
    check("f(|abc)", "dt) ", "f(|)");
    check("f(|abc)", "dfc", "f(|)");
    check("f(ab|c)", "dF(", "f|c)");
    check("|漢字 x", "dw", "|x");
}

#[test]
fn what_was_taken_is_put() {
    check("|one two", "dw p", "tone| wo");
    check("|ab", "x p", "b|a");
    check("|ab", "x 3p", "baa|a");
    check("|ab", "yl P", "|aab");
    check("|a\nb", "yyp", "a\n|a\nb");
    check("|a\nb", "dd p", "b\n|a");
    check("a\n|b", "yyP", "a\n|b\nb");
    check("a\n|b", "Y2p", "a\nb\n|b\nb");
    check("one t|wo", "yiw P", "one tw|otwo");
}

#[test]
fn small_changes() {
    check("a|bc", "rx", "a|xc");
    check("a|bc", "2rx", "ax|x");
    check("a|bc", "5rx", "a|bc");
    check("a|bC", "2~", "aB|c");
    check("|a\n  b\nc", "J", "a| b\nc");
    check("|a\nb\nc", "3J", "a b| c");
    check("|abc", "x u", "|abc");
    check("|abc", "xx uu C-r", "|bc");
    check("|abc", "zqQ&", "|abc");
}

#[test]
fn mentions_are_off_in_normal_mode() {
    let mut composer = Composer::new(ComposerOptions {
        vim: true,
        ..options()
    });
    put(&mut composer, "@ma|");
    press(&mut composer, "Esc");
    assert_eq!(composer.mention_query(), None);
}
