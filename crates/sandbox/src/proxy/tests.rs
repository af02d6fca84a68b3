//! The proxy on the loopback, with real connections and a resolver that says what a test wants.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::resolve::Resolve;
use super::{Proxy, StdListener};
use crate::hosts::HostList;

/// Every name leads to these addresses, and each lookup is counted.
#[derive(Debug, Clone, Default)]
struct Leads(Vec<IpAddr>, Arc<AtomicUsize>);

impl Resolve for Leads {
    async fn resolve(&self, _: String) -> io::Result<Vec<IpAddr>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        match &self.0[..] {
            [] => Err(io::Error::other("no such name")),
            found => Ok(found.to_vec()),
        }
    }
}

fn proxy(entries: &[String], resolver: Leads) -> Proxy {
    let listener = StdListener::bind(("127.0.0.1", 0)).unwrap();
    Proxy::start_with(listener, HostList::parse(entries).unwrap(), resolver).unwrap()
}

async fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(("127.0.0.1", proxy.port()))
        .await
        .unwrap()
}

/// What the proxy says to these bytes, until it ends the connection.
async fn say(proxy: &Proxy, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(proxy).await;
    stream.write_all(bytes).await.unwrap();
    let mut said = Vec::new();
    // A reset is an end as well.
    drop(stream.read_to_end(&mut said).await);
    said
}

async fn say_text(proxy: &Proxy, text: &str) -> String {
    String::from_utf8_lossy(&say(proxy, text.as_bytes()).await).into_owned()
}

