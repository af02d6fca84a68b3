//! Serves one connection: reads requests, records and checks them, plays the steps.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{RawRequest, Reader, head, send_json};
use super::{RecordedRequest, Shared};
use crate::Step;
use crate::fail::lock;
use crate::step::{Hang, Piece};

/// How much is gathered before it is written, where no timing is wanted.
const WRITE: usize = 16 * 1024;

pub(super) fn serve(stream: &TcpStream, connection: usize, shared: &Shared) {
    let Ok(mut reader) = Reader::new(stream, shared) else {
        return;
    };
    while let Some(request) = reader.next() {
        let is_last = request.wants_close();
        let played = match record(request, connection, shared) {
            Verdict::Refuse(status, body) => send_json(stream, status, &[], &body),
            Verdict::Answer(step, number) => {
                let player = Player {
                    stream,
                    shared,
                    reader: &reader,
                    step,
                    sent: 0,
                };
                player.play(number)
            }
        };
        if played.is_err() || is_last {
            break;
        }
    }
    drop(stream.shutdown(Shutdown::Both));
}

enum Verdict<'a> {
    Refuse(u16, Value),
    Answer(&'a Step, usize),
}

fn record(raw: RawRequest, connection: usize, shared: &Shared) -> Verdict<'_> {
    let text = String::from_utf8_lossy(&raw.body).into_owned();
    let path = raw.path.split('?').next().unwrap_or("");
    let is_model_request = raw.method == "POST" && path.ends_with("/responses");
    let mut state = lock(&shared.state);
    let state = &mut *state;
    let number = state.answered;
    let step = shared.steps.get(number).or_else(|| shared.steps.last());
    let mut found = Vec::new();
    if is_model_request && shared.options.checks {
        let new_window = step.is_some_and(|step| step.new_window);
        found = state.checker.check(&text, new_window, shared.options);
    }
    state.requests.push(RecordedRequest {
        method: raw.method,
        path: raw.path,
        headers: raw.headers,
        body: serde_json::from_str(&text).unwrap_or(Value::Null),
        raw: text,
        connection,
        arrived: Instant::now(),
    });
    let refusal = found.first().cloned();
    let request = state.requests.len();
    let named = found
        .into_iter()
        .map(|violation| format!("request {request}: {violation}"));
    state.violations.extend(named);
    shared.changed.notify_all();
    match (refusal, step) {
        (Some(message), _) => Verdict::Refuse(
            400,
            json!({"error": {"message": message, "type": "invalid_request_error",
                "param": "input", "code": "strict_server"}}),
        ),
        (None, Some(step)) if is_model_request => {
            state.answered += 1;
            Verdict::Answer(step, number)
        }
        (None, _) => Verdict::Refuse(404, json!({"error": {"message": "nothing here"}})),
    }
}

/// Plays one step.
struct Player<'a> {
    stream: &'a TcpStream,
    shared: &'a Shared,
    reader: &'a Reader<'a>,
    step: &'a Step,
    /// Bytes of the body that were sent.
    sent: usize,
}

impl Player<'_> {
    fn play(mut self, number: usize) -> io::Result<()> {
        let step = self.step;
        let hangs_first = step.hang == Some(Hang::BeforeHeaders);
        let silence = if hangs_first {
            Duration::MAX
        } else {
            step.delay
        };
        self.wait(silence, None)?;
        if let Some((status, body)) = &step.status {
            return send_json(self.stream, *status, &step.headers, body);
        }
        let head = head(200, &step.headers, "text/event-stream");
        let head = format!("{head}transfer-encoding: chunked\r\n\r\n");
        self.stream.write_all(head.as_bytes())?;
        let mut gathered = Vec::new();
        for piece in step.pieces(number) {
            match piece {
                Piece::Bytes(bytes) => gathered.extend(bytes),
                Piece::Delta(bytes) => {
                    if !step.delta_delay.is_zero() {
                        self.send(&std::mem::take(&mut gathered))?;
                        self.wait(step.delta_delay, step.keep_alive)?;
                    }
                    gathered.extend(bytes);
                }
                Piece::Hang => {
                    self.send(&std::mem::take(&mut gathered))?;
                    self.wait(Duration::MAX, step.keep_alive)?;
                }
            }
            if gathered.len() >= WRITE {
                self.send(&std::mem::take(&mut gathered))?;
            }
        }
        self.send(&gathered)?;
        self.stream.write_all(b"0\r\n\r\n")
    }

    /// Sends a part of the body; an error when the answer is to be cut here.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let left = self
            .step
            .cut_after
            .map_or(usize::MAX, |cut| cut.saturating_sub(self.sent));
        let now = bytes.get(..left).unwrap_or(bytes);
        self.sent += now.len();
        let size = self.step.split.unwrap_or(WRITE);
        for part in now.chunks(size) {
            let mut framed = format!("{:x}\r\n", part.len()).into_bytes();
            framed.extend_from_slice(part);
            framed.extend_from_slice(b"\r\n");
            self.stream.write_all(&framed).inspect_err(|_| {
                self.shared.disconnects.fetch_add(1, Ordering::SeqCst);
            })?;
        }
        if left <= bytes.len() {
            return Err(io::Error::other("cut as the step says"));
        }
        Ok(())
    }

    /// Waits; an error when the client goes away or the server is stopped.
    fn wait(&mut self, time: Duration, comments: Option<Duration>) -> io::Result<()> {
        let begun = Instant::now();
        let mut last_comment = begun;
        while begun.elapsed() < time {
            if self.shared.is_stopped() {
                return Err(io::Error::other("the server was stopped"));
            }
            let left = time.saturating_sub(begun.elapsed());
            if left < Duration::from_millis(20) {
                std::thread::sleep(left);
            } else if self.reader.is_closed() {
                self.shared.disconnects.fetch_add(1, Ordering::SeqCst);
                return Err(io::Error::other("the client went away"));
            }
            if comments.is_some_and(|interval| last_comment.elapsed() >= interval) {
                last_comment = Instant::now();
                self.send(b": ping\n\n")?;
            }
        }
        Ok(())
    }
}
