//! The built binary, end to end: in a cleared environment, against a scripted server on loopback,
//! with the real sandbox, real git and real files.
#![cfg(test)]

mod calls;
mod demo;
mod events;
mod exit_codes;
mod input;
mod instructions;
mod kill;
mod patches;
mod sdk;
mod stream;
mod support;
