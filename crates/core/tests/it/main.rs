//! Threads with tools made for the purpose, against the scripted server.
#![cfg(test)]

mod calls;
mod consent;
mod drafts;
mod earlier;
mod steering;
mod support;
