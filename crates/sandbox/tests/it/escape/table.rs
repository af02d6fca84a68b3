//! What an attempt is, and what is expected of it at each level.

use std::io;
use std::path::{Path, PathBuf};

/// Why an attempt came to nothing.
#[derive(Debug)]
pub(super) enum Refusal {
    Kernel(io::Error),
    /// Nothing was shown: the machine lacks what the attempt needs.
    Skip(String),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Kernel(error)
    }
}

impl From<nix::errno::Errno> for Refusal {
    fn from(errno: nix::errno::Errno) -> Self {
        Self::Kernel(errno.into())
    }
}

pub(super) type Tried = Result<(), Refusal>;

/// An attempt did everything and had no effect.
pub(super) fn nothing_came_of_it() -> Refusal {
    Refusal::Kernel(io::Error::other("nothing came of it"))
}

/// What an attempt knows of the world.
pub(super) struct Scene {
    /// Where all its directories are.
    pub(super) base: PathBuf,
    /// The name of the attempt for paths.
    pub(super) slug: String,
}

impl Scene {
    /// A file of the attempt's own in the workspace, which nothing forbids.
    pub(super) fn own(&self, name: &str) -> PathBuf {
        self.base.join("W").join(&self.slug).join(name)
    }

    /// A number that the stage has written down: an id, a port.
    pub(super) fn number(&self, name: &str) -> i32 {
        let path = self.base.join("W/facts").join(name);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }
}

/// The attempt got what it wanted, and needs it no more.
#[expect(clippy::unnecessary_wraps, reason = "it ends an attempt")]
pub(super) fn done<T>(_: T) -> Tried {
    Ok(())
}

pub(super) type Action = fn(&Path, &Scene) -> Tried;

/// What shows that an attempt is not refused for being broken.
#[derive(Clone, Copy)]
pub(super) enum Twin {
    /// The same on a path where it is allowed.
    Same(&'static str),
    /// The nearest relative that is allowed.
    Like(Action),
    /// The same outside of the sandbox, where the kernel must get to see it.
    Outside,
    /// It always begins; what counts is whether it lasts.
    Itself,
}

/// What comes of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Denied,
    Restored,
    Gap,
}

impl Outcome {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Restored => "restored",
            Self::Gap => "**gap**",
        }
    }
}

/// Who has the rights for an attempt outside of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Anybody,
    Root,
    /// The superuser inside has fewer capabilities than the one outside, and is nobody to him.
    User,
}

impl Whose {
    /// Whether this process is one of them.
    pub(super) fn is_mine(self, level: &str) -> bool {
        let is_root = nix::unistd::geteuid().is_root();
        match self {
            Self::Anybody => true,
            Self::Root => is_root,
            // In a sandbox the agent has no more of them than its commands.
            Self::User => !is_root || level == "nested",
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Anybody => "",
            Self::Root => " (root)",
            Self::User => " (user)",
        }
    }
}

/// The levels that are played, in the order of the columns.
pub(super) const LEVELS: [&str; 5] = [
    "full",
    "full-without-fresh-proc",
    "no-namespaces",
    "no-landlock",
    "nested",
];

/// One attempt to do what the sandbox is there to prevent.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    /// What is tried, for people; unique.
    pub(super) name: &'static str,
    pub(super) action: Action,
    /// The path that it is tried on, below the base; `%` is the attempt's own directory.
    pub(super) target: &'static str,
    pub(super) twin: Twin,
    /// By [`LEVELS`].
    pub(super) outcomes: [Outcome; 5],
    /// Whose it is; for others the machine itself refuses it at every level.
    pub(super) whose: Whose,
}

/// An attempt that is denied at all levels, in a directory outside the roots and in the workspace.
pub(super) const fn attempt(name: &'static str, action: Action) -> Attempt {
    Attempt {
        name,
        action,
        target: "O/%",
        twin: Twin::Same("W/%"),
        outcomes: [Outcome::Denied; 5],
        whose: Whose::Anybody,
    }
}

impl Attempt {
    pub(super) const fn on(mut self, target: &'static str, twin: &'static str) -> Self {
        self.target = target;
        self.twin = Twin::Same(twin);
        self
    }

    /// Beside something that is allowed.
    pub(super) const fn beside(mut self, twin: Action) -> Self {
        self.twin = Twin::Like(twin);
        self
    }

    pub(super) const fn with(mut self, twin: Twin) -> Self {
        self.twin = twin;
        self
    }

    /// Where only comparing afterwards, or nothing, is left.
    pub(super) const fn without_namespaces(mut self, outcome: Outcome) -> Self {
        self.outcomes[2] = outcome;
        self.outcomes[4] = outcome;
        self
    }

    /// Inside a sandbox of ours, which stands in the way as well.
    pub(super) const fn nested(mut self, outcome: Outcome) -> Self {
        self.outcomes[4] = outcome;
        self
    }

    pub(super) const fn without_landlock(mut self, outcome: Outcome) -> Self {
        self.outcomes[3] = outcome;
        self
    }

    pub(super) const fn everywhere(mut self, outcome: Outcome) -> Self {
        self.outcomes = [outcome; 5];
        self
    }

    pub(super) const fn only(mut self, whose: Whose) -> Self {
        self.whose = whose;
        self
    }

    /// Its name in paths.
    pub(super) fn slug(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        self.name.chars().map(plain).collect()
    }

    pub(super) fn scene(&self, base: &Path) -> Scene {
        Scene {
            base: base.to_owned(),
            slug: self.slug(),
        }
    }
}

/// Attempts of one kind.
pub(super) struct Category {
    pub(super) title: &'static str,
    pub(super) attempts: &'static [Attempt],
}

/// The table.
pub(super) const CATEGORIES: &[Category] = &[
    super::writes::CATEGORY,
    super::links::CATEGORY,
    super::metadata::CATEGORY,
    super::protected::CATEGORY,
    super::planted::CATEGORY,
    super::secrets::CATEGORY,
    super::mounts::CATEGORY,
    super::proc::CATEGORY,
    super::processes::CATEGORY,
    super::sockets::CATEGORY,
    super::kernel::CATEGORY,
    super::devices::CATEGORY,
    super::survival::CATEGORY,
    super::races::CATEGORY,
];

/// All attempts, in the order of the table.
pub(super) fn all() -> impl Iterator<Item = &'static Attempt> {
    CATEGORIES.iter().flat_map(|category| category.attempts)
}
