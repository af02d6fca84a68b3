//! Output capture and environment of child processes.
