//! Proxy variables. They are read from the environment of the process, so these tests run
//! themselves in processes of their own.

use std::env;
use std::net::TcpListener;

use agent_model::{ProviderSettings, ResponsesProvider};
use agent_test_support::{AgentCommand, ModelServer, Run, Step, Workspace};

use crate::{ask_all, request, said};

const URL_VARIABLE: &str = "TEST_BASE_URL";

/// What runs inside the other process; otherwise it does nothing.
#[tokio::test]
async fn inner() {
    let Ok(url) = env::var(URL_VARIABLE) else {
        return;
    };
    let provider = ResponsesProvider::new(ProviderSettings::new("mock", url));
    let (events, error) = ask_all(&provider, &request()).await;
    println!("said: {}", said(&events));
    if let Some(error) = error {
        println!("error: {error}\nhint: {}", error.hint().unwrap());
    }
}

fn run_inner(url: &str, variables: &[(&str, &str)]) -> Run {
    let workspace = Workspace::without_git();
    let mut command = AgentCommand::new(env::current_exe().unwrap(), &workspace)
        .args(["--exact", "proxy::inner", "--nocapture"])
        .env(URL_VARIABLE, url);
    for (name, value) in variables {
        command = command.env(*name, *value);
    }
    let run = command.run();
    run.assert_code(0);
    run
}

#[test]
fn a_dead_proxy_is_named_and_no_proxy_is_respected() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let server = ModelServer::start(vec![Step::message("hello")]);

    let dead = run_inner(&server.base_url(), &[("HTTP_PROXY", &proxy)]);
    let hint =
        format!("hint: the request goes through the proxy `{proxy}` that `HTTP_PROXY` names");
    assert!(dead.stdout.contains("error: cannot connect to"), "{dead:?}");
    assert!(dead.stdout.contains(&hint), "{dead:?}");
    assert!(server.requests().is_empty());

    let exempt = [("HTTP_PROXY", proxy.as_str()), ("NO_PROXY", "127.0.0.1")];
    let direct = run_inner(&server.base_url(), &exempt);
    assert!(direct.stdout.contains("said: hello\n"), "{direct:?}");

    let other = run_inner(&server.base_url(), &[("HTTPS_PROXY", &proxy)]);
    assert!(other.stdout.contains("said: hello\n"), "{other:?}");
}
