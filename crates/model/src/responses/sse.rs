//! Server-sent events out of bytes as they arrive.
//!
//! `eventsource-stream` does the parsing. It is fed whole lines, for four reasons: it reads an
//! unfinished line again with every piece (a line of one megabyte, which every long answer has,
//! costs 180 ms in pieces of 4 KB and 2 ms in one); it copies the rest of a piece per line, so
//! that pieces of many lines are kept small; it stops for good at bytes that are no UTF-8; and it
//! drops a last event that no blank line follows. The idle time-out is here too, because any byte
//! counts as a sign of life.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use eventsource_stream::{Event, EventStream, EventStreamError};
use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep};

/// How much is fed at once, unless a single line is longer.
const SLICE: usize = 1024;
/// Longest event. A server that sends more without an end is not believed.
const MAX_EVENT: usize = 64 * 1024 * 1024;

/// Why there are no more events.
#[derive(Debug, thiserror::Error)]
pub(super) enum SseError<E> {
    /// The bytes ended with an error.
    #[error("{0}")]
    Transport(E),
    /// No byte arrived for this long.
    #[error("no data for {0:?}")]
    Idle(Duration),
    /// One event is too long.
    #[error("an event is longer than {MAX_EVENT} bytes")]
    TooLong,
    /// The bytes are no events.
    #[error("{0}")]
    Malformed(String),
}

/// The events in a stream of bytes.
pub(super) struct SseStream<S> {
    events: EventStream<Lines<S>>,
}

impl<S> SseStream<S> {
    /// Reads `bytes`; an error follows when nothing arrives for `idle`.
    pub(super) fn new(bytes: S, idle: Duration) -> Self {
        Self {
            events: EventStream::new(Lines {
                bytes,
                idle,
                timer: None,
                arrived: Bytes::new(),
                line: BytesMut::new(),
                event_length: 0,
                ended: false,
            }),
        }
    }
}

impl<S, E> Stream for SseStream<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    type Item = Result<Event, SseError<E>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(Pin::new(&mut self.events).poll_next(cx));
        Poll::Ready(event.map(|event| {
            event.map_err(|error| match error {
                EventStreamError::Transport(error) => error,
                EventStreamError::Utf8(error) => SseError::Malformed(error.to_string()),
                EventStreamError::Parser(error) => SseError::Malformed(format!("{:?}", error.code)),
            })
        }))
    }
}

/// Turns pieces of any size into pieces that end where a line ends, in valid UTF-8.
struct Lines<S> {
    bytes: S,
    idle: Duration,
    /// Runs while nothing arrives.
    timer: Option<Pin<Box<Sleep>>>,
    /// What arrived last and was not handed on.
    arrived: Bytes,
    /// The beginning of a line whose end has not arrived.
    line: BytesMut,
    /// Bytes handed on since the last blank line.
    event_length: usize,
    ended: bool,
}

impl<S> Lines<S> {
    /// Takes whole lines out of what arrived.
    fn next_piece(&mut self) -> Option<Bytes> {
        if self.arrived.is_empty() {
            return None;
        }
        let end = if self.line.is_empty() {
            // As many whole lines as fit, or else the one longer line.
            let slice = self.arrived.get(..SLICE).unwrap_or(&self.arrived);
            let last = slice.iter().rposition(|byte| is_line_end(*byte));
            last.or_else(|| first_line_end(&self.arrived))
        } else {
            first_line_end(&self.arrived)
        };
        let Some(end) = end else {
            self.line.extend_from_slice(&self.arrived);
            self.arrived.clear();
            return None;
        };
        let lines = self.arrived.split_to(end + 1);
        if self.line.is_empty() {
            return Some(lines);
        }
        self.line.extend_from_slice(&lines);
        Some(self.line.split().freeze())
    }

    /// What ends an event that the server left open.
    fn last_piece(&mut self) -> Bytes {
        self.line.extend_from_slice(b"\n\n");
        self.line.split().freeze()
    }

    /// Counts the length of the current event.
    fn measure(&mut self, piece: &[u8]) -> bool {
        let ends_event = piece.first().is_some_and(|byte| is_line_end(*byte))
            || piece
                .windows(2)
                .any(|pair| matches!(pair, b"\n\n" | b"\r\r" | b"\n\r"));
        self.event_length = if ends_event {
            0
        } else {
            self.event_length.saturating_add(piece.len())
        };
        self.event_length.saturating_add(self.line.len()) <= MAX_EVENT
    }
}

impl<S, E> Stream for Lines<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    type Item = Result<Bytes, SseError<E>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(piece) = this.next_piece() {
                let fits = this.measure(&piece);
                return Poll::Ready(Some(if fits {
                    Ok(repaired(piece))
                } else {
                    Err(SseError::TooLong)
                }));
            }
            if this.ended {
                return Poll::Ready(None);
            }
            if this.line.len() > MAX_EVENT {
                return Poll::Ready(Some(Err(SseError::TooLong)));
            }
            match Pin::new(&mut this.bytes).poll_next(cx) {
                Poll::Ready(Some(Ok(bytes))) => {
                    this.timer = None;
                    this.arrived = bytes;
                }
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Some(Err(SseError::Transport(error))));
                }
                Poll::Ready(None) => {
                    this.ended = true;
                    return Poll::Ready(Some(Ok(repaired(this.last_piece()))));
                }
                Poll::Pending => {
                    let idle = this.idle;
                    let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(idle)));
                    ready!(timer.as_mut().poll(cx));
                    timer.as_mut().reset(Instant::now() + idle);
                    return Poll::Ready(Some(Err(SseError::Idle(idle))));
                }
            }
        }
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn first_line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| is_line_end(*byte))
}

/// Replaces what is no UTF-8. Whole lines never end within a character.
fn repaired(piece: Bytes) -> Bytes {
    match String::from_utf8_lossy(&piece) {
        std::borrow::Cow::Borrowed(_) => piece,
        std::borrow::Cow::Owned(text) => Bytes::from(text),
    }
}
