//! Recognises commands that only look: what they read, search or list.
//!
//! For showing only, never for permission. It errs on the side of showing a command as it is:
//! whatever is not known to the letter is no exploration.

/// What a script that only looks does, in order. At least one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exploration {
    /// One for each command, or more.
    pub steps: Vec<Step>,
}

/// One thing that is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A file is read.
    Read {
        /// Its path.
        path: String,
    },
    /// Text or names are searched for.
    Search {
        /// What for.
        pattern: String,
        /// Where, if it was said.
        place: Option<String>,
    },
    /// A directory is listed.
    List {
        /// Which, if it was said.
        place: Option<String>,
    },
    /// Something of the repository is shown.
    Show {
        /// The command, without what does not matter.
        what: String,
    },
}

/// Options that a command may have. Anything else might write, or run something.
struct Options {
    /// Single letters that may stand together.
    letters: &'static str,
    /// Options that take the next word, or what stands behind them.
    with_value: &'static [&'static str],
    /// Whole words.
    words: &'static [&'static str],
}

const READ: Options = Options {
    letters: "AbEnstTv",
    with_value: &[],
    words: &[],
};
const NUMBERED: Options = Options {
    letters: "",
    with_value: &["-b", "-w", "-s"],
    words: &["-ba"],
};
const COUNT: Options = Options {
    letters: "lwcmL",
    with_value: &[],
    words: &[],
};
const ENDS: Options = Options {
    letters: "qv0123456789",
    with_value: &["-n", "-c", "--lines", "--bytes"],
    words: &[],
};
const LIST: Options = Options {
    letters: "aAlhRrtS1FdpiLsUX",
    with_value: &["--color", "-I"],
    words: &["--all", "--group-directories-first"],
};
const GREP: Options = Options {
    letters: "nirlcvwxEFHhosqRISUPau",
    with_value: &[
        "-A",
        "-B",
        "-C",
        "-e",
        "-g",
        "-t",
        "-T",
        "-m",
        "--glob",
        "--include",
        "--exclude",
        "--exclude-dir",
        "--color",
        "--type",
        "--max-count",
        "--context",
        "--max-depth",
        "--sort",
    ],
    words: &[
        "--files",
        "--hidden",
        "--no-ignore",
        "--line-number",
        "--ignore-case",
        "--no-heading",
        "--files-with-matches",
        "--fixed-strings",
        "--word-regexp",
        "--count",
        "--recursive",
        "--multiline",
        "--heading",
        "--smart-case",
    ],
};
const FIND: Options = Options {
    letters: "",
    with_value: &[
        "-maxdepth",
        "-mindepth",
        "-type",
        "-size",
        "-mtime",
        "-newer",
    ],
    words: &["-not", "-o", "-or", "-and", "-print", "-prune"],
};
const GIT: Options = Options {
    letters: "psbw0123456789",
    with_value: &[
        "-n",
        "-U",
        "--color",
        "--max-count",
        "--format",
        "--pretty",
        "--since",
        "--author",
        "--unified",
        "--diff-filter",
        "-L",
    ],
    words: &[
        "--stat",
        "--oneline",
        "--cached",
        "--staged",
        "--name-only",
        "--name-status",
        "--short",
        "--graph",
        "--all",
        "--porcelain",
        "--patch",
        "--no-color",
        "--decorate",
        "--numstat",
        "--branch",
        "--follow",
        "--no-patch",
        "--shortstat",
        "--reverse",
        "--",
    ],
};

/// What the script looks at, if it is certain that it does nothing else.
pub(crate) fn exploration(command: &str) -> Option<Exploration> {
    let mut steps = Vec::new();
    for pipeline in parse(command)? {
        let mut commands = pipeline.into_iter();
        steps.append(&mut simple(&commands.next()?)?);
        for filter in commands {
            let (name, words) = filter.split_first()?;
            let is_filter = matches!(name.as_str(), "head" | "tail");
            if !is_filter || !arguments(words, &ENDS)?.is_empty() {
                return None;
            }
        }
    }
    (!steps.is_empty()).then_some(Exploration { steps })
}

type Words = Vec<String>;

/// The script as pipelines joined by `&&`; `None` if there is anything else in it.
fn parse(script: &str) -> Option<Vec<Vec<Words>>> {
    let mut pipelines = vec![vec![Words::new()]];
    let mut word: Option<String> = None;
    let mut characters = script.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            ' ' => end_word(&mut pipelines, &mut word)?,
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        end if end == character => break,
                        '$' | '`' | '!' if character == '"' => return None,
                        '\n' => return None,
                        '\\' if character == '"' => {
                            // What a backslash means depends on what follows.
                            if matches!(characters.peek(), Some('\\' | '"' | '$' | '`')) {
                                return None;
                            }
                            word.push('\\');
                        }
                        other => word.push(other),
                    }
                }
            }
            '|' => {
                end_word(&mut pipelines, &mut word)?;
                pipelines.last_mut()?.push(Words::new());
            }
            '&' => {
                end_word(&mut pipelines, &mut word)?;
                (characters.next()? == '&').then_some(())?;
                pipelines.push(vec![Words::new()]);
            }
            '#' if word.is_none() => return None,
            '#' | ',' | '.' | '/' | '_' | '-' | '+' | ':' | '@' | '%' | '=' | '*' | '?' | '^' => {
                word.get_or_insert_default().push(character);
            }
            _ if character.is_alphanumeric() => word.get_or_insert_default().push(character),
            _ => return None,
        }
    }
    end_word(&mut pipelines, &mut word)?;
    let complete = pipelines.iter().flatten().all(|words| !words.is_empty());
    complete.then_some(pipelines)
}

