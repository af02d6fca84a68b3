//! Tests of the workspace on real files.
#![cfg(test)]

mod commit;
mod support;
