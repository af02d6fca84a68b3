//! What the command's own process takes upon itself right before it becomes the command.

use std::io;

use ::landlock::RulesetCreated;
use nix::sys::prctl;
use seccompiler::BpfProgram;

use super::landlock::{self, Grant};
use crate::sys;

/// The layers that are inherited across exec, prepared once.
#[derive(Debug, Default)]
pub(crate) struct Confinement {
    pub(crate) ruleset: Option<RulesetCreated>,
    /// What the ruleset allows.
    pub(crate) grants: Vec<Grant>,
    pub(crate) filters: Vec<BpfProgram>,
    pub(crate) capabilities: u64,
}

impl Confinement {
    /// Takes upon this process the limits for writing alone.
    pub(crate) fn limit_writes(&self) -> io::Result<()> {
        prctl::set_no_new_privs()?;
        if self.ruleset.is_none() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let ruleset = landlock::write_ruleset(&self.grants).map_err(io::Error::other)?;
        ruleset.restrict_self().map(drop).map_err(io::Error::other)
    }

    /// Confines this process and all that it starts, for good.
    pub(crate) fn apply(&self) -> io::Result<()> {
        prctl::set_no_new_privs()?;
        if let Some(ruleset) = &self.ruleset {
            ruleset
                .try_clone()?
                .restrict_self()
                .map_err(io::Error::other)?;
        }
        sys::set_capabilities(self.capabilities & sys::permitted_capabilities()?)?;
        for filter in &self.filters {
            seccompiler::apply_filter(filter).map_err(io::Error::other)?;
        }
        Ok(())
    }
}
