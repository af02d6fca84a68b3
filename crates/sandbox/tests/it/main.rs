//! The sandbox on the real kernel. The test program plays the role of `agent`: started under the
//! name `agent-sandbox` it is the holder.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "this whole program is a test, which clippy cannot see without the usual harness"
)]

mod endings;
mod escape;
mod git;
mod git_nested;
mod limits;
mod machine;
mod network;
mod policies;
mod programs;
mod refusals;
mod roles;
mod runner;
mod support;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    let name = std::path::Path::new(&name).file_name().unwrap_or_default();
    if name == agent_sandbox::PERSONALITY {
        return agent_sandbox::run_personality(args);
    }
    if let Ok(role) = std::env::var("TEST_ROLE") {
        return roles::play(&role);
    }
    runner::run(&[
        limits::TESTS,
        refusals::TESTS,
        git::TESTS,
        git_nested::TESTS,
        programs::TESTS,
        endings::TESTS,
        network::TESTS,
        escape::TESTS,
        policies::TESTS,
        machine::TESTS,
    ])
}