fn refused(proxy: &Proxy) -> String {
    let denials = proxy.log().since(0);
    let lines: Vec<_> = denials.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

async fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Reads up to and with these bytes.
async fn read_until(stream: &mut TcpStream, end: &[u8]) -> String {
    let mut read = Vec::new();
    while !read.ends_with(end) {
        read.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(read).unwrap()
}

/// A host that answers one request with one text and notes what it got.
async fn answers(listener: TcpListener, end: &'static [u8], answer: &'static [u8]) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let request = read_until(&mut stream, end).await;
    stream.write_all(answer).await.unwrap();
    stream.shutdown().await.unwrap();
    // What else the proxy sends would be here.
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    request + &rest
}

const HEAD_END: &[u8] = b"\r\n\r\n";
const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[tokio::test]
async fn a_plain_request_reaches_a_listed_host_once() {
    let (listener, port) = listen().await;
    let proxy = proxy(&[format!("127.0.0.1:{port}")], Leads::default());
    let request = format!(
        "GET http://127.0.0.1:{port}/a HTTP/1.1\r\nHost: evil.org\r\n\r\n\
         GET http://127.0.0.1:{port}/smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    );
    let (said, got) = tokio::join!(
        say_text(&proxy, &request),
        answers(listener, HEAD_END, HELLO)
    );
    assert!(said.ends_with("hello"), "{said}");
    let expected =
        format!("GET /a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    assert_eq!(got, expected);
    assert_eq!(refused(&proxy), "");
}

#[tokio::test]
async fn a_second_request_on_the_connection_goes_nowhere() {
    let (listener, port) = listen().await;
    let proxy = proxy(&["localhost".to_owned()], Leads::default());
    let request = format!("GET http://localhost:{port}/ HTTP/1.1\r\n\r\n");
    let mut client = connect(&proxy).await;
    client.write_all(request.as_bytes()).await.unwrap();
    let (mut host, _) = listener.accept().await.unwrap();
    read_until(&mut host, HEAD_END).await;
    // Its end is passed on as little as the request itself.
    client.write_all(request.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    host.write_all(b"first part, ").await.unwrap();
    let mut said = vec![0; 12];
    client.read_exact(&mut said).await.unwrap();
    host.write_all(b"second").await.unwrap();
    host.shutdown().await.unwrap();
    client.read_to_end(&mut said).await.unwrap();
    assert_eq!(said, b"first part, second");
    let mut rest = Vec::new();
    host.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
}

#[tokio::test]
async fn a_body_is_passed_on_to_its_end_and_no_further() {
    for (field, sent, passed, end) in [
        (
            "Content-Length: 5",
            "abcdeGET /x",
            "abcde",
            b"abcde".as_slice(),
        ),
        (
            "Transfer-Encoding: chunked",
            "3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nGET /x",
            "3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n",
            b"0\r\n\r\n",
        ),
    ] {
        let (listener, port) = listen().await;
        let proxy = proxy(&["localhost".to_owned()], Leads::default());
        let head = format!("POST http://localhost:{port}/ HTTP/1.1\r\n{field}\r\n\r\n");
        let request = format!("{head}{sent}");
        let (said, got) = tokio::join!(say_text(&proxy, &request), answers(listener, end, HELLO));
        assert!(said.ends_with("hello"), "{said}");
        let (_, body) = got.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, passed);
    }
}

#[tokio::test]
async fn a_body_that_is_broken_reaches_no_end() {
    for broken in [
        "zz\r\nabc",
        "3\r\nabcX\r\n0\r\n\r\n",
        "ffffffffffffffffff\r\n",
    ] {
        let (listener, port) = listen().await;
        let proxy = proxy(&["localhost".to_owned()], Leads::default());
        let request = format!(
            "POST http://localhost:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{broken}"
        );
        let host = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut got = Vec::new();
            drop(stream.read_to_end(&mut got).await);
            String::from_utf8(got).unwrap()
        };
        let (said, got) = tokio::join!(say_text(&proxy, &request), host);
        assert_eq!(said, "");
        assert!(!got.ends_with("0\r\n\r\n"), "{got}");
    }
}

#[tokio::test]
async fn a_tunnel_passes_bytes_and_each_end_on() {
    let (listener, port) = listen().await;
    let proxy = proxy(&[format!("localhost:{port}")], Leads::default());
    let host = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut got = String::new();
        // The client's end arrives while the other direction is open.
        stream.read_to_string(&mut got).await.unwrap();
        stream.write_all(b"answer").await.unwrap();
        got
    };
    let client = async {
        let mut stream = connect(&proxy).await;
        // The first bytes of the tunnel come with the head.
        let head = format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\nearly ");
        stream.write_all(head.as_bytes()).await.unwrap();
        let head = read_until(&mut stream, HEAD_END).await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        stream.write_all(b"late").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        said
    };
    assert_eq!(
        tokio::join!(host, client),
        ("early late".to_owned(), "answer".to_owned())
    );
}

#[tokio::test]
async fn a_tunnel_of_which_one_side_has_gone_ends_when_the_other_is_silent() {
    let (listener, port) = listen().await;
    let proxy = proxy(&["localhost".to_owned()], Leads::default());
    let mut client = connect(&proxy).await;
    let head = format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    let (mut host, _) = listener.accept().await.unwrap();
    read_until(&mut client, HEAD_END).await;
    // From here on the clock jumps to whatever is waited for.
    tokio::time::pause();
    client.shutdown().await.unwrap();
    assert_eq!(host.read(&mut [0]).await.unwrap(), 0);
    assert!(client.read(&mut [0]).await.is_err());
    assert!(host.write_all(b"late").await.is_err() || host.read(&mut [0]).await.is_err());
}

#[tokio::test]
async fn much_passes_through_little_memory() {
    const N_BYTES: u64 = 64 << 20;
    let (listener, port) = listen().await;
    let proxy = proxy(&["localhost".to_owned()], Leads::default());
    let host = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let block = vec![7; 64 << 10];
        for _ in 0..N_BYTES / block.len() as u64 {
            stream.write_all(&block).await.unwrap();
        }
    };
    let client = async {
        let mut stream = connect(&proxy).await;
        let head = format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        read_until(&mut stream, HEAD_END).await;
        tokio::io::copy(&mut stream, &mut tokio::io::sink())
            .await
            .unwrap()
    };
    assert_eq!(tokio::join!(host, client).1, N_BYTES);
}

#[tokio::test]
async fn a_broken_answer_is_not_taken_for_a_whole_one() {
    let (listener, port) = listen().await;
    let proxy = proxy(&["localhost".to_owned()], Leads::default());
    let host = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_until(&mut stream, HEAD_END).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\n\r\npart")
            .await
            .unwrap();
        stream.set_zero_linger().unwrap();
    };
    let client = async {
        let mut stream = connect(&proxy).await;
        let request = format!("GET http://localhost:{port}/ HTTP/1.1\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.read_to_end(&mut Vec::new()).await
    };
    assert!(tokio::join!(host, client).1.is_err());
}

