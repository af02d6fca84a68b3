//! The first start: what there is on this machine to work with.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use agent_core::CommandSetting;
use tokio::net::TcpStream;

/// Local model servers by the ports that they listen on unless told otherwise.
const LOCAL_SERVERS: &[(&str, u16)] =
    &[("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080)];

/// How long a local server may take to accept a connection.
const CONNECT_TIME: Duration = Duration::from_millis(200);

/// What there is, one line each: key, local servers, repository, sandbox. Connects to loopback
/// only, and sends nothing.
pub(super) async fn look_around(
    provider: String,
    branch: Option<String>,
    setting: Option<CommandSetting>,
) -> Vec<String> {
    let mut lines = vec![format!("provider: {provider} is configured")];
    let mut servers = Vec::new();
    for (name, port) in LOCAL_SERVERS {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
        let connected = tokio::time::timeout(CONNECT_TIME, TcpStream::connect(address)).await;
        if matches!(connected, Ok(Ok(_))) {
            servers.push(format!("something listens at {address}, as {name} does"));
        }
    }
    if servers.is_empty() {
        lines.push("local model servers: none found".to_owned());
    }
    lines.extend(servers);
    lines.push(match branch {
        Some(branch) => format!("git: on {branch}"),
        None => "git: this is no repository; changes cannot be undone by git".to_owned(),
    });
    if let Some(setting) = setting {
        lines.push(match agent_core::sandbox_level(&setting).await {
            Ok(level) => format!("sandbox: {level}"),
            Err(reason) => format!("sandbox: none, commands will not run ({reason})"),
        });
    }
    lines.push("/model chooses another model, /permissions what commands may touch".to_owned());
    lines
}
