//! Checks of this repository's own rules.
fn main() {}
