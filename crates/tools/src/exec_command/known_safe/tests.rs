use super::is_known_safe;

#[test]
fn plain_reads_are_known() {
    for script in [
        "ls -la src",
        "cat a.txt",
        "rg -n 'foo' src",
        "sed -n 1,20p src/main.rs",
        "sed -n '5p' x",
        "find . -name '*.rs'".trim_end_matches("'*.rs'"),
        "pwd",
        " head -n 5 x ",
    ] {
        assert!(is_known_safe(script), "{script}");
    }
}

#[test]
fn everything_else_is_not() {
    for script in [
        "",
        "ls; rm x",
        "ls && rm x",
        "ls | sh",
        "cat a > b",
        "cat $(rm x)",
        "cat `rm x`",
        "ls\nrm x",
        "ls &",
        "echo $HOME",
        "echo *",
        "./cat x",
        "/tmp/ls",
        "find . -delete",
        "find . -exec rm {}",
        "find . -fprintf x",
        "rg --pre=sh x",
        "rg --pre sh x",
        "rg -uz x",
        "sed -n 1e x",
        "sed -i s/a/b/ x",
        "sed -n 1p -i x",
        "sed 1d x",
        "rm x",
        "env ls",
        "cat 'a",
        "A=1 ls",
        "ls #x",
        "cat \"a b\"",
    ] {
        assert!(!is_known_safe(script), "{script}");
    }
}
