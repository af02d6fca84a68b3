//! A model server on loopback that follows a script and checks what it is asked.

mod check;
mod connection;
mod http;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Step;
use crate::fail::{OrFail, lock};
use check::Checker;

/// Default cap of one item, in bytes of text.
const ITEM_CAP: usize = 60_000;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// `POST` as a rule.
    pub method: String,
    /// Path and parameters.
    pub path: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body; null when it is no JSON.
    pub body: Value,
    /// The body as text.
    pub raw: String,
    /// Which connection it came over, from 0 in the order of their opening.
    pub connection: usize,
    /// When it had arrived completely.
    pub arrived: Instant,
}

impl RecordedRequest {
    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(header, _)| header == name);
        header.map(|(_, value)| value.as_str())
    }

    /// The items of the conversation.
    pub fn input(&self) -> &[Value] {
        let input = self.body.get("input").and_then(Value::as_array);
        input.map_or(&[], Vec::as_slice)
    }

    /// The text of the output that a call got.
    pub fn output_of(&self, call_id: &str) -> Option<String> {
        let output = self.input().iter().find(|item| {
            let kind = item["type"].as_str().unwrap_or("");
            kind.ends_with("_output") && item["call_id"] == call_id
        })?;
        let output = &output["output"];
        let text = output.as_str().map(str::to_owned);
        Some(text.unwrap_or_else(|| output.to_string()))
    }

    /// The names of the tools.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body.get("tools").and_then(Value::as_array);
        let tools = tools.map_or(&[][..], Vec::as_slice);
        tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect()
    }
}

/// How a server is to be, beside its steps.
#[derive(Debug)]
pub struct ServerBuilder {
    steps: Vec<Step>,
    options: Options,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) item_cap: usize,
    pub(crate) functions_only: bool,
    pub(crate) checks: bool,
}

impl ServerBuilder {
    /// Another cap for the text of one item that the model did not write.
    #[must_use]
    pub fn item_cap(mut self, n_bytes: usize) -> Self {
        self.options.item_cap = n_bytes;
        self
    }

    /// Refuses tools whose type is not `function`.
    #[must_use]
    pub fn functions_only(mut self) -> Self {
        self.options.functions_only = true;
        self
    }

    /// Checks nothing, for tests of parts that send no real conversations.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.options.checks = false;
        self
    }

    /// Starts it.
    pub fn start(self) -> ModelServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).or_fail("listen on loopback");
        let address = listener.local_addr().or_fail("read the address");
        let shared = Arc::new(Shared {
            steps: self.steps,
            options: self.options,
            state: Mutex::default(),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
            disconnects: AtomicUsize::new(0),
        });
        let acceptor = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || accept(&listener, &shared))
        };
        ModelServer {
            address,
            shared,
            acceptor: Some(acceptor),
        }
    }
}

/// What the threads of a server share.
pub(crate) struct Shared {
    pub(crate) steps: Vec<Step>,
    pub(crate) options: Options,
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Condvar,
    pub(crate) stopped: AtomicBool,
    pub(crate) disconnects: AtomicUsize,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) requests: Vec<RecordedRequest>,
    pub(crate) violations: Vec<String>,
    pub(crate) checker: Checker,
    /// How many requests were answered by a step.
    pub(crate) answered: usize,
}

impl Shared {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// The server. It ends when it is dropped; connections that still hang are closed.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Answers each request by the next step; the last one repeats.
    pub fn start(steps: Vec<Step>) -> Self {
        Self::builder(steps).start()
    }

    /// A server with other settings than the usual ones.
    pub fn builder(steps: Vec<Step>) -> ServerBuilder {
        ServerBuilder {
            steps,
            options: Options {
                item_cap: ITEM_CAP,
                functions_only: false,
                checks: true,
            },
        }
    }

    /// `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Everything that was asked, refused requests included.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.state).requests.clone()
    }

    /// Waits until that many requests have arrived; false when the time is over first.
    pub fn wait_for_requests(&self, n_requests: usize, timeout: Duration) -> bool {
        let state = lock(&self.shared.state);
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, timeout, |state| state.requests.len() < n_requests);
        waited.is_ok_and(|(state, _)| state.requests.len() >= n_requests)
    }

    /// How many clients went away in the middle of an answer.
    pub fn disconnects(&self) -> usize {
        self.shared.disconnects.load(Ordering::SeqCst)
    }

    /// What was wrong with the requests.
    pub fn violations(&self) -> Vec<String> {
        lock(&self.shared.state).violations.clone()
    }

    /// Panics if a request was wrong.
    #[track_caller]
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "bad requests: {violations:#?}");
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.shared.changed.notify_all();
        // Wakes the acceptor.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections: Vec<JoinHandle<()>> = Vec::new();
    for (number, stream) in listener.incoming().enumerate() {
        if shared.is_stopped() {
            break;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        connections.retain(|connection| !connection.is_finished());
        connections.push(thread::spawn(move || {
            connection::serve(&stream, number, &shared);
        }));
    }
    for connection in connections {
        drop(connection.join());
    }
}
