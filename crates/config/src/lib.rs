//! Configuration files, overrides and their diagnostics.
