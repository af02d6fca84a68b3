//! Output in bounded memory: the first and the last part are kept, the middle is counted.

use std::collections::VecDeque;

use agent_terminal_text::plain_output;

/// Collects the output of a command.
#[derive(Debug)]
pub struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    n_bytes: u64,
    n_lines: u64,
}

/// What was kept of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Plain text; where the middle is gone, a line says how much.
    pub text: String,
    /// All bytes that the command printed.
    pub n_bytes: u64,
    /// All line ends that it printed.
    pub n_lines: u64,
    /// Bytes that were not kept.
    pub n_omitted: u64,
}

impl Capture {
    /// Keeps at most `max_bytes`, half of them from the start and half from the end.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            half: max_bytes / 2,
            n_bytes: 0,
            n_lines: 0,
        }
    }

    /// Takes what came next.
    pub fn push(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len() as u64;
        self.n_lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let room = self.half.saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        // Of one big piece only its end can stay.
        let rest = rest.split_at(rest.len().saturating_sub(self.half)).1;
        let n_over = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..n_over);
        self.tail.extend(rest);
    }

    /// Whether so many more bytes can be kept without leaving any out.
    pub fn has_room_for(&self, n_bytes: usize) -> bool {
        let n_more = n_bytes.saturating_sub(self.half.saturating_sub(self.head.len()));
        self.n_omitted() == 0 && self.tail.len() + n_more <= self.half
    }

    /// The bytes that are kept: of the start, and in two parts of the end.
    pub fn kept(&self) -> [&[u8]; 3] {
        let (front, back) = self.tail.as_slices();
        [&self.head, front, back]
    }

    /// All bytes that came.
    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Bytes that are no longer kept.
    fn n_omitted(&self) -> u64 {
        self.n_bytes - (self.head.len() + self.tail.len()) as u64
    }

    /// What is kept so far, as plain text.
    pub fn captured(&self) -> Captured {
        let n_omitted = self.n_omitted();
        let (front, back) = self.tail.as_slices();
        let text = if n_omitted == 0 {
            plain_output(&[&self.head, front, back].concat())
        } else {
            let mut text = plain_output(whole_characters(&self.head));
            text.push_str(&format_omitted(n_omitted));
            text.push_str(&plain_output(after_cut(&[front, back].concat())));
            text
        };
        Captured {
            text,
            n_bytes: self.n_bytes,
            n_lines: self.n_lines,
            n_omitted,
        }
    }
}

impl Capture {
    /// What is kept so far, as plain text, and from here on only what comes next. A character of
    /// which only the beginning has come is kept for then.
    pub fn take(&mut self) -> Captured {
        let rest = self.unfinished().to_vec();
        let taken = std::mem::replace(self, Self::new(self.half * 2));
        let n_rest = rest.len();
        self.push(&rest);
        taken.without_end(n_rest)
    }

    /// What is kept so far, without a character of which only the beginning has come.
    pub fn captured_so_far(&self) -> Captured {
        let n_rest = self.unfinished().len();
        let mut whole = self.captured();
        // The rest became one sign for something unreadable.
        if n_rest > 0 && whole.text.ends_with('\u{FFFD}') {
            whole.text.pop();
        }
        whole
    }

    fn without_end(mut self, n_bytes: usize) -> Captured {
        for _ in 0..n_bytes {
            if self.tail.pop_back().is_none() {
                self.head.pop();
            }
            self.n_bytes -= 1;
        }
        self.captured()
    }

    /// The bytes at the end that begin a character and do not complete it.
    pub fn unfinished(&self) -> &[u8] {
        let (front, back) = self.tail.as_slices();
        let last = [back, front, &self.head]
            .into_iter()
            .find(|part| !part.is_empty());
        let last = last.unwrap_or(&[]);
        last.get(whole_characters(last).len()..).unwrap_or(&[])
    }
}

fn format_omitted(n_bytes: u64) -> String {
    format!("\n... {n_bytes} bytes omitted ...\n")
}

/// Without a character that the cut went through.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let broken = bytes
        .iter()
        .rev()
        .take(3)
        .position(|byte| !is_continuation(*byte))
        .filter(|n_after| {
            let first = bytes.len() - 1 - n_after;
            bytes
                .get(first)
                .is_some_and(|byte| length(*byte) > n_after + 1)
        });
    match broken {
        Some(n_after) => bytes.split_at(bytes.len() - 1 - n_after).0,
        None => bytes,
    }
}

/// Without the rest of a character that the cut went through.
fn after_cut(bytes: &[u8]) -> &[u8] {
    let n_rest = bytes
        .iter()
        .take(3)
        .take_while(|byte| is_continuation(**byte))
        .count();
    bytes.split_at(n_rest).1
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many bytes a character has that begins with this byte (RFC 3629).
fn length(byte: u8) -> usize {
    match byte {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}
