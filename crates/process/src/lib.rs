//! The two ends of a child process that the agent shapes: the environment it gets, and the
//! output that is kept of it.
//!
//! Starting and ending processes is not done here: the sandbox's holder does.

mod capture;
mod environment;
mod model_output;

pub use capture::{Capture, Captured};
pub use environment::{EnvironmentPolicy, Inherit, Prepared, holds_password, looks_secret};
pub use model_output::{Shortened, shorten_for_model};
