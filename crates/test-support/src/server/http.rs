//! As much of HTTP/1.1 as a client of a model needs.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use super::Shared;

/// How often a blocked read looks whether the server was stopped.
const TICK: Duration = Duration::from_millis(20);

/// A request, not yet understood.
pub(super) struct RawRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl RawRequest {
    /// Whether the client wants no further answer on this connection.
    pub(super) fn wants_close(&self) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|(name, value)| name == "connection" && value.eq_ignore_ascii_case("close"))
    }
}

/// Reads requests from one connection.
pub(super) struct Reader<'a> {
    stream: &'a TcpStream,
    shared: &'a Shared,
    buffer: Vec<u8>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(stream: &'a TcpStream, shared: &'a Shared) -> io::Result<Self> {
        stream.set_read_timeout(Some(TICK))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            shared,
            buffer: Vec::new(),
        })
    }

    /// The next request; none when the connection or the server has ended.
    pub(super) fn next(&mut self) -> Option<RawRequest> {
        let head = self.take_until(b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let header = |name: &str| headers.iter().find(|(header, _)| header == name);
        let length = header("content-length").and_then(|(_, value)| value.parse().ok());
        let body = if header("transfer-encoding").is_some() {
            self.chunks()?
        } else {
            self.take(length.unwrap_or(0))?
        };
        Some(RawRequest {
            method,
            path,
            headers,
            body,
        })
    }

    fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = self.take_until(b"\r\n")?;
            let size = String::from_utf8_lossy(&size).into_owned();
            let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
            body.extend(self.take(size)?);
            self.take(2)?;
            if size == 0 {
                return Some(body);
            }
        }
    }

    fn take(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < length {
            self.fill()?;
        }
        let rest = self.buffer.split_off(length);
        Some(std::mem::replace(&mut self.buffer, rest))
    }

    /// What comes before the mark, which is dropped.
    fn take_until(&mut self, mark: &[u8]) -> Option<Vec<u8>> {
        loop {
            let found = self
                .buffer
                .windows(mark.len())
                .position(|window| window == mark);
            if let Some(position) = found {
                let before = self.take(position);
                self.take(mark.len())?;
                return before;
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Option<()> {
        let mut chunk = [0; 8 * 1024];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(length) => {
                    self.buffer.extend(chunk.iter().take(length));
                    return Some(());
                }
                Err(error) if is_timeout(&error) && !self.shared.is_stopped() => {}
                Err(_) => return None,
            }
        }
    }

    /// Whether the client has closed its side. Waits up to a tick.
    pub(super) fn is_closed(&self) -> bool {
        match self.stream.peek(&mut [0]) {
            Ok(length) => length == 0,
            Err(error) => !is_timeout(&error),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Sends an answer that is one JSON value; a text is sent as it is, whatever it is.
pub(super) fn send_json(
    mut stream: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &Value,
) -> io::Result<()> {
    let text = body.as_str().map(str::to_owned);
    let body = text.unwrap_or_else(|| body.to_string());
    let head = head(status, headers, "application/json");
    let length = body.len();
    stream.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes())
}

/// The status line and the headers, without the empty line.
pub(super) fn head(status: u16, headers: &[(String, String)], content_type: &str) -> String {
    let mut lines = vec![format!("HTTP/1.1 {status} Scripted")];
    let has_type = headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if !has_type {
        lines.push(format!("content-type: {content_type}"));
    }
    let more = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    lines.extend(more);
    lines.push(String::new());
    lines.join("\r\n")
}
