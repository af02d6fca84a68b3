//! The body of a request: the texts of the items joined, made as it is sent.
//!
//! A long conversation is never copied as a whole. Small texts are gathered into frames of some
//! tens of kilobytes, large ones are handed over as they are. The length is known beforehand, so
//! that the body needs no chunked encoding (which some servers refuse).

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use serde::Serialize;
use serde_json::Value;

use crate::ModelRequest;

/// Texts from this size on become a frame of their own, without a copy.
const LARGE: usize = 16 * 1024;
/// How much of small texts is gathered into a frame.
const FRAME: usize = 64 * 1024;

/// A request's JSON text in pieces.
pub(crate) struct RequestBody {
    pieces: VecDeque<Piece>,
    /// Bytes that are still to be handed out.
    remaining: u64,
}

enum Piece {
    Fixed(&'static str),
    Text(Arc<str>),
}

impl Piece {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Fixed(text) => text.as_bytes(),
            Self::Text(text) => text.as_bytes(),
        }
    }
}

/// Lets a frame own the text of an item.
struct SharedText(Arc<str>);

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl RequestBody {
    /// The order of the keys never changes: prompt caches compare text.
    pub(crate) fn new(request: &ModelRequest) -> Self {
        let mut body = Self {
            pieces: VecDeque::with_capacity(request.input.len() * 2 + 10),
            remaining: 0,
        };
        body.fixed("{\"model\":");
        body.json(&request.model);
        body.fixed(",\"instructions\":");
        body.json(&request.instructions);
        body.fixed(",\"input\":[");
        for (index, item) in request.input.iter().enumerate() {
            if index > 0 {
                body.fixed(",");
            }
            body.text(Arc::clone(item.json()));
        }
        body.fixed("],\"tools\":");
        body.text(Arc::clone(&request.tools));
        body.text(tail(request).into());
        body
    }

    /// All of it in one piece.
    pub(crate) fn into_bytes(self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(usize::try_from(self.remaining).unwrap_or(0));
        for piece in &self.pieces {
            bytes.extend_from_slice(piece.as_bytes());
        }
        bytes.freeze()
    }

    fn fixed(&mut self, text: &'static str) {
        self.push(Piece::Fixed(text));
    }

    fn text(&mut self, text: Arc<str>) {
        self.push(Piece::Text(text));
    }

    fn json(&mut self, text: &str) {
        self.text(to_json(text).into());
    }

    fn push(&mut self, piece: Piece) {
        self.remaining += piece.as_bytes().len() as u64;
        self.pieces.push_back(piece);
    }

    fn next_frame(&mut self) -> Option<Bytes> {
        let mut gathered = BytesMut::new();
        while let Some(piece) = self.pieces.pop_front() {
            let length = piece.as_bytes().len();
            let is_large = length >= LARGE;
            if !gathered.is_empty() && (is_large || gathered.len() + length > FRAME) {
                self.pieces.push_front(piece);
                break;
            }
            match piece {
                Piece::Text(text) if is_large => {
                    return Some(Bytes::from_owner(SharedText(text)));
                }
                Piece::Text(_) | Piece::Fixed(_) => gathered.extend_from_slice(piece.as_bytes()),
            }
        }
        (!gathered.is_empty()).then(|| gathered.freeze())
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = self.next_frame();
        if let Some(bytes) = &frame {
            self.remaining = self.remaining.saturating_sub(bytes.len() as u64);
        }
        Poll::Ready(frame.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.remaining)
    }
}

/// What follows the tools.
#[derive(Serialize)]
struct Tail<'a> {
    tool_choice: &'static str,
    parallel_tool_calls: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    store: bool,
    stream: bool,
    include: [&'static str; 1],
    prompt_cache_key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
struct Format<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    strict: bool,
    schema: &'a Value,
}

/// `,"tool_choice":…}`: the end of the body, from after the tools.
fn tail(request: &ModelRequest) -> String {
    let effort = request.reasoning_effort.as_deref();
    let summary = request.reasoning_summary.as_deref();
    let verbosity = request.verbosity.as_deref();
    let format = request.output_schema.as_ref().map(|schema| Format {
        kind: "json_schema",
        name: "agent_output_schema",
        strict: true,
        schema,
    });
    let tail = to_json(&Tail {
        tool_choice: "auto",
        parallel_tool_calls: request.parallel_tool_calls,
        reasoning: (effort.is_some() || summary.is_some()).then_some(Reasoning { effort, summary }),
        store: false,
        stream: true,
        include: ["reasoning.encrypted_content"],
        prompt_cache_key: &request.prompt_cache_key,
        text: (verbosity.is_some() || format.is_some()).then_some(Text { verbosity, format }),
    });
    tail.replacen('{', ",", 1)
}

/// Texts, numbers and string-keyed objects always have a JSON form.
fn to_json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

#[cfg(test)]
mod tests;
