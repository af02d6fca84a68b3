//! Passes the body of one request on, exactly as long as it is said to be.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::relay::PASS_BYTES;

/// The longest line with the size of a chunk, and all lines after the last chunk, in bytes.
const MAX_LINES: usize = 8 * 1024;

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// There is none.
    None,
    /// After so many bytes.
    Length(u64),
    /// With its last chunk (RFC 9112, section 7.1).
    Chunked,
}

/// Passes a body on. Chunks are written anew, without extensions and trailers.
pub(super) async fn pass(
    body: Body,
    from: &mut (impl AsyncRead + Unpin),
    unused: &mut BytesMut,
    to: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    match body {
        Body::None => Ok(()),
        Body::Length(n_bytes) => pass_bytes(n_bytes, from, unused, to).await,
        Body::Chunked => loop {
            let n_bytes = chunk_size(from, unused).await?;
            if n_bytes == 0 {
                skip_trailers(from, unused).await?;
                return to.write_all(b"0\r\n\r\n").await;
            }
            to.write_all(format!("{n_bytes:x}\r\n").as_bytes()).await?;
            pass_bytes(n_bytes, from, unused, to).await?;
            line_end(from, unused).await?;
            to.write_all(b"\r\n").await?;
        },
    }
}

/// Reads on and forgets it, until the client has said all.
pub(super) async fn discard(from: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut buffer = vec![0; PASS_BYTES];
    while from.read(&mut buffer).await? > 0 {}
    Ok(())
}

async fn pass_bytes(
    mut n_left: u64,
    from: &mut (impl AsyncRead + Unpin),
    unused: &mut BytesMut,
    to: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    while n_left > 0 {
        if unused.is_empty() {
            read_more(from, unused).await?;
        }
        let n_here = usize::try_from(n_left).unwrap_or(usize::MAX);
        let here = unused.split_to(n_here.min(unused.len()));
        to.write_all(&here).await?;
        n_left -= here.len() as u64;
    }
    Ok(())
}

async fn chunk_size(from: &mut (impl AsyncRead + Unpin), unused: &mut BytesMut) -> io::Result<u64> {
    loop {
        match httparse::parse_chunk_size(unused) {
            Ok(httparse::Status::Complete((length, n_bytes))) => {
                drop(unused.split_to(length));
                return Ok(n_bytes);
            }
            Ok(httparse::Status::Partial) if unused.len() < MAX_LINES => {
                read_more(from, unused).await?;
            }
            Ok(httparse::Status::Partial) | Err(_) => return Err(malformed()),
        }
    }
}

/// The line end behind a chunk.
async fn line_end(from: &mut (impl AsyncRead + Unpin), unused: &mut BytesMut) -> io::Result<()> {
    while unused.len() < 2 {
        read_more(from, unused).await?;
    }
    if *unused.split_to(2) == *b"\r\n" {
        Ok(())
    } else {
        Err(malformed())
    }
}

/// The lines behind the last chunk, up to an empty one.
async fn skip_trailers(
    from: &mut (impl AsyncRead + Unpin),
    unused: &mut BytesMut,
) -> io::Result<()> {
    let mut n_skipped = 0;
    while n_skipped < MAX_LINES {
        match unused.iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                let line = unused.split_to(at + 1);
                if matches!(&*line, b"\r\n" | b"\n") {
                    return Ok(());
                }
                n_skipped += line.len();
            }
            None if unused.len() < MAX_LINES => read_more(from, unused).await?,
            None => break,
        }
    }
    Err(malformed())
}

async fn read_more(from: &mut (impl AsyncRead + Unpin), unused: &mut BytesMut) -> io::Result<()> {
    unused.reserve(PASS_BYTES);
    match from.read_buf(unused).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the body is not chunked")
}