#[tokio::test]
async fn what_is_not_listed_is_refused_and_named() {
    let (_listener, port) = listen().await;
    let proxy = proxy(
        &["x.org:443".to_owned(), "localhost:1".to_owned()],
        Leads::default(),
    );
    for (request, named) in [
        (
            "CONNECT y.org:443 HTTP/1.1\r\n\r\n".to_owned(),
            "`y.org:443`",
        ),
        ("CONNECT x.org:80 HTTP/1.1\r\n\r\n".to_owned(), "`x.org:80`"),
        (
            "GET http://Z.org/ HTTP/1.1\r\nHost: x.org:443\r\n\r\n".to_owned(),
            "`z.org:80`",
        ),
        (
            format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n"),
            "`127.0.0.1:",
        ),
        (
            format!("CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1\r\n\r\n"),
            "`127.0.0.1:",
        ),
        (format!("CONNECT 127.1:{port} HTTP/1.1\r\n\r\n"), "`127.1`"),
        (
            format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n"),
            "`localhost:",
        ),
    ] {
        let said = say_text(&proxy, &request).await;
        assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
        let (_, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(body.contains(named) && body.contains("`network`"), "{said}");
        assert!(refused(&proxy).contains(body.trim_end()), "{body}");
    }
    // The same again is the same entry.
    assert_eq!(proxy.log().since(0).len(), 6);
    let mark = proxy.log().now();
    say_text(&proxy, "CONNECT y.org:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!(proxy.log().since(mark).len(), 1);
}

#[tokio::test]
async fn a_name_that_leads_to_the_machine_is_refused() {
    let (listener, port) = listen().await;
    let v6: IpAddr = "::ffff:127.0.0.1".parse().unwrap();
    for address in [
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        v6,
        "169.254.169.254".parse().unwrap(),
    ] {
        let leads = Leads(vec![address], Arc::default());
        let proxy = proxy(&["*.x.org".to_owned()], leads);
        let request = format!("CONNECT evil.x.org:{port} HTTP/1.1\r\n\r\n");
        let said = say_text(&proxy, &request).await;
        assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
        assert!(said.contains("leads to `"), "{said}");
        assert!(refused(&proxy).contains("evil.x.org"));
    }
    // With the address listed it is what the user wanted; it is looked up once.
    let leads = Leads(vec![Ipv4Addr::LOCALHOST.into()], Arc::default());
    let entries = ["*.x.org".to_owned(), format!("127.0.0.1:{port}")];
    let proxy = proxy(&entries, leads.clone());
    let request = format!("GET http://a.x.org:{port}/ HTTP/1.1\r\n\r\n");
    let (said, got) = tokio::join!(
        say_text(&proxy, &request),
        answers(listener, HEAD_END, HELLO)
    );
    assert!(said.ends_with("hello"), "{said}");
    assert!(got.contains("Host: a.x.org:"), "{got}");
    assert_eq!(leads.1.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn of_several_addresses_only_the_allowed_ones_are_tried() {
    let (listener, port) = listen().await;
    let leads = Leads(
        vec!["127.0.0.2".parse().unwrap(), Ipv4Addr::LOCALHOST.into()],
        Arc::default(),
    );
    let elsewhere = StdListener::bind(("127.0.0.2", port)).unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let proxy = proxy(&["x.org".to_owned(), format!("127.0.0.1:{port}")], leads);
    let request = format!("GET http://x.org:{port}/ HTTP/1.1\r\n\r\n");
    let (said, _) = tokio::join!(
        say_text(&proxy, &request),
        answers(listener, HEAD_END, HELLO)
    );
    assert!(said.ends_with("hello"), "{said}");
    assert_eq!(
        elsewhere.accept().unwrap_err().kind(),
        io::ErrorKind::WouldBlock
    );
}

#[tokio::test]
async fn what_cannot_be_reached_says_so() {
    let (listener, port) = listen().await;
    drop(listener);
    let proxy = proxy(
        &["127.0.0.1".to_owned(), "x.org".to_owned()],
        Leads::default(),
    );
    let said = say_text(
        &proxy,
        &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n"),
    )
    .await;
    assert!(said.starts_with("HTTP/1.1 502 "), "{said}");
    let said = say_text(&proxy, "CONNECT x.org:443 HTTP/1.1\r\n\r\n").await;
    assert!(
        said.contains("502") && said.contains("no such name"),
        "{said}"
    );
    assert_eq!(refused(&proxy), "");
}

/// A SOCKS request after its greeting.
fn socks(kind: u8, address: &[u8], port: u16) -> Vec<u8> {
    [&[5, 1, 0, 5, 1, 0, kind], address, &port.to_be_bytes()].concat()
}

#[tokio::test]
async fn socks_reaches_what_is_listed_and_refuses_the_rest() {
    let (listener, port) = listen().await;
    let leads = Leads(vec![Ipv4Addr::LOCALHOST.into()], Arc::default());
    let proxy = proxy(&[format!("localhost:{port}"), "x.org".to_owned()], leads);
    let request = [socks(3, b"\x09localhost", port), b"hi\r\n\r\n".to_vec()].concat();
    let (said, got) = tokio::join!(say(&proxy, &request), answers(listener, HEAD_END, b"yes"));
    assert_eq!(said, b"\x05\0\x05\0\0\x01\0\0\0\0\0\0yes");
    assert_eq!(got, "hi\r\n\r\n");

    let not_allowed = b"\x05\0\x05\x02\0\x01\0\0\0\0\0\0";
    for request in [
        socks(3, b"\x05y.org", port),
        socks(3, b"\x05x.org", port),
        socks(3, b"\x05127.1", port),
        socks(1, &[127, 0, 0, 1], port),
        socks(
            4,
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1],
            port,
        ),
    ] {
        assert_eq!(say(&proxy, &request).await, not_allowed, "{request:?}");
    }
    let told = refused(&proxy);
    assert_eq!(told.lines().count(), 4, "{told}");
    assert!(
        told.contains("`x.org:") && told.contains("leads to `127.0.0.1`"),
        "{told}"
    );
    assert_eq!(say(&proxy, &[5, 1, 2]).await, [5, 0xff]);
    assert_eq!(
        say(&proxy, &[5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]).await[3],
        7
    );
}

#[tokio::test]
async fn hostile_clients_stop_nobody() {
    let (listener, port) = listen().await;
    let proxy = proxy(&["localhost".to_owned()], Leads::default());
    // Some say nothing, some a part, some nonsense, and all stay.
    let mut idle = Vec::new();
    for bytes in [
        b"".as_slice(),
        b"\x05",
        b"\x05\xff\0",
        b"GET http://loc",
        b"\0\0\0",
        b"\x04\x01",
    ] {
        for _ in 0..5 {
            let mut stream = connect(&proxy).await;
            stream.write_all(bytes).await.unwrap();
            idle.push(stream);
        }
    }
    let huge = format!(
        "GET http://localhost/ HTTP/1.1\r\nX: {}\r\n\r\n",
        "x".repeat(64 << 10)
    );
    assert!(say_text(&proxy, &huge).await.starts_with("HTTP/1.1 431 "));
    let endless = "x".repeat(64 << 10);
    assert!(
        say_text(&proxy, &endless)
            .await
            .starts_with("HTTP/1.1 431 ")
    );
    for garbage in [
        "\r\n\r\n",
        "\0\0\n\n",
        "GET /\r\n\r\n",
        "CONNECT localhost:1/x HTTP/1.1\r\n\r\n",
    ] {
        let said = say_text(&proxy, garbage).await;
        assert!(said.starts_with("HTTP/1.1 400 "), "{garbage:?}: {said}");
    }
    let request = format!("GET http://localhost:{port}/ HTTP/1.1\r\n\r\n");
    let (said, _) = tokio::join!(
        say_text(&proxy, &request),
        answers(listener, HEAD_END, HELLO)
    );
    assert!(said.ends_with("hello"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_asks_for_nothing_is_ended() {
    let proxy = proxy(&["localhost".to_owned()], Leads::default());
    for part in [
        b"".as_slice(),
        b"GET http://localhost/ HTTP/1.1\r\n",
        b"\x05\x01",
    ] {
        assert_eq!(say(&proxy, part).await, b"");
    }
}

#[tokio::test(start_paused = true)]
async fn more_clients_wait_until_others_are_gone() {
    let proxy = proxy(&["localhost".to_owned()], Leads::default());
    let mut idle = Vec::new();
    for _ in 0..super::MAX_CONNECTIONS + 20 {
        idle.push(connect(&proxy).await);
    }
    let said = say_text(&proxy, "CONNECT y.org:1 HTTP/1.1\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
}

#[tokio::test]
async fn a_dropped_proxy_ends_its_connections() {
    let (listener, port) = listen().await;
    let proxy = proxy(&["localhost".to_owned()], Leads::default());
    let proxy_port = proxy.port();
    let mut client = connect(&proxy).await;
    let head = format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    let (mut host, _) = listener.accept().await.unwrap();
    read_until(&mut client, HEAD_END).await;
    drop(proxy);
    assert_eq!(host.read(&mut [0]).await.unwrap_or(0), 0);
    assert_eq!(client.read(&mut [0]).await.unwrap_or(0), 0);
    while TcpStream::connect(("127.0.0.1", proxy_port)).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
