//! The built binary, end to end: in a cleared environment, against a scripted server on loopback,
//! with the real sandbox, real git and real files.
#![cfg(test)]

mod apply;
mod approvals;
mod calls;
mod command_sessions;
mod commands;
mod configuration;
mod demo;
mod doctor;
mod events;
mod exit_codes;
mod home;
mod hostile;
mod images;
mod input;
mod instructions;
mod kill;
mod login_shell;
mod long_output;
mod network_list;
mod patch_routes;
mod patches;
mod processes;
mod provider_errors;
mod resume;
mod sandbox;
mod sandbox_command;
mod sdk;
mod stream;
mod support;
mod tui;
