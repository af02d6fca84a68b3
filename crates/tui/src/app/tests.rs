//! Keys and events in, pictures and effects out.

mod approvals;
mod drafts;
mod guard;
mod keys;
mod pictures;
mod reports;
mod screens;
mod sizes;
mod support;

use super::*;
