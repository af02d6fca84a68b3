//! The `agent` binary: reads the command line, chooses the personality, puts the parts
//! together.

mod apply;
mod apply_patch;
mod args;
mod chat;
mod config;
mod debug;
mod demo;
mod doctor;
mod exec;
mod home;
mod log;
mod sandbox;
mod say;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    // The holder of commands is this same program under another name. It must run before
    // anything else: it forks, and a process with threads could not.
    if Path::new(&name).file_name() == Some(OsStr::new(agent_sandbox::PERSONALITY)) {
        return agent_sandbox::run_personality(args);
    }
    if apply_patch::is_name(&name) {
        return apply_patch::run(args);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(err) => return say::wrong_arguments(&err),
    };
    let result = match cli.command {
        Some(Command::Exec(exec)) => exec::run(&cli.common, *exec),
        Some(Command::Sandbox(sandbox)) => sandbox::run(&cli.common, &sandbox),
        Some(Command::Apply(apply)) => apply::run(&cli.common, &apply),
        Some(Command::Doctor(doctor)) => doctor::run(&cli.common, &doctor),
        Some(Command::Demo) => demo::run(&cli.common),
        Some(Command::Debug(debug)) => debug::run(&debug),
        Some(Command::Resume(resume)) => chat::resume(&cli.common, resume),
        None => chat::begin(&cli.common, &cli.chat, cli.prompt),
    };
    match result {
        Ok(code) => code,
        Err(err) => say::error(&err),
    }
}
