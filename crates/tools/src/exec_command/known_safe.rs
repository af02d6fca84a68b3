//! Scripts that plainly only read. They may run side by side, and under the policy `untrusted`
//! without asking. The sandbox holds for them as for all others.

/// Programs that read and print, whatever their arguments.
const READERS: &[&str] = &[
    "cat", "cut", "echo", "expr", "false", "grep", "head", "id", "ls", "nl", "paste", "pwd", "rev",
    "seq", "stat", "tail", "tr", "true", "uname", "uniq", "wc", "which", "whoami",
];

/// Options of `rg` that run other programs.
const RG_RUNS: &[&str] = &["--pre", "--hostname-bin", "--search-zip", "-z"];

/// Options of `find` that run programs, delete or write.
const FIND_ACTS: &[&str] = &[
    "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf",
];

/// Whether the script is one command made of plain words, and that command only reads. Anything
/// that a shell would expand, join or redirect makes it unknown.
pub(super) fn is_known_safe(script: &str) -> bool {
    let Some(words) = plain_words(script) else {
        return false;
    };
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let has = |options: &[&str]| {
        arguments.iter().any(|argument| {
            let name = argument.split('=').next().unwrap_or(argument);
            options.contains(&name)
        })
    };
    match *program {
        "rg" => !has(RG_RUNS) && !bundles_z(arguments),
        "find" => !has(FIND_ACTS),
        "sed" => is_sed_print(arguments),
        program => READERS.contains(&program),
    }
}

/// `-z` inside a bundle of short options of `rg`.
fn bundles_z(arguments: &[&str]) -> bool {
    arguments.iter().any(|argument| {
        argument.starts_with('-') && !argument.starts_with("--") && argument.contains('z')
    })
}

/// `sed -n 5p FILE` or `sed -n 5,9p FILE`.
fn is_sed_print(arguments: &[&str]) -> bool {
    let ["-n", range, files @ ..] = arguments else {
        return false;
    };
    let Some(range) = range.strip_suffix('p') else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let in_range = match range.split_once(',') {
        Some((first, last)) => is_number(first) && is_number(last),
        None => is_number(range),
    };
    in_range && files.iter().all(|file| !file.starts_with('-'))
}

/// The words of a script without quotes, expansions, operators or comments; single quotes
/// around a whole word are taken off.
fn plain_words(script: &str) -> Option<Vec<&str>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=+@%".contains(c);
    script
        .trim()
        .split([' ', '\t'])
        .filter(|word| !word.is_empty())
        .map(|word| {
            let bare = word
                .strip_prefix('\'')
                .and_then(|word| word.strip_suffix('\''))
                .unwrap_or(word);
            bare.chars().all(is_plain).then_some(bare)
        })
        .collect()
}

#[cfg(test)]
mod tests;
