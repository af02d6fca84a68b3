//! Recognises patches that arrive as shell commands: a heredoc for `apply_patch`, the patch as its
//! argument, or the text of a patch where a command is due.
//!
//! Only what certainly is a patch and nothing else is recognised. A script that does more runs in
//! the shell, where the name `apply_patch` leads to this program as well.

mod words;

use words::Scanner;

/// The names under which commands find this program as an applier of patches; models misspell
/// the first.
pub const PERSONALITIES: [&str; 2] = ["apply_patch", "applypatch"];

/// Shells whose scripts are looked into.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// How deep shells may be nested in scripts of shells.
const MAX_DEPTH: usize = 4;

/// A command that is a patch in truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchCommand {
    /// It calls `apply_patch` and does nothing else.
    Call {
        /// The directory that it changes to first, as written.
        directory: Option<String>,
        /// The text of the patch.
        patch: String,
    },
    /// It must not run, and cannot be taken as a patch either: why, for the model.
    Refused(&'static str),
}

const BARE_TEXT: &str = "this is the text of a patch and no command, so nothing was run; send it \
    with the `apply_patch` tool";

const ESCAPED: &str = "the delimiter of the heredoc is not quoted, so that `\\$` or a `\\` before a \
    backtick may mean either the character or both; nothing was changed. Send the patch with the \
    `apply_patch` tool";

impl PatchCommand {
    /// What a program and its arguments are, if they are a patch.
    pub fn of(argv: &[String]) -> Option<Self> {
        Self::nested(argv, 0)
    }

    /// What a shell script is, if it is a patch.
    pub fn of_script(script: &str) -> Option<Self> {
        in_script(script, 0)
    }

    fn nested(argv: &[String], depth: usize) -> Option<Self> {
        let (program, arguments) = argv.split_first()?;
        if PERSONALITIES.contains(&program.as_str()) {
            let [patch] = arguments else { return None };
            return Some(Self::call(None, patch.clone()));
        }
        in_script(script_of(program, arguments)?, depth)
    }

    fn call(directory: Option<String>, patch: String) -> Self {
        Self::Call { directory, patch }
    }
}

/// The script that a shell is given with `-c`.
fn script_of<'a>(program: &str, arguments: &'a [String]) -> Option<&'a str> {
    let name = program.rsplit('/').next().unwrap_or(program);
    if !SHELLS.contains(&name) {
        return None;
    }
    let (script, options) = arguments.split_last()?;
    let (last, others) = options.split_last()?;
    let is_option = |word: &String| word.starts_with('-') && !word.starts_with("--");
    let takes_script = is_option(last) && last.ends_with('c');
    (takes_script && others.iter().all(is_option)).then_some(script)
}

fn in_script(script: &str, depth: usize) -> Option<PatchCommand> {
    if depth >= MAX_DEPTH {
        return None;
    }
    if is_bare_text(script) {
        return Some(PatchCommand::Refused(BARE_TEXT));
    }
    let mut scanner = Scanner::new(script);
    scanner.skip_lines();
    let mut directory = None;
    let mut words = scanner.words()?;
    if let [cd, path] = words.as_slice()
        && cd == "cd"
        && scanner.take_separator()
    {
        if is_bare_text(scanner.rest()) {
            return Some(PatchCommand::Refused(BARE_TEXT));
        }
        is_plain(path).then_some(())?;
        directory = Some(path.clone());
        words = scanner.words()?;
    }
    let command = match words.split_first() {
        None => nobodys(&mut scanner)?,
        Some((name, arguments)) if is_patch_name(name) => called(&mut scanner, arguments)?,
        Some((cat, [])) if cat == "cat" => piped(&mut scanner)?,
        Some(_) => PatchCommand::nested(&words, depth + 1)?,
    };
    scanner.skip_lines();
    if !scanner.is_at_end() {
        return None;
    }
    within(directory, command)
}

/// Whether the text begins as a patch does, perhaps behind a fence.
fn is_bare_text(script: &str) -> bool {
    let script = script.trim_start();
    let mut lines = script
        .strip_prefix('\u{feff}')
        .unwrap_or(script)
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let is_fence = first.starts_with("```") || first.starts_with("~~~");
    let first = if is_fence {
        lines.next().unwrap_or_default()
    } else {
        first
    };
    first == crate::parse::BEGIN
}

fn is_patch_name(word: &str) -> bool {
    PERSONALITIES.contains(&word)
}

/// `apply_patch` with a heredoc or with the patch as its argument.
fn called(scanner: &mut Scanner<'_>, arguments: &[String]) -> Option<PatchCommand> {
    match arguments {
        [] => from_heredoc(scanner, false),
        [dash] if dash == "-" => from_heredoc(scanner, false),
        [option] if option == "--help" || option == "-h" => None,
        [patch] => {
            scanner.skip_redirection();
            Some(PatchCommand::call(None, patch.clone()))
        }
        _ => None,
    }
}

/// `cat <<EOF | apply_patch`.
fn piped(scanner: &mut Scanner<'_>) -> Option<PatchCommand> {
    from_heredoc(scanner, true)
}

/// A heredoc that no command reads. A shell would throw the patch away without a word.
fn nobodys(scanner: &mut Scanner<'_>) -> Option<PatchCommand> {
    let heredoc = scanner.heredoc_start()?;
    let body = scanner.heredoc_body(&heredoc)?;
    is_bare_text(&body).then_some(PatchCommand::Refused(BARE_TEXT))
}

fn from_heredoc(scanner: &mut Scanner<'_>, is_piped: bool) -> Option<PatchCommand> {
    let heredoc = scanner.heredoc_start()?;
    if is_piped {
        scanner.take("|").then_some(())?;
        let words = scanner.words()?;
        let [name] = words.as_slice() else {
            return None;
        };
        is_patch_name(name).then_some(())?;
    }
    scanner.skip_redirection();
    let body = scanner.heredoc_body(&heredoc)?;
    // A shell would expand the body where the delimiter is bare; models mean it as it stands.
    if !heredoc.is_quoted && (body.contains("\\$") || body.contains("\\`")) {
        return Some(PatchCommand::Refused(ESCAPED));
    }
    Some(PatchCommand::call(None, body))
}

/// The command as it is after `cd`; `None` if only the shell knows where that leads.
fn within(outer: Option<String>, command: PatchCommand) -> Option<PatchCommand> {
    match (outer, command) {
        (Some(outer), PatchCommand::Call { directory, patch }) => {
            let directory = match directory {
                None => outer,
                Some(inner) if inner.starts_with('/') => inner,
                Some(inner) => format!("{outer}/{inner}"),
            };
            is_plain(&directory).then(|| PatchCommand::call(Some(directory), patch))
        }
        (_, command) => Some(command),
    }
}

/// Whether `cd` takes a path as the kernel does. It has options and `-`, keeps an empty path for no
/// path, and takes `link/..` back to where the link is, not to the directory above its target.
fn is_plain(directory: &str) -> bool {
    let mut named = directory.starts_with('/');
    let leads_back = directory.split('/').any(|part| {
        named |= !matches!(part, "" | "." | "..");
        named && part == ".."
    });
    !directory.is_empty() && !directory.starts_with(['-', '+']) && !leads_back
}
