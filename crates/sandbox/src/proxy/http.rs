//! HTTP: `CONNECT`, and one plain request by absolute URI for each connection.
//!
//! The head is read by `httparse` and written anew from what was understood, so that no server
//! reads it in another way than the decision did. Reading is pure; [`serve`] does the rest.

use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::Shared;
use super::body::{self, Body};
use super::client::Client;
use super::dial::{DialError, dial};
use super::relay::{self, Watch, pass};
use super::resolve::Resolve;
use crate::hosts::{Destination, HostDenial, Refusal};

/// The largest head of a request, in bytes, and the most fields in one. Usual servers take 8 KiB.
const MAX_HEAD: usize = 32 * 1024;
const MAX_FIELDS: usize = 100;

/// Fields that are for the next hop only (RFC 9110, section 7.6.1), that the proxy writes itself,
/// or that speak to a proxy. A connection is used once, and no protocol is changed on it.
const NOT_FORWARDED: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    /// A connection.
    Tunnel(Destination),
    /// The answer to one request, with the head as the host will see it.
    Forward {
        destination: Destination,
        head: Vec<u8>,
        body: Body,
    },
}

/// Why a request is not carried out.
#[derive(Debug, PartialEq, Eq)]
enum Problem {
    /// It is for no host that can be compared with a list.
    Unclear(Refusal),
    Malformed(&'static str),
    TooLarge,
}

/// Reads a whole head.
fn request(bytes: &[u8]) -> Result<Request, Problem> {
    let malformed = |why| Err(Problem::Malformed(why));
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) => return malformed("the head has an empty line inside"),
        Err(httparse::Error::TooManyHeaders) => return Err(Problem::TooLarge),
        Err(_) => return malformed("the head is not HTTP/1.1"),
    }
    let (Some(method), Some(target), Some(minor)) = (parsed.method, parsed.path, parsed.version)
    else {
        return malformed("the request line is not whole");
    };
    if !target.bytes().all(|byte| byte.is_ascii_graphic()) || target.contains('#') {
        return malformed("the target has characters that no target has");
    }
    if method == "CONNECT" {
        let destination = authority(target, None)?;
        return Ok(Request::Tunnel(destination));
    }
    let (authority_text, path) = divide(target)?;
    let destination = authority(authority_text, Some(80))?;
    let fields = &*parsed.headers;
    if named(fields, "host").count() > 1 {
        return malformed("there is more than one `Host`");
    }
    let body = framing(fields, minor)?;
    let path = match path {
        "" if method == "OPTIONS" => "*".to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        query => format!("/{query}"),
    };
    let line = format!("{method} {path} HTTP/1.{minor}\r\n");
    Ok(Request::Forward {
        head: forwarded(line, &destination, fields, body),
        destination,
        body,
    })
}

/// `host:port` and nothing else.
fn authority(text: &str, default_port: Option<u16>) -> Result<Destination, Problem> {
    if text.contains(['/', '?', '@']) {
        return Err(Problem::Malformed("the target is not `host:port`"));
    }
    Destination::parse(text, default_port).map_err(Problem::Unclear)
}

/// The authority of an absolute URI, and what comes after it.
fn divide(target: &str) -> Result<(&str, &str), Problem> {
    const SCHEME: &str = "http://";
    let scheme = target.get(..SCHEME.len()).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return Err(Problem::Malformed(
            "this is a proxy: it takes CONNECT and targets that begin with `http://`",
        ));
    }
    let rest = target.get(SCHEME.len()..).unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    Ok(rest.split_at(end))
}

fn named<'a>(
    fields: &'a [httparse::Header<'a>],
    name: &'static str,
) -> impl Iterator<Item = &'a [u8]> {
    let named = fields
        .iter()
        .filter(move |field| field.name.eq_ignore_ascii_case(name));
    named.map(|field| field.value)
}

/// How the length of the body is told (RFC 9112, section 6). Two ways of telling it are how
/// requests are smuggled, so that only one is taken.
fn framing(fields: &[httparse::Header<'_>], minor: u8) -> Result<Body, Problem> {
    let malformed = |why| Err(Problem::Malformed(why));
    let mut codings = named(fields, "transfer-encoding");
    let mut lengths = named(fields, "content-length");
    match (codings.next(), lengths.next()) {
        (None, None) => Ok(Body::None),
        (Some(coding), None) if codings.next().is_none() => {
            if minor == 1 && coding.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                Ok(Body::Chunked)
            } else {
                malformed("the only `Transfer-Encoding` there is is `chunked`, in HTTP/1.1")
            }
        }
        (None, Some(length)) if lengths.next().is_none() => {
            let text = std::str::from_utf8(length).unwrap_or_default();
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            match text.parse().ok().filter(|_| is_number) {
                Some(n_bytes) => Ok(Body::Length(n_bytes)),
                None => malformed("`Content-Length` is no number"),
            }
        }
        _ => malformed("the length of the body is told more than once"),
    }
}

