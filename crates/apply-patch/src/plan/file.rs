//! Plans the chunks of one file, and says in words why they do not fit.

use std::fmt::Write as _;

use super::PlanError;
use crate::level::{Level, level_of};
use crate::lines::Lines;
use crate::locate::{Miss, Placed, old_lines, place};
use crate::nearest::nearest;
use crate::patch::{Chunk, Mark};
use crate::splice::{Piece, Reindent, splice};
use crate::visible::{quoted, visible};

/// How many lines of the file an error shows.
const MAX_SHOWN: usize = 12;

/// The bytes of the file after the chunks.
pub(super) fn update(
    path: &str,
    before: &[u8],
    chunks: &[Chunk],
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, PlanError> {
    let unsupported = |reason| PlanError::Unsupported {
        path: path.to_owned(),
        reason,
    };
    if before.starts_with(b"\xff\xfe") || before.starts_with(b"\xfe\xff") {
        return Err(unsupported("it is UTF-16 text; change it with a command"));
    }
    let Some(lines) = Lines::new(before) else {
        return Err(unsupported(
            "it is larger than 4 GiB; change it with a command",
        ));
    };
    let placed = place(&lines, chunks).map_err(|miss| no_fit(path, &lines, &miss))?;
    if adds_foreign_text(chunks) && std::str::from_utf8(before).is_err() {
        let reason =
            "it is not UTF-8, so that only ASCII lines can be added; change it with a command";
        return Err(unsupported(reason));
    }
    let pieces: Vec<_> = placed
        .into_iter()
        .map(|placed| {
            let reindent = look_closer(path, &lines, &placed, warnings);
            Piece { placed, reindent }
        })
        .collect();
    Ok(splice(&lines, &pieces))
}

fn adds_foreign_text(chunks: &[Chunk]) -> bool {
    let mut added = chunks.iter().flat_map(|chunk| &chunk.lines);
    added.any(|line| line.mark == Mark::Add && !line.text.is_ascii())
}

/// Warns of a lenient match, and decides whether added lines are indented like the old ones.
fn look_closer(
    path: &str,
    lines: &Lines<'_>,
    placed: &Placed<'_>,
    warnings: &mut Vec<String>,
) -> Option<Reindent> {
    let level = old_lines(placed.body)
        .zip(placed.start..)
        .filter_map(|(old, at)| level_of(lines.content(at), old.as_bytes()))
        .max()?;
    if level == Level::Exact {
        return None;
    }
    let reindent = reindent(lines, placed);
    let first = placed.start + 1;
    let mut warning = format!(
        "the chunk at patch line {} fits `{path}` line {first} only without regard to {}",
        placed.chunk.line,
        level.overlooks(),
    );
    match &reindent {
        Some(Reindent::Insert(prefix)) => {
            let _ = write!(
                warning,
                "; added lines were indented by {} more",
                shown(prefix)
            );
        }
        Some(Reindent::Strip(prefix)) => {
            let _ = write!(
                warning,
                "; added lines were indented by {} less",
                shown(prefix)
            );
        }
        None => {}
    }
    warnings.push(warning);
    reindent
}

fn shown(prefix: &str) -> String {
    format!("`{}`", visible(prefix.as_bytes()))
}

/// The one prefix of white space by which every old line with text differs.
fn reindent(lines: &Lines<'_>, placed: &Placed<'_>) -> Option<Reindent> {
    let mut found: Option<Reindent> = None;
    for (old, at) in old_lines(placed.body).zip(placed.start..) {
        if old.trim().is_empty() {
            continue;
        }
        let in_file = indentation(std::str::from_utf8(lines.content(at)).ok()?);
        let in_patch = indentation(old);
        let this = if let Some(more) = in_file.strip_suffix(in_patch).filter(|m| !m.is_empty()) {
            Reindent::Insert(more.to_owned())
        } else {
            let more = in_patch.strip_suffix(in_file)?;
            if more.is_empty() {
                return None;
            }
            Reindent::Strip(more.to_owned())
        };
        if found.as_ref().is_some_and(|found| *found != this) {
            return None;
        }
        found = Some(this);
    }
    let fits = |prefix: &String| {
        let mut lines = placed.body.iter();
        lines.all(|line| {
            line.mark != Mark::Add || line.text.trim().is_empty() || line.text.starts_with(prefix)
        })
    };
    found.filter(|found| match found {
        Reindent::Insert(_) => true,
        Reindent::Strip(prefix) => fits(prefix),
    })
}

fn indentation(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len())
        .unwrap_or("")
}

