//! Keys and events in, pictures and effects out.

mod approvals;
mod guard;
mod keys;
mod pictures;
mod support;

use super::*;
