//! Tests of the workspace on real files.
#![cfg(test)]

mod boundary;
mod commit;
mod documented;
mod faults;
mod git_diff;
mod in_place;
mod kill;
mod race;
mod roll_back;
mod rules;
mod special;
mod support;
