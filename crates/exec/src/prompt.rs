//! Where the prompt comes from: the argument, standard input, or both.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Stdin};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// What is done with standard input beside a prompt argument.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StdinMode {
    /// A file is read; a pipe is read if it begins to write soon.
    #[default]
    Auto,
    /// It is read to its end, however long that takes.
    Wait,
    /// It is never read.
    None,
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// Neither an argument nor standard input has one.
    #[error("no prompt: give one as an argument, or on standard input")]
    Missing,
    /// Standard input cannot be read.
    #[error("cannot read standard input")]
    Read(#[from] io::Error),
    /// The prompt is absurdly long.
    #[error("the prompt on standard input is larger than {} KiB", MAX_PROMPT_BYTES >> 10)]
    TooLarge,
}

/// A prompt, and what is to be said about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) notes: Vec<String>,
}

/// How long a pipe may stay silent before the turn starts without it.
const SILENCE_MS: u16 = 200;
/// The longest prompt on standard input, in bytes.
const MAX_PROMPT_BYTES: usize = 1 << 20;
/// How much of the data beside a prompt the model gets, in bytes; the middle is left out.
const MAX_DATA_BYTES: usize = 128 << 10;
/// How much of it is read at all, in bytes, so that an endless stream ends.
const MAX_READ_BYTES: u64 = 64 << 20;

/// Puts the prompt together.
pub(crate) fn read_prompt(argument: Option<&str>, mode: StdinMode) -> Result<Prompt, PromptError> {
    match argument {
        None | Some("-") => prompt_from_stdin(),
        Some(text) => {
            let mut prompt = Prompt {
                text: text.to_owned(),
                notes: Vec::new(),
            };
            if text.trim().is_empty() {
                return Err(PromptError::Missing);
            }
            append_data(&mut prompt, mode)?;
            Ok(prompt)
        }
    }
}

fn prompt_from_stdin() -> Result<Prompt, PromptError> {
    let stdin = io::stdin();
    if stdin.is_terminal() || is_closed(&stdin) {
        return Err(PromptError::Missing);
    }
    let bytes = read_all(&stdin)?;
    if bytes.len() > MAX_PROMPT_BYTES {
        return Err(PromptError::TooLarge);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.trim().is_empty() {
        return Err(PromptError::Missing);
    }
    Ok(Prompt {
        text,
        notes: Vec::new(),
    })
}

/// Appends what standard input has to say, if it is there to be read.
fn append_data(prompt: &mut Prompt, mode: StdinMode) -> Result<(), PromptError> {
    let stdin = io::stdin();
    if mode == StdinMode::None || stdin.is_terminal() || is_closed(&stdin) {
        return Ok(());
    }
    if mode == StdinMode::Auto && is_stream(&stdin) && !speaks_soon(&stdin) {
        prompt.notes.push(format!(
            "standard input said nothing for {SILENCE_MS} ms and is not read; `--stdin wait` \
             waits for it, `--stdin none` says that it is not meant"
        ));
        return Ok(());
    }
    let bytes = read_all(&stdin)?;
    if bytes.is_empty() {
        return Ok(());
    }
    let data = String::from_utf8_lossy(&bytes);
    let (data, n_cut) = shorten(&data);
    if n_cut > 0 {
        prompt.notes.push(format!(
            "standard input has {} bytes; {n_cut} of them in the middle are left out",
            bytes.len()
        ));
    }
    let end = if data.ends_with('\n') { "" } else { "\n" };
    let _ = write!(prompt.text, "\n\n<stdin>\n{data}{end}</stdin>");
    Ok(())
}

/// Without its middle, where it is long. Returns how many bytes are gone.
fn shorten(data: &str) -> (String, usize) {
    if data.len() <= MAX_DATA_BYTES {
        return (data.to_owned(), 0);
    }
    let head = data.floor_char_boundary(MAX_DATA_BYTES / 2);
    let tail = data.ceil_char_boundary(data.len() - MAX_DATA_BYTES / 2);
    let n_cut = tail - head;
    let (first, rest) = data.split_at(head);
    let last = rest.split_at(n_cut).1;
    (
        format!("{first}\n[{n_cut} bytes of standard input omitted here]\n{last}"),
        n_cut,
    )
}

fn read_all(stdin: &Stdin) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stdin.lock().take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether descriptor 0 is not open at all, or nothing that has data (`/dev/null`).
fn is_closed(stdin: &Stdin) -> bool {
    match file_type(stdin) {
        Ok(kind) => kind.is_char_device(),
        Err(_) => true,
    }
}

/// Whether its end may never come: a pipe or socket.
fn is_stream(stdin: &Stdin) -> bool {
    file_type(stdin).is_ok_and(|kind| kind.is_fifo() || kind.is_socket())
}

fn file_type(stdin: &Stdin) -> io::Result<std::fs::FileType> {
    let file = File::from(stdin.as_fd().try_clone_to_owned()?);
    Ok(file.metadata()?.file_type())
}

/// Whether there is something to read, or the end, within the time.
fn speaks_soon(stdin: &Stdin) -> bool {
    let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::from(SILENCE_MS)).is_ok_and(|n_ready| n_ready > 0)
}

#[cfg(test)]
mod tests;