fn no_fit(path: &str, lines: &Lines<'_>, miss: &Miss<'_>) -> PlanError {
    let (chunk, reason) = match miss {
        Miss::Header { chunk, header } => (chunk, unknown_header(lines, header)),
        Miss::NoAnchor { chunk } => {
            let reason = "it only adds lines and nothing says where; add an `@@` line with the \
                          line to add after, context lines around, or `*** End of File`";
            (chunk, reason.to_owned())
        }
        Miss::Lines { chunk } => (chunk, unknown_lines(lines, chunk)),
        Miss::Effort { chunk } => {
            let reason = "its chunks take too long to find; send the patch in parts, each with \
                          fewer chunks and `@@` lines";
            (chunk, reason.to_owned())
        }
        Miss::Place { chunk, at } => (chunk, misplaced(chunk, at)),
        Miss::Ambiguous { chunk, at, total } => {
            let reason = format!(
                "{total} matches, at lines {}; add an `@@` line with the enclosing definition \
                 or more context lines, so that only one place fits",
                list(at, *total),
            );
            (chunk, reason)
        }
    };
    PlanError::NoFit {
        path: path.to_owned(),
        line: chunk.line,
        reason,
    }
}

fn list(at: &[usize], total: usize) -> String {
    let mut numbers: Vec<String> = at.iter().map(|at| (at + 1).to_string()).collect();
    if total > at.len() {
        numbers.push("…".to_owned());
    }
    numbers.join(", ")
}

fn misplaced(chunk: &Chunk, at: &[usize]) -> String {
    let lines = list(at, at.len());
    if chunk.at_end {
        format!(
            "its lines are at line {lines}, not at the end of the file or not after its `@@` \
             line; leave `*** End of File` out or correct the lines"
        )
    } else if chunk.headers.is_empty() {
        format!(
            "its lines are at line {lines}, but there they come before the chunk above or \
             overlap with it; put chunks in the order of the file and join those that share lines"
        )
    } else {
        format!(
            "its lines are at line {lines}, but not after its `@@` lines and the chunk above; \
             correct the `@@` lines and put chunks in the order of the file"
        )
    }
}

fn unknown_header(lines: &Lines<'_>, header: &str) -> String {
    let mut out = format!(
        "no line equals its `@@` text {}; write a whole line of the file, or a bare `@@`",
        quoted(header)
    );
    if let Some(at) = nearest(lines, &[header]) {
        let line = visible(lines.content(at));
        let _ = write!(out, "\nThe nearest line is {}: `{line}`", at + 1);
    }
    out
}

fn unknown_lines(lines: &Lines<'_>, chunk: &Chunk) -> String {
    let old: Vec<&str> = old_lines(&chunk.lines).collect();
    let mut out = "the file does not have these lines:".to_owned();
    for line in old.iter().take(MAX_SHOWN) {
        let _ = write!(out, "\n    {}", visible(line.as_bytes()));
    }
    if old.len() > MAX_SHOWN {
        let _ = write!(out, "\n    … ({} more)", old.len() - MAX_SHOWN);
    }
    if lines.len() == 0 {
        out.push_str("\nThe file is empty; write only `+` lines.");
        return out;
    }
    let Some(start) = nearest(lines, &old) else {
        out.push_str("\nNothing in the file is like them; read the file again.");
        return out;
    };
    out.push_str("\nThe nearest lines of the file are (· is a space, → a tab):");
    let end = (start + old.len().max(1)).min(lines.len());
    for at in (start..end).take(MAX_SHOWN) {
        let content = lines.content(at);
        let same = old
            .get(at - start)
            .is_some_and(|old| level_of(content, old.as_bytes()).is_some());
        let sign = if same { ' ' } else { '!' };
        let _ = write!(out, "\n{sign} {:>4}  {}", at + 1, visible(content));
    }
    out.push_str("\nLines with ! differ. Copy them as the file has them.");
    out
}
