use super::{Reading, Reply, Request, greeting, request};

fn connect(kind: u8, address: &[u8], port: u16) -> Vec<u8> {
    [&[5, 1, 0, kind], address, &port.to_be_bytes()].concat()
}

fn named(name: &[u8], port: u16) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    connect(3, &[&[length], name].concat(), port)
}

/// What a request comes to, in words.
fn read(bytes: &[u8]) -> String {
    match request(bytes) {
        Reading::More => "more".to_owned(),
        Reading::Whole(Request::Connect(destination), length) => {
            assert_eq!(length, bytes.len());
            destination.to_string()
        }
        Reading::Whole(Request::Unclear(_), _) => "unclear".to_owned(),
        Reading::Whole(Request::Refused(reply), _) => format!("{reply:?}"),
    }
}

#[test]
fn a_greeting_is_whole_with_its_methods() {
    assert_eq!(greeting(&[5]), Reading::More);
    assert_eq!(greeting(&[5, 2, 2]), Reading::More);
    assert_eq!(greeting(&[5, 2, 2, 0]), Reading::Whole(true, 4));
    assert_eq!(greeting(&[5, 1, 2, 0]), Reading::Whole(false, 3));
    assert_eq!(greeting(&[5, 0]), Reading::Whole(false, 2));
}

#[test]
fn requests_name_one_destination() {
    assert_eq!(read(&named(b"X.org.", 443)), "x.org:443");
    assert_eq!(read(&connect(1, &[10, 0, 0, 1], 80)), "10.0.0.1:80");
    let v6 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    assert_eq!(read(&connect(4, &v6, 80)), "[::1]:80");
    let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1];
    assert_eq!(read(&connect(4, &mapped, 80)), "127.0.0.1:80");
    // An address that is sent as a name is that address.
    assert_eq!(read(&named(b"127.0.0.1", 80)), "127.0.0.1:80");
    assert_eq!(read(&named(b"::ffff:7f00:1", 80)), "127.0.0.1:80");
    for odd in [
        b"127.1".as_slice(),
        b"x.org\0.y.org",
        b"\xff\xfe",
        b"",
        b"x.org:80",
        b"x.org/",
    ] {
        assert_eq!(read(&named(odd, 80)), "unclear", "{odd:?}");
    }
}

#[test]
fn other_requests_are_refused() {
    assert_eq!(read(&[5, 2, 0, 1]), "CommandNotSupported");
    assert_eq!(read(&[5, 3, 0, 1]), "CommandNotSupported");
    assert_eq!(read(&[4, 1, 0, 1]), "CommandNotSupported");
    assert_eq!(read(&[5, 1, 0, 2]), "AddressTypeNotSupported");
    assert_eq!(Reply::NotAllowed.bytes()[1], 2);
}

#[test]
fn a_part_of_a_request_is_waited_for() {
    for whole in [
        named(b"x.org", 1),
        connect(1, &[1; 4], 1),
        connect(4, &[1; 16], 1),
    ] {
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]), "more", "{whole:?} to {length}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
        drop((greeting(&bytes), request(&bytes)));
    }
}
