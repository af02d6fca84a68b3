//! Tests of the whole crate: text and files in, bytes or messages out.
#![cfg(test)]
