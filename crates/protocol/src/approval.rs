//! When a person is asked, what they are asked, and what they may answer.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{CallId, RequestId};

/// When something that leaves the sandbox needs a person's consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    /// Ask for everything that is not known to be a harmless read.
    Untrusted,
    /// Ask only for what leaves the sandbox.
    OnRequest,
    /// Say for each kind of question whether it may be asked.
    Granular(GranularApprovals),
    /// Never ask. What would need an answer is declined; the sandbox stays on.
    Never,
}

/// Which kinds of question may be asked under [`ApprovalPolicy::Granular`]. A question that may
/// not be asked is answered with no.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent switches of the configuration file"
)]
pub struct GranularApprovals {
    /// Commands and edits that leave the sandbox.
    pub sandbox_approval: bool,
    /// Commands for which a rule says `prompt`.
    pub rules: bool,
    /// Questions that an MCP server asks.
    pub mcp_elicitations: bool,
    /// Requests of the model for more permissions.
    pub request_permissions: bool,
}

impl ApprovalPolicy {
    /// The spelling of the command line and of the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::OnRequest => "on-request",
            Self::Granular(_) => "granular",
            Self::Never => "never",
        }
    }
}

impl fmt::Display for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no approval policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseApprovalPolicyError(String);

impl fmt::Display for ParseApprovalPolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no approval policy; use `untrusted`, `on-request` or `never`",
            self.0
        )
    }
}

impl std::error::Error for ParseApprovalPolicyError {}

impl FromStr for ApprovalPolicy {
    type Err = ParseApprovalPolicyError;

    /// Reads the policies that are one word. `on-failure`, an older word, means `on-request`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "untrusted" => Ok(Self::Untrusted),
            "on-request" | "on-failure" => Ok(Self::OnRequest),
            "never" => Ok(Self::Never),
            _ => Err(ParseApprovalPolicyError(text.to_owned())),
        }
    }
}

/// A question to a person: everything that a face shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Names the question in the answer.
    pub request_id: RequestId,
    /// The call that waits for the answer.
    pub call_id: CallId,
    /// What would happen.
    pub subject: ApprovalSubject,
    /// Why it is asked: the model's justification, a rule's, or the denial that came before.
    pub reason: Option<String>,
    /// The answers that may be given.
    pub choices: Vec<ApprovalChoice>,
}

/// What an approval is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApprovalSubject {
    /// A command.
    Command {
        /// The script as the model wrote it.
        command: String,
        /// Where it would run.
        cwd: PathBuf,
        /// Whether it would run in the sandbox or outside of it.
        sandboxed: bool,
    },
    /// Files that would be changed outside the writable roots.
    Patch {
        /// Each path, as it would be written.
        paths: Vec<PathBuf>,
        /// What would change, as people read it.
        diff: String,
    },
}

/// An answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalChoice {
    /// Yes, this time.
    Once,
    /// Yes, and do not ask again in this session.
    ForSession,
    /// No; the model goes on without it.
    Decline,
    /// No, and the turn ends.
    Stop,
}
