use super::{Body, Problem, Request, request};

/// The head as the host gets it.
fn forwarded(head: &str) -> String {
    match request(head.as_bytes()) {
        Ok(Request::Forward { head, .. }) => String::from_utf8(head).unwrap(),
        other => panic!("{head:?}: {other:?}"),
    }
}

fn is_malformed(head: &[u8]) -> bool {
    matches!(request(head), Err(Problem::Malformed(_)))
}

#[test]
fn a_plain_request_is_written_anew() {
    let head = "GET HTTP://X.org./a?b=c HTTP/1.1\r\nhOST: other.org\r\nProxy-Connection: keep-alive\r\n\
        Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nTE: trailers\r\nUpgrade: h2c\r\n\
        Proxy-Authorization: Basic x\r\nAccept: */*\r\nCookie: a=b\r\n\r\n";
    assert_eq!(
        forwarded(head),
        "GET /a?b=c HTTP/1.1\r\nHost: x.org\r\nAccept: */*\r\nCookie: a=b\r\nConnection: close\r\n\r\n"
    );
    let old = forwarded("GET http://x.org:8080 HTTP/1.0\r\n\r\n");
    assert_eq!(
        old,
        "GET / HTTP/1.0\r\nHost: x.org:8080\r\nConnection: close\r\n\r\n"
    );
    assert!(forwarded("GET http://x.org?a HTTP/1.1\r\n\r\n").starts_with("GET /?a HTTP/1.1\r\n"));
    assert!(forwarded("OPTIONS http://x.org HTTP/1.1\r\n\r\n").starts_with("OPTIONS * HTTP/1.1"));
    let v6 = forwarded("GET http://[0:0::1]:8080/ HTTP/1.1\r\n\r\n");
    assert!(v6.contains("Host: [::1]:8080\r\n"), "{v6}");
}

#[test]
fn the_length_of_a_body_is_told_once() {
    let body = |fields: &str| {
        let head = format!("POST http://x.org/ HTTP/1.1\r\n{fields}\r\n");
        match request(head.as_bytes()) {
            Ok(Request::Forward { body, head, .. }) => {
                let head = String::from_utf8(head).unwrap();
                let is_told = head.contains("Content-Length: ") || head.contains("\r\nTransfer-");
                assert_eq!(is_told, body != Body::None, "{head}");
                Some(body)
            }
            Ok(Request::Tunnel(_)) | Err(_) => None,
        }
    };
    assert_eq!(body(""), Some(Body::None));
    assert_eq!(body("Content-Length: 12\r\n"), Some(Body::Length(12)));
    assert_eq!(body("Transfer-Encoding: Chunked\r\n"), Some(Body::Chunked));
    for smuggled in [
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n",
        "Content-Length: 1, 1\r\n",
        "Content-Length: +1\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 0x1\r\n",
        "Content-Length: \r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\n",
        "Host: x.org\r\nHost: y.org\r\n",
        "X: a\0b\r\n",
    ] {
        assert_eq!(body(smuggled), None, "{smuggled:?}");
    }
}

#[test]
fn a_connect_target_is_host_and_port_and_nothing_else() {
    let connect = |target: &str| {
        let head = format!("CONNECT {target} HTTP/1.1\r\nHost: other.org\r\n\r\n");
        match request(head.as_bytes()) {
            Ok(Request::Tunnel(destination)) => destination.to_string(),
            other => format!("{other:?}"),
        }
    };
    assert_eq!(connect("X.org:443"), "x.org:443");
    assert_eq!(connect("[::1]:1"), "[::1]:1");
    for target in [
        "x.org",
        "x.org:443/path",
        "x.org:443?q",
        "u@x.org:443",
        "http://x.org:443",
        "x.org:443#f",
        "x.org:0",
        "x.org:99999",
        ":443",
        "::1:443",
        "x.org:443:80",
        "*:443",
        "127.1:443",
        "x.org\\@y.org:443",
        "x.org%00:443",
        "/",
    ] {
        let said = connect(target);
        assert!(said.starts_with("Err("), "{target}: {said}");
    }
}

#[test]
fn garbage_is_malformed() {
    for head in [
        b"\r\n\r\n".as_slice(),
        b"GET / HTTP/1.1\r\nHost: x.org\r\n\r\n",
        b"GET https://x.org/ HTTP/1.1\r\n\r\n",
        b"GET ftp://x.org/ HTTP/1.1\r\n\r\n",
        b"GET http://u:p@x.org/ HTTP/1.1\r\n\r\n",
        b"GET http://x.org/#f HTTP/1.1\r\n\r\n",
        b"GET http://x.org/\xc3\xbc HTTP/1.1\r\n\r\n",
        b"GET http://x.org/ HTTP/1.1 HTTP/1.1\r\n\r\n",
        b"GET http://x.org/ HTTP/2.0\r\n\r\n",
        b"GET http://x.org/\0 HTTP/1.1\r\n\r\n",
        b"G\0T http://x.org/ HTTP/1.1\r\n\r\n",
        b"connect x.org:443 HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\n",
        b"\x16\x03\x01\x02\0\n\n",
    ] {
        assert!(is_malformed(head), "{:?}", String::from_utf8_lossy(head));
    }
    let many = "A: b\r\n".repeat(101);
    let many = format!("GET http://x.org/ HTTP/1.1\r\n{many}\r\n");
    assert_eq!(request(many.as_bytes()), Err(Problem::TooLarge));
    let unclear = request(b"GET http://127.1/ HTTP/1.1\r\n\r\n");
    assert!(matches!(unclear, Err(Problem::Unclear(_))), "{unclear:?}");
}

proptest::proptest! {
    /// What is forwarded is one head for the host that was decided about.
    #[test]
    fn what_is_forwarded_is_one_request(bytes: Vec<u8>, name in "[A-Za-z-]{1,20}") {
        let mut head = format!("GET http://x.org/p HTTP/1.1\r\n{name}: ").into_bytes();
        head.extend(bytes);
        head.extend(b"\r\n\r\n");
        if let Ok(Request::Forward { head, destination, .. }) = request(&head) {
            proptest::prop_assert_eq!(destination.to_string(), "x.org:80");
            let mut fields = [httparse::EMPTY_HEADER; 200];
            let mut again = httparse::Request::new(&mut fields);
            let status = again.parse(&head).unwrap();
            proptest::prop_assert_eq!(status, httparse::Status::Complete(head.len()));
            let hosts = again.headers.iter().filter(|f| f.name.eq_ignore_ascii_case("host"));
            proptest::prop_assert_eq!(hosts.count(), 1);
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
        drop(request(&bytes));
    }
}
