//! The sandbox on the real kernel. The test program plays the role of `agent`: started under the
//! name `agent-sandbox` it is the holder.

mod runner;
mod support;

mod limits;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    let name = std::path::Path::new(&name).file_name().unwrap_or_default();
    if name == agent_sandbox::PERSONALITY {
        return agent_sandbox::run_personality(args);
    }
    runner::run(&[limits::TESTS])
}