fn end_word(pipelines: &mut [Vec<Words>], word: &mut Option<String>) -> Option<()> {
    if let Some(word) = word.take() {
        pipelines.last_mut()?.last_mut()?.push(word);
    }
    Some(())
}

/// What one command looks at.
fn simple(words: &[String]) -> Option<Vec<Step>> {
    let (name, words) = words.split_first()?;
    match name.as_str() {
        "cat" | "bat" => reads(arguments(words, &READ)?),
        "nl" => reads(arguments(words, &NUMBERED)?),
        "wc" => reads(arguments(words, &COUNT)?),
        "head" | "tail" => reads(arguments(words, &ENDS)?),
        "sed" => sed(words),
        "ls" | "tree" => {
            let places = arguments(words, &LIST)?;
            Some(listed(&places))
        }
        "rg" | "grep" | "egrep" | "fgrep" => grep(name, words),
        "find" => find(words),
        "git" => git(words),
        _ => None,
    }
}

/// The words that are no options; `None` if there is an option that is not allowed.
fn arguments<'a>(words: &'a [String], allowed: &Options) -> Option<Vec<&'a str>> {
    let mut found = Vec::new();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            found.push(word);
        } else if allowed.with_value.contains(&word) {
            words.next()?;
        } else {
            allows(allowed, word).then_some(())?;
        }
    }
    Some(found)
}

fn allows(allowed: &Options, word: &str) -> bool {
    let joined = |option: &&&str| {
        let value = word.strip_prefix(**option);
        let is_long = option.starts_with("--");
        value.is_some_and(|value| value.starts_with('=') == is_long)
    };
    let letters = word.strip_prefix('-').unwrap_or_default();
    allowed.words.contains(&word)
        || allowed.with_value.iter().any(|option| joined(&option))
        || (!letters.is_empty()
            && letters
                .chars()
                .all(|letter| allowed.letters.contains(letter)))
}

fn reads(paths: Vec<&str>) -> Option<Vec<Step>> {
    let read = |path: &str| Step::Read {
        path: path.to_owned(),
    };
    (!paths.is_empty()).then(|| paths.into_iter().map(read).collect())
}

fn listed(places: &[&str]) -> Vec<Step> {
    let place = (!places.is_empty()).then(|| places.join(" "));
    vec![Step::List { place }]
}

/// `sed -n 1,5p file`, the one form that only prints.
fn sed(words: &[String]) -> Option<Vec<Step>> {
    let [option, script, paths @ ..] = words else {
        return None;
    };
    let lines = script.strip_suffix('p')?;
    let prints = !lines.is_empty()
        && lines
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ',' | '$'));
    if option != "-n" || !prints || paths.iter().any(|path| path.starts_with('-')) {
        return None;
    }
    reads(paths.iter().map(String::as_str).collect())
}

fn grep(name: &str, words: &[String]) -> Option<Vec<Step>> {
    let found = arguments(words, &GREP)?;
    if words.iter().any(|word| word == "--files") {
        return (name == "rg").then(|| listed(&found));
    }
    let mut given = words
        .iter()
        .enumerate()
        .filter(|(_, w)| w.starts_with("-e"));
    let (pattern, places) = if let Some((at, option)) = given.next() {
        // One pattern, and apart from its option, or else something would not be shown.
        (option == "-e" && given.next().is_none()).then_some(())?;
        (words.get(at + 1)?.as_str(), found.as_slice())
    } else {
        let (pattern, places) = found.split_first()?;
        (*pattern, places)
    };
    Some(vec![Step::Search {
        pattern: pattern.to_owned(),
        place: (!places.is_empty()).then(|| places.join(" ")),
    }])
}

fn find(words: &[String]) -> Option<Vec<Step>> {
    const NAMES: &[&str] = &["-name", "-iname", "-path", "-ipath"];
    let is_name = |word: &String| NAMES.contains(&word.as_str());
    let mut patterns = Vec::new();
    let mut others = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if is_name(word) {
            patterns.push(words.next()?.as_str());
        } else {
            others.push(word.clone());
        }
    }
    let places = arguments(&others, &FIND)?;
    if patterns.is_empty() {
        return Some(listed(&places));
    }
    Some(vec![Step::Search {
        pattern: patterns.join(" "),
        place: (!places.is_empty()).then(|| places.join(" ")),
    }])
}

fn git(words: &[String]) -> Option<Vec<Step>> {
    let words = match words.split_first()? {
        (first, rest) if first == "--no-pager" => rest,
        _ => words,
    };
    let (subcommand, rest) = words.split_first()?;
    let looks = ["status", "log", "diff", "show", "blame", "ls-files"];
    if !looks.contains(&subcommand.as_str()) {
        return None;
    }
    arguments(rest, &GIT)?;
    Some(vec![Step::Show {
        what: format!("git {}", words.join(" ")),
    }])
}

#[cfg(test)]
mod tests;
