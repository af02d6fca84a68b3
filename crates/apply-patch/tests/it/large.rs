//! Files of 50 MB: time, and no blow-up on files that repeat themselves.

use std::time::Instant;

use crate::support::{apply, check_bytes, edit};

/// Several times what is measured in an unoptimised build on a slow, shared machine.
const LIMIT_SECONDS: u64 = 30;

#[test]
fn ap_31_a_huge_file() {
    let text = |changed: &str| {
        let lines = (1..=6_000_000_u32).map(|n| match n {
            3_000_000 => format!("{changed}\n"),
            n => format!("{n}\n"),
        });
        lines.collect::<String>().into_bytes()
    };
    let before = text("3000000");
    let started = Instant::now();
    let after = edit(&before, "@@\n 2999999\n-3000000\n+CHANGED\n 3000001\n").unwrap();
    assert!(started.elapsed().as_secs() < LIMIT_SECONDS);
    assert!(after == text("CHANGED"));
    let started = Instant::now();
    let err = edit(&before, "@@\n not there\n-3000000\n+CHANGED\n 3000001\n").unwrap_err();
    assert!(started.elapsed().as_secs() < LIMIT_SECONDS);
    assert!(err.contains("3000000"), "{err}");
}

#[test]
fn repetitions_cost_linear_time() {
    let before = b"x\n".repeat(200_000);
    let body = format!("@@\n{}-y\n", " x\n".repeat(2000));
    let started = Instant::now();
    edit(&before, &body).unwrap_err();
    assert!(started.elapsed().as_secs() < LIMIT_SECONDS);
}

#[test]
fn a_long_line() {
    let long = "z".repeat(1 << 20);
    let before = format!("a\n{long}\nb\n");
    check_bytes(
        before.as_bytes(),
        "@@\n-a\n+A\n",
        format!("A\n{long}\nb\n").as_bytes(),
    );
    let err = edit(before.as_bytes(), &format!("@@\n-{long}y\n")).unwrap_err();
    assert!(err.len() < 4000, "{}", err.len());
}

#[test]
fn a_long_chain_of_moves() {
    let n_moves = 100_000;
    let moves = (0..n_moves).map(|n| {
        let to = n + 1;
        format!("*** Update File: {n}\n*** Move to: {to}\n")
    });
    let moves: String = moves.collect();
    for (files, start) in [
        (vec![("0".to_owned(), b"x\n".to_vec())], ""),
        (Vec::new(), "*** Add File: 0\n+x\n"),
    ] {
        let text = format!("*** Begin Patch\n{start}{moves}*** End Patch\n");
        let started = Instant::now();
        let (files, _) = apply(&files.into_iter().collect(), &text).unwrap();
        assert!(started.elapsed().as_secs() < LIMIT_SECONDS);
        assert_eq!(files.into_keys().collect::<Vec<_>>(), [n_moves.to_string()]);
    }
}

#[test]
fn many_headers_are_refused_in_a_row_and_quick_apart() {
    let before: String = (0..20_000).map(|n| format!("{n}\n")).collect();
    let started = Instant::now();
    let headers: String = (0..20_000).map(|n| format!("@@ {n}\n")).collect();
    let err = edit(before.as_bytes(), &format!("{headers}-19999\n")).unwrap_err();
    assert!(err.contains("more than 32 `@@` lines in a row"), "{err}");
    let chunks: String = (0..5000)
        .map(|n| format!("@@ {}\n-{}\n+x\n", 4 * n, 4 * n + 1))
        .collect();
    edit(before.as_bytes(), &chunks).unwrap();
    // Of equal chunks in a file of equal lines, only the first error costs anything.
    let before = "a\n".repeat(20_000);
    for chunk in [
        "@@ a\n+x\n".to_owned(),
        format!("{}-a\n", "@@ a\n".repeat(32)),
    ] {
        let err = edit(before.as_bytes(), &chunk.repeat(1000)).unwrap_err();
        assert!(err.contains("matches, at lines"), "{err}");
    }
    assert!(started.elapsed().as_secs() < LIMIT_SECONDS);
}

#[test]
fn a_search_without_end_is_given_up() {
    // Each chunk is looked for in the whole block, in vain.
    let lines: String = (0..20_000).map(|n| format!("  {}\n", n % 90)).collect();
    let chunks = "@@ a\n-  x\n".repeat(5000);
    let started = Instant::now();
    let err = edit(format!("a\n{lines}").as_bytes(), &chunks).unwrap_err();
    assert!(
        err.contains("too long to find; send the patch in parts"),
        "{err}"
    );
    assert!(started.elapsed().as_secs() < LIMIT_SECONDS);
}
