//! The rules that no compiler checks: which crate may know which, how long files may be, what
//! must be written where.

mod crates;
mod files;

use std::path::Path;

/// All problems, each a line.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut problems = crates::check(root)?;
    problems.extend(files::check(root)?);
    Ok(problems)
}

#[cfg(test)]
mod tests;
