//! `docs/sandbox.md`: the table for people, written from the table that is tried.

use std::fmt::Write;

use super::table::{Attempt, CATEGORIES, LEVELS, Outcome, Whose};

/// Run the test with `UPDATE_EXPECT=1` to write the document anew.
pub(super) fn is_up_to_date() {
    if std::env::var_os("TEST_OTHERS").is_some() {
        return; // The program was copied to where there are no sources.
    }
    expect_test::expect_file!["../../../../../docs/sandbox.md"].assert_eq(&text());
}

fn text() -> String {
    let mut text = include_str!("introduction.md").to_owned();
    for category in CATEGORIES {
        let _ = write!(text, "\n### {}\n\n| attempt |", category.title);
        for level in LEVELS {
            let _ = write!(text, " {level} |");
        }
        text.push_str("\n|---|---|---|---|---|---|\n");
        for attempt in category.attempts {
            row(&mut text, attempt);
        }
    }
    text
}

fn row(text: &mut String, attempt: &Attempt) {
    let _ = write!(text, "| {} |", attempt.name);
    for (level, outcome) in LEVELS.iter().zip(attempt.outcomes) {
        let mark = match outcome {
            Outcome::Gap if *level == "nested" && attempt.whose == Whose::User => "",
            Outcome::Gap => attempt.whose.word(),
            Outcome::Denied | Outcome::Restored => "",
        };
        let _ = write!(text, " {}{mark} |", outcome.word());
    }
    text.push('\n');
}
