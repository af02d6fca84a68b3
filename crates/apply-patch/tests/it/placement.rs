//! Chunks go where the rule says, by a search that tries everything: at the first level at which
//! they fit in order and without overlap, there must be one way only.

use proptest::prelude::*;

use crate::support::edit;

type Line = (char, &'static str);

const LINES: [&str; 5] = ["a", "b", " a", "a ", "  b"];

fn normal(level: usize, line: &str) -> &str {
    match level {
        0 => line,
        1 => line.trim_end(),
        _ => line.trim(),
    }
}

fn old(chunk: &[Line]) -> Vec<&'static str> {
    let lines = chunk.iter().filter(|line| line.0 != '+');
    lines.map(|line| line.1).collect()
}

/// All ways to place the chunks from line `from` on.
fn ways(file: &[&str], chunks: &[Vec<Line>], level: usize, from: usize) -> Vec<Vec<usize>> {
    let Some((chunk, rest)) = chunks.split_first() else {
        return vec![Vec::new()];
    };
    let old = old(chunk);
    let fits = |start: &usize| {
        let lines = file.get(*start..start + old.len());
        lines.is_some_and(|lines| {
            let mut pairs = lines.iter().zip(&old);
            pairs.all(|(a, b)| normal(level, a) == normal(level, b))
        })
    };
    let starts = (from..=file.len()).filter(fits);
    starts
        .flat_map(|start| {
            let mut later = ways(file, rest, level, start + old.len());
            for way in &mut later {
                way.insert(0, start);
            }
            later
        })
        .collect()
}

/// The lines after the chunks were put at these places.
fn placed(file: &[&str], chunks: &[Vec<Line>], starts: &[usize]) -> Vec<String> {
    let mut out = Vec::new();
    let mut at = 0;
    for (chunk, start) in chunks.iter().zip(starts) {
        out.extend_from_slice(&file[at..*start]);
        at = *start;
        for (mark, text) in chunk {
            match mark {
                '+' => out.push(text),
                '-' => at += 1,
                _ => {
                    out.push(file[at]);
                    at += 1;
                }
            }
        }
    }
    out.extend_from_slice(&file[at..]);
    out.into_iter().map(str::to_owned).collect()
}

fn chunk() -> impl Strategy<Value = Vec<Line>> {
    let old = (
        prop::sample::select(vec![' ', '-']),
        prop::sample::select(&LINES[..]),
    );
    let line = prop_oneof![3 => old, 1 => Just(('+', "x"))];
    prop::collection::vec(line, 1..4).prop_filter("something to find", |chunk| !old_is_empty(chunk))
}

fn old_is_empty(chunk: &[Line]) -> bool {
    old(chunk).is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn chunks_go_where_a_search_of_everything_puts_them(
        file in prop::collection::vec(prop::sample::select(&LINES[..]), 1..10),
        chunks in prop::collection::vec(chunk(), 1..4),
    ) {
        let before: String = file.iter().map(|line| format!("{line}\n")).collect();
        let bodies = chunks.iter().map(|chunk| {
            let lines = chunk.iter().map(|(mark, text)| format!("{mark}{text}\n"));
            format!("@@\n{}", lines.collect::<String>())
        });
        let outcome = edit(before.as_bytes(), &bodies.collect::<String>());
        let mut levels = (0..3).map(|level| ways(&file, &chunks, level, 0));
        let ways = levels.find(|ways| !ways.is_empty()).unwrap_or_default();
        match (ways.as_slice(), outcome) {
            ([starts], Ok(after)) => {
                // Added lines may be indented like those around them.
                let after = String::from_utf8(after).unwrap();
                let after = after.lines().map(|line| if line.trim() == "x" { "x" } else { line });
                prop_assert_eq!(after.collect::<Vec<_>>(), placed(&file, &chunks, starts));
            }
            ([], Err(err)) => prop_assert!(!err.contains("matches, at lines"), "{}", err),
            ([_, _, ..], Err(err)) => prop_assert!(err.contains("matches, at lines"), "{}", err),
            (ways, outcome) => prop_assert!(false, "{:?} {:?}", ways, outcome),
        }
    }
}
