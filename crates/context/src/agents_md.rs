//! Instructions from AGENTS.md files: one for the user (in the agent's home) and those of the
//! directories from the project's root down to the working directory.
//!
//! The project files share a byte budget. The nearest file is served first, because it says
//! most about the work at hand; the order of the text stays from far to near. Every cut is
//! announced to the user, and to the model inside the text.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use agent_protocol::{FragmentKind, Role};

use crate::{Fragment, escape_invisible};

/// What a reader says of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocRead {
    /// Its content.
    Text(String),
    /// There is none.
    Missing,
    /// It is there and cannot be read.
    Unreadable(String),
}

/// Where to look.
#[derive(Debug, Clone)]
pub struct AgentsMdRequest<'a> {
    /// The agent's home.
    pub home: Option<&'a Path>,
    /// The directories from the project's root down to the working directory.
    pub directories: &'a [PathBuf],
    /// Names that stand in for AGENTS.md, in order.
    pub fallback_names: &'a [String],
    /// The budget of the project files; 0 uses none of them.
    pub max_bytes: usize,
}

/// The instructions that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentsMd {
    /// Of the user.
    pub user: Option<Doc>,
    /// Of the project, from far to near.
    pub project: Vec<Doc>,
    /// The working directory, where there are project files.
    pub cwd: Option<PathBuf>,
    /// What the user should know: cuts, files that cannot be read, hidden characters.
    pub warnings: Vec<String>,
}

/// One file's share of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doc {
    /// Where it came from.
    pub path: PathBuf,
    /// What is used of it.
    pub text: String,
}

/// The user's own file may be this long.
const MAX_USER_BYTES: usize = 32 * 1024;

/// Collects the instructions. `read` is asked for each candidate in turn.
pub fn collect(request: &AgentsMdRequest<'_>, mut read: impl FnMut(&Path) -> DocRead) -> AgentsMd {
    let mut found = AgentsMd::default();
    let own = ["AGENTS.override.md".to_owned(), "AGENTS.md".to_owned()];
    if let Some(home) = request.home
        && let Some(mut doc) = found.first_of(home, &own, &mut read)
    {
        let mut budget = MAX_USER_BYTES;
        found.fit(&mut doc, &mut budget);
        found.user = Some(doc);
    }
    if request.max_bytes == 0 {
        return found;
    }
    let mut names = own.to_vec();
    names.extend_from_slice(request.fallback_names);
    let mut docs = Vec::new();
    for directory in request.directories {
        docs.extend(found.first_of(directory, &names, &mut read));
    }
    let mut budget = request.max_bytes;
    for doc in docs.iter_mut().rev() {
        found.fit(doc, &mut budget);
    }
    docs.retain(|doc| !doc.text.is_empty());
    if !docs.is_empty() {
        found.cwd = request.directories.last().cloned();
    }
    found.project = docs;
    found
}

impl AgentsMd {
    /// Whether there is nothing to tell the model.
    pub fn is_empty(&self) -> bool {
        self.user.is_none() && self.project.is_empty()
    }

    /// The first of the names that exists in the directory and has something to say.
    fn first_of(
        &mut self,
        directory: &Path,
        names: &[String],
        read: &mut impl FnMut(&Path) -> DocRead,
    ) -> Option<Doc> {
        for name in names {
            let path = directory.join(name);
            match read(&path) {
                DocRead::Missing => {}
                DocRead::Unreadable(why) => self.warnings.push(format!(
                    "cannot read `{}`: {why}; its instructions are left out",
                    path.display()
                )),
                DocRead::Text(text) if text.trim().is_empty() => {}
                DocRead::Text(text) => return Some(self.visible(path, &text)),
            }
        }
        None
    }

    fn visible(&mut self, path: PathBuf, text: &str) -> Doc {
        let escaped = escape_invisible(text);
        if escaped.n_escaped > 0 {
            self.warnings.push(format!(
                "`{}` has {} invisible characters; the model sees them as `\\u{{…}}`",
                path.display(),
                escaped.n_escaped
            ));
        }
        Doc {
            path,
            text: escaped.text,
        }
    }

    /// Cuts a file to what is left of the budget.
    fn fit(&mut self, doc: &mut Doc, budget: &mut usize) {
        if doc.text.len() <= *budget {
            *budget -= doc.text.len();
            return;
        }
        let keep = doc.text.floor_char_boundary(*budget);
        self.warnings.push(format!(
            "`{}` is over the budget for instructions: {} of its {} bytes are used \
             (`project_doc_max_bytes` raises the budget)",
            doc.path.display(),
            keep,
            doc.text.len()
        ));
        doc.text.truncate(keep);
        if keep > 0 {
            doc.text.push_str("\n[the rest of this file is cut off]");
        }
        *budget = 0;
    }
}

impl Fragment for AgentsMd {
    const KIND: FragmentKind = FragmentKind::AgentsMd;
    const ROLE: Role = Role::User;
    const MAX_BYTES: usize = 1 << 20;

    fn write_body(&self, out: &mut String) {
        out.push_str("# AGENTS.md instructions");
        if let Some(cwd) = &self.cwd {
            let _ = write!(out, " for {}", cwd.display());
        }
        out.push_str("\n\n<INSTRUCTIONS>\n");
        if let Some(doc) = &self.user {
            out.push_str(doc.text.trim_end());
        }
        if self.user.is_some() && !self.project.is_empty() {
            out.push_str("\n\n--- project-doc ---\n\n");
        }
        for (doc_idx, doc) in self.project.iter().enumerate() {
            if doc_idx > 0 {
                out.push_str("\n\n");
            }
            out.push_str(doc.text.trim_end());
        }
        out.push_str("\n</INSTRUCTIONS>");
    }
}