/// The head as the host gets it.
fn forwarded(
    line: String,
    destination: &Destination,
    fields: &[httparse::Header<'_>],
    body: Body,
) -> Vec<u8> {
    let mut head = line.into_bytes();
    let mut push = |name: &str, value: &[u8]| {
        head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    };
    let host = match destination.port {
        80 => destination.host.to_string(),
        _ => destination.to_string(),
    };
    push("Host", host.as_bytes());
    // What `Connection` names is for this hop as well.
    let named_there: Vec<_> = named(fields, "connection")
        .flat_map(|value| value.split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .collect();
    for field in fields {
        let is_name = |name: &[u8]| name.eq_ignore_ascii_case(field.name.as_bytes());
        let is_own = NOT_FORWARDED.iter().any(|name| is_name(name.as_bytes()));
        if !is_own && !named_there.iter().any(|name| is_name(name)) {
            push(field.name, field.value);
        }
    }
    match body {
        Body::None => {}
        Body::Length(n_bytes) => push("Content-Length", n_bytes.to_string().as_bytes()),
        Body::Chunked => push("Transfer-Encoding", b"chunked"),
    }
    push("Connection", b"close");
    head.extend(b"\r\n");
    head
}

/// Serves a client that speaks HTTP.
pub(super) async fn serve(mut client: Client, shared: &Shared<impl Resolve>) -> io::Result<()> {
    let mut searched = 0;
    let asked = loop {
        if let Some(end) = client.end_of_head(searched).filter(|end| *end <= MAX_HEAD) {
            break request(&client.take(end));
        }
        searched = client.unused.len();
        if searched > MAX_HEAD {
            break Err(Problem::TooLarge);
        }
        client.read_more().await?;
    };
    let problem = match asked {
        Ok(Request::Tunnel(destination)) => {
            return match dial(shared, &destination).await {
                Ok(host) => {
                    let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
                    client.stream.write_all(established).await?;
                    relay::join(client.stream, &client.unused, host).await
                }
                Err(error) => client.answer(&answer_to(&error)).await,
            };
        }
        Ok(Request::Forward {
            destination,
            head,
            body,
        }) => {
            return match dial(shared, &destination).await {
                Ok(host) => forward(client, host, &head, body).await,
                Err(error) => client.answer(&answer_to(&error)).await,
            };
        }
        Err(problem) => problem,
    };
    let answer = match problem {
        Problem::Unclear(refusal) => {
            let denial = shared.deny(HostDenial::unclear(refusal));
            answer_to(&DialError::Denied(denial))
        }
        Problem::Malformed(why) => answer("400 Bad Request", why),
        Problem::TooLarge => answer(
            "431 Request Header Fields Too Large",
            "the head of the request is too large",
        ),
    };
    client.answer(&answer).await
}

/// Sends one request and passes its answer on.
async fn forward(
    mut client: Client,
    mut host: TcpStream,
    head: &[u8],
    body: Body,
) -> io::Result<()> {
    let watch = Watch::default();
    let outcome = {
        let (mut from_client, mut to_client) = client.stream.split();
        let (mut from_host, mut to_host) = host.split();
        let unused = &mut client.unused;
        let outward = async {
            to_host.write_all(head).await?;
            body::pass(body, &mut from_client, unused, &mut to_host).await?;
            // Whatever else the client sends is no request of ours. The host's side stays open:
            // many servers give up when it is closed before they have answered.
            body::discard(&mut from_client).await
        };
        let inward = pass(&mut from_host, &mut to_client, &watch);
        tokio::pin!(inward);
        tokio::select! {
            answered = &mut inward => answered,
            sent = outward => {
                // The client has said all, or the host would not hear all of it and has answered.
                watch.ended();
                match sent {
                    Err(error) if !ended_early(&error) => Err(error),
                    Ok(()) | Err(_) => tokio::select! {
                        answered = inward => answered,
                        () = watch.is_idle() => Err(io::ErrorKind::TimedOut.into()),
                    },
                }
            }
        }
    };
    match outcome {
        Ok(()) => client.answer(b"").await,
        Err(error) => {
            relay::reset(&client.stream);
            relay::reset(&host);
            Err(error)
        }
    }
}

/// Whether somebody closed a connection that was still written to.
fn ended_early(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}

fn answer_to(error: &DialError) -> Vec<u8> {
    let status = match error {
        // Many clients show no more of it than this line.
        DialError::Denied(_) => "403 Refused by the sandbox",
        DialError::Unknown { .. } | DialError::Unreachable { .. } => "502 Bad Gateway",
    };
    let mut text = error.to_string();
    if let Some(source) = std::error::Error::source(error) {
        text.push_str(": ");
        text.push_str(&source.to_string());
    }
    answer(status, &text)
}

fn answer(status: &str, text: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}\n",
        text.len() + 1
    )
    .into_bytes()
}

#[cfg(test)]
mod tests;
