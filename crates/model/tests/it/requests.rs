//! What is sent: the bytes of the body, the headers, the URL.

use std::sync::Arc;
use std::time::Duration;

use agent_model::{ModelProvider, ProviderSettings, ResponsesProvider, Secret, render_body};
use agent_protocol::{ResponseItem, Role, SerializedItem};
use agent_test_support::{ModelServer, Step};
use serde_json::json;

use crate::{ask_all, request, settings};

fn user(text: &str) -> SerializedItem {
    SerializedItem::render(&ResponseItem::text_message(Role::User, text)).unwrap()
}

#[tokio::test]
async fn the_body_is_what_render_body_gives() {
    let server = ModelServer::start(vec![Step::message("hi")]);
    let mut request = request();
    request.prompt_cache_key = "thread".to_owned();
    request.reasoning_effort = Some("low".to_owned());
    request.verbosity = Some("high".to_owned());
    request.output_schema = Some(json!({"type": "object"}));
    request.input = vec![user("a \"quoted\" é"), user("b")];
    request.tools = r#"[ {"type": "function", "name": "f"} ]"#.into();
    let (_, error) = ask_all(&ResponsesProvider::new(settings(&server)), &request).await;
    assert_eq!(error, None);
    server.assert_clean();
    let sent = &server.requests()[0];
    assert_eq!(sent.raw.as_bytes(), render_body(&request));
    assert_eq!(sent.tool_names(), ["f"]);
    assert_eq!(
        sent.header("content-length"),
        Some(sent.raw.len().to_string().as_str())
    );
}

#[tokio::test]
async fn a_long_history_is_sent_whole_with_its_length() {
    let server = ModelServer::builder(vec![Step::message("hi")])
        .item_cap(usize::MAX)
        .start();
    let mut request = request();
    for index in 0..200 {
        request
            .input
            .push(user(&format!("{index} é ").repeat(index * 20)));
    }
    request.input.push(user(&"large".repeat(400_000)));
    let provider = ResponsesProvider::new(settings(&server));
    for _ in 0..2 {
        assert_eq!(ask_all(&provider, &request).await.1, None);
    }
    server.assert_clean();
    for sent in server.requests() {
        assert!(sent.raw.as_bytes() == render_body(&request));
        assert_eq!(
            sent.header("content-length"),
            Some(sent.raw.len().to_string().as_str())
        );
    }
}

#[tokio::test]
async fn headers_and_parameters_are_sent() {
    let server = ModelServer::start(vec![Step::message("hi")]);
    let mut settings = settings(&server);
    settings.base_url.push('/');
    settings.api_key = Some(Secret::new("k-123"));
    settings.http_headers = vec![("X-Extra".to_owned(), "1".to_owned())];
    settings.query_params = vec![("api-version".to_owned(), "2 é".to_owned())];
    assert!(!format!("{settings:?}").contains("k-123"));
    let (_, error) = ask_all(&ResponsesProvider::new(settings), &request()).await;
    assert_eq!(error, None);
    let sent = &server.requests()[0];
    assert_eq!(sent.path, "/v1/responses?api-version=2+%C3%A9");
    assert_eq!(sent.header("authorization"), Some("Bearer k-123"));
    assert_eq!(sent.header("x-extra"), Some("1"));
    assert_eq!(sent.header("originator"), Some("agent"));
    assert_eq!(sent.header("accept"), Some("text/event-stream"));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    let version = env!("CARGO_PKG_VERSION");
    let agent = sent.header("user-agent").unwrap();
    assert!(agent.starts_with(&format!("agent/{version} (")), "{agent}");
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_named_without_its_value() {
    let mut settings = ProviderSettings::new("mock", "http://127.0.0.1:9/v1");
    settings.http_headers = vec![("x-key".to_owned(), "secret\nvalue".to_owned())];
    let (_, error) = ask_all(&ResponsesProvider::new(settings), &request()).await;
    assert_eq!(
        error.unwrap().to_string(),
        "provider `mock` has a header `x-key` that cannot be sent"
    );
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = ModelServer::start(vec![Step::message("hi")]);
    let provider = ResponsesProvider::new(settings(&server));
    for _ in 0..5 {
        assert_eq!(ask_all(&provider, &request()).await.1, None);
        // The client puts the connection aside in a task of its own.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let connections: Vec<_> = server.requests().iter().map(|r| r.connection).collect();
    assert_eq!(connections, [0; 5]);
}

#[tokio::test]
async fn a_dropped_stream_closes_the_connection() {
    let server = ModelServer::start(vec![Step::message("hi").hang_after_created()]);
    let provider: Arc<dyn ModelProvider> = Arc::new(ResponsesProvider::new(settings(&server)));
    let mut stream = provider.open(&request()).await.unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    let mut looks = 0;
    while server.disconnects() == 0 && looks < 500 {
        looks += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(server.disconnects(), 1);
}
