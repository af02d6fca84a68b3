//! Whatever is printed and however the terminal changes its size, every finished row stands in
//! it once and in order, and the live rows stand once at the end.

use proptest::prelude::*;

use super::*;
use unicode_width::UnicodeWidthStr as _;

/// Something that happens.
#[derive(Debug, Clone)]
enum Step {
    /// So many rows are finished; the live ones have these lengths.
    Draw {
        finished: Vec<usize>,
        live: Vec<usize>,
        cursor: (u16, u16),
        hidden: bool,
        wide: bool,
    },
    Resize(u16, u16),
}

fn steps(min_columns: u16, max_columns: u16) -> impl Strategy<Value = Vec<Step>> {
    let draw = (
        prop::collection::vec(0..200_usize, 0..4),
        prop::collection::vec(0..200_usize, 1..7),
        (0..40_u16, 0..7_u16),
        any::<bool>(),
        any::<bool>(),
    );
    let draw = draw.prop_map(|(finished, live, cursor, hidden, wide)| Step::Draw {
        finished,
        live,
        cursor,
        hidden,
        wide,
    });
    let resize = (min_columns..max_columns, 1..12_u16);
    let resize = resize.prop_map(|(columns, rows)| Step::Resize(columns, rows));
    prop::collection::vec(prop_oneof![3 => draw, 2 => resize], 1..14)
}

/// A text of a name, filled to a length that fits.
fn text(name: &str, length: usize, columns: u16, wide: bool) -> String {
    let columns = usize::from(columns);
    let length = (length % (columns + 1)).max(name.len()).min(columns);
    let mut text: String = name.chars().take(columns).collect();
    while text.width() < length {
        let filler = if wide && text.width() + 2 <= length {
            "中"
        } else {
            "."
        };
        text.push_str(filler);
    }
    text
}

/// Runs the steps. After each one all is looked at.
fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut size = (20, 8);
    let mut pair = Pair::new(size.0, size.1);
    let mut printed: Vec<String> = Vec::new();
    // Live rows left the screen before anything could be done about it, or the cursor was stuck.
    let mut has_rest = false;
    let mut n = 0;
    for step in steps {
        let (finished, live, cursor, hidden, wide) = match step {
            Step::Resize(columns, rows) => {
                pair.resize(columns, rows);
                size = (columns, rows);
                has_rest |= pair.screen.has_scrolled_off("live");
                continue;
            }
            Step::Draw {
                finished,
                live,
                cursor,
                hidden,
                wide,
            } => (finished, live, cursor, hidden, wide),
        };
        let finished: Vec<String> = finished
            .iter()
            .map(|length| {
                n += 1;
                text(&format!("f{n}"), *length, size.0, wide)
            })
            .collect();
        let live: Vec<String> = live
            .iter()
            .take(usize::from(size.1))
            .map(|length| text("live", *length, size.0, wide))
            .collect();
        let row = usize::from(cursor.1) % live.len();
        let cursor = (cursor.0 % size.0, u16::try_from(row).unwrap());
        let finished_rows: Vec<&str> = finished.iter().map(String::as_str).collect();
        let live_rows: Vec<&str> = live.iter().map(String::as_str).collect();
        let ours = &pair.ours;
        let column = ours.shown.cursor.map_or(0, |(column, _)| column);
        has_rest |= ours.has_wrapped() && ours.cursor_line < usize::from(column / size.0);
        let bytes = pair
            .ours
            .encode(
                &rows(&finished_rows),
                frame(&live_rows, (!hidden).then_some(cursor)),
            )
            .unwrap_or_default();
        assert_sound(&bytes);
        pair.screen.write(&bytes);
        printed.extend(finished);
        let lines = pair.screen.logical_lines();
        // Behind a live row that scrolled off in the middle, the line may go on with a finished one.
        let begins = |line: &String| line.find('f').filter(|at| *at == 0 || has_rest);
        let found = lines.iter().filter_map(|line| line.get(begins(line)?..));
        let found: Vec<&str> = found.collect();
        prop_assert_eq!(
            found,
            printed.iter().collect::<Vec<_>>(),
            "{}",
            pair.screen.shown()
        );
        let (column, screen_row) = pair.screen.cursor();
        let at = pair.ours.at;
        prop_assert!(screen_row >= at, "{}", pair.screen.shown());
        if !hidden {
            prop_assert_eq!(column, usize::from(cursor.0));
            prop_assert_eq!(at, row);
        }
        let below = pair.screen.rows_from(screen_row - at);
        let expected = live_rows.iter().copied().chain(std::iter::repeat(""));
        let expected: Vec<&str> = expected.take(below.len()).collect();
        prop_assert_eq!(&below, &expected, "{}", pair.screen.shown());
        if !has_rest {
            let n_live = lines.iter().filter(|line| line.starts_with("live")).count();
            prop_assert_eq!(n_live, live.len(), "{}", pair.screen.shown());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_finished_row_stands_once_and_in_order(steps in steps(8, 40)) {
        run(steps)?;
    }
}

#[test]
fn down_to_one_cell_and_back_nothing_finished_is_lost() {
    let mut pair = Pair::new(20, 6);
    pair.draw(&["one", "two"], &["> ", "status"], (2, 0));
    for (columns, rows) in [(1, 1), (2, 1), (1, 3), (3, 2), (20, 6)] {
        pair.resize(columns, rows);
        let live: &[&str] = if rows == 1 { &[">"] } else { &[">", "s"] };
        pair.draw(&[], live, (0, 0));
    }
    pair.draw(&["three"], &["> ", "status"], (2, 0));
    let lines = pair.screen.logical_lines();
    for text in ["one", "two", "three", "status"] {
        assert_eq!(
            lines.iter().filter(|line| *line == text).count(),
            1,
            "{text}: {lines:?}"
        );
    }
}
