//! A terminal that cuts lines which no longer fit.

use super::*;

/// A grid of characters without scrollback limits: enough for what is written here.
struct Grid {
    lines: Vec<Vec<char>>,
    /// The first line of the screen.
    top: usize,
    rows: usize,
    columns: usize,
    row: usize,
    column: usize,
}

impl Grid {
    fn new(size: Size) -> Self {
        Self {
            lines: vec![Vec::new()],
            top: 0,
            rows: usize::from(size.rows),
            columns: usize::from(size.columns),
            row: 0,
            column: 0,
        }
    }

    fn resize(&mut self, size: Size) {
        self.rows = usize::from(size.rows);
        self.columns = usize::from(size.columns);
        self.top = self.top.max((self.row + 1).saturating_sub(self.rows));
        self.lines.truncate(self.top + self.rows);
        for line in self.lines.iter_mut().skip(self.top) {
            line.truncate(self.columns);
        }
        self.column = self.column.min(self.columns - 1);
    }

    fn write(&mut self, text: &str) {
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            match character {
                '\x1b' => {
                    let body = rest.strip_prefix('[').unwrap();
                    let end = body.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                    self.control(body[..end].parse().unwrap_or(1), body.as_bytes()[end]);
                    rest = &body[end + 1..];
                }
                '\r' => self.column = 0,
                '\n' => {
                    self.row += 1;
                    if self.lines.len() <= self.row {
                        self.lines.push(Vec::new());
                    }
                    self.top = self.top.max((self.row + 1).saturating_sub(self.rows));
                }
                character => {
                    assert!(self.column < self.columns, "a row is too wide");
                    let line = &mut self.lines[self.row];
                    line.resize(line.len().max(self.column + 1), ' ');
                    line[self.column] = character;
                    self.column += 1;
                }
            }
        }
    }

    fn control(&mut self, n: usize, code: u8) {
        match code {
            b'A' => self.row = self.row.saturating_sub(n).max(self.top),
            b'B' => self.row = (self.row + n).min(self.lines.len() - 1),
            b'C' => self.column = (self.column + n).min(self.columns - 1),
            b'J' => {
                self.lines.truncate(self.row + 1);
                self.lines[self.row].truncate(self.column);
            }
            b'K' => self.lines[self.row].truncate(self.column),
            b'h' | b'l' => {}
            _ => panic!("what is {}?", char::from(code)),
        }
    }

    fn text(&self) -> Vec<String> {
        let lines = self
            .lines
            .iter()
            .map(|line| line.iter().collect::<String>());
        let mut lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }
}

#[test]
fn cut_live_rows_are_drawn_once_and_finished_rows_stay() {
    let size = |columns, rows| Size { columns, rows };
    let mut ours = InlineTerminal::new(size(20, 6), Reflow::Cuts);
    let mut grid = Grid::new(size(20, 6));
    let mut finished = Vec::new();
    let sizes = [(20, 6), (10, 6), (10, 3), (30, 8), (12, 4), (4, 3), (40, 6)];
    for (index, (columns, rows)) in sizes.into_iter().enumerate() {
        ours.resize(size(columns, rows));
        grid.resize(size(columns, rows));
        let texts = [format!("f{index}"), String::new()];
        let full = "x".repeat(usize::from(columns));
        let live = [full.as_str(), "> a", "stat"];
        let texts_now: Vec<&str> = texts.iter().map(String::as_str).collect();
        let bytes = ours.encode(&super::rows(&texts_now), frame(&live, Some((3, 1))));
        let bytes = bytes.unwrap_or_default();
        assert_sound(&bytes);
        grid.write(&bytes);
        finished.extend(texts);
        let expected: Vec<String> = finished
            .iter()
            .map(String::as_str)
            .chain(live)
            .map(str::to_owned)
            .collect();
        assert_eq!(grid.text(), expected);
        assert_eq!(grid.column, 3);
    }
}
