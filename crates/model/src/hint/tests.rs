use super::*;
use crate::{Phase, Secret};

/// The hint for a failure to connect to `url` with these variables.
fn connect(url: &str, variables: &[(&str, &str)]) -> String {
    let lookup = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let error = ModelError::new(ErrorClass::Connect, Phase::Request, "x");
    let provider = ProviderSettings::new("p", url);
    add(error, &provider, "m", &lookup).hint().unwrap()
}

#[test]
fn a_proxy_is_named_where_it_is_used() {
    let through = |text: &str| text.starts_with("the request goes through the proxy");
    let https = ("HTTPS_PROXY", "http://u:secret@proxy:3128");
    assert_eq!(
        connect("https://api.example/v1", &[https]),
        "the request goes through the proxy `proxy:3128` that `HTTPS_PROXY` names; if `api.example` is to be reached directly, add it to `NO_PROXY`"
    );
    assert!(!through(&connect("http://127.0.0.1/v1", &[https])));
    assert!(through(&connect(
        "http://127.0.0.1/v1",
        &[("all_proxy", "x:1")]
    )));
    assert!(!through(&connect(
        "http://127.0.0.1/v1",
        &[("all_proxy", "")]
    )));
    for exempt in ["api.example", "x, .example", "*", "example"] {
        let variables = [https, ("no_proxy", exempt)];
        assert!(!through(&connect("https://api.example/v1", &variables)));
    }
    let variables = [https, ("no_proxy", "pi.example,")];
    assert!(through(&connect("https://api.example/v1", &variables)));
}

#[test]
fn a_key_is_asked_for_by_the_name_of_its_variable() {
    let hint = |key: Option<&str>, variable: Option<&str>, status| {
        let mut provider = ProviderSettings::new("p", "http://x");
        provider.api_key = key.map(Secret::new);
        provider.env_key = variable.map(str::to_owned);
        let error = ModelError::new(ErrorClass::Authentication, Phase::Request, "x");
        let none = |_: &str| None;
        add(error.with_status(status), &provider, "m", &none).hint()
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        hint(None, Some("KEY"), 401),
        text("set `KEY` to the key of provider `p`")
    );
    assert_eq!(
        hint(Some("k"), Some("KEY"), 401),
        text("check the key in `KEY`: provider `p` does not accept it")
    );
    assert_eq!(
        hint(Some("k"), Some("KEY"), 403),
        text("check that the key in `KEY` may use this model of provider `p`")
    );
    assert_eq!(
        hint(None, None, 401),
        text("provider `p` has no key: name the variable that holds it with `env_key`")
    );
    assert_eq!(
        hint(Some("k"), None, 401),
        text("check the key of provider `p`")
    );
    assert_eq!(hint(Some("k"), None, 407), None);
}
