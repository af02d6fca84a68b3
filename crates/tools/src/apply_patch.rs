//! `apply_patch`: edits files, all of a patch or none of it.
//!
//! A free-form tool with a grammar where the provider takes those, else a function with the
//! patch as its one argument; calls of either form are understood, and so are patches that come
//! as shell commands (see [`from_shell`]).

mod apply;
mod call;
mod diff;
mod progress;
mod string_field;

use agent_apply_patch::{GRAMMAR, PatchCommand};
use agent_core::tool::{
    CallDraft, PreparedCall, ToolError, ToolHandler, ToolInput, ToolPayload, ToolSpec, parameters,
    typed_arguments,
};
use agent_protocol::CallForm;
use schemars::JsonSchema;
use serde::Deserialize;

use call::{PatchCall, Route};

pub use apply::apply_text;

const NAME: &str = "apply_patch";
const DESCRIPTION: &str = "Edits files. The input is a patch from `*** Begin Patch` to \
    `*** End Patch`; it is applied as a whole or not at all.";

/// The tool.
pub(crate) struct ApplyPatch {
    /// The provider takes only function tools.
    pub(crate) functions_only: bool,
}

/// The arguments of the function form.
#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// The whole patch, from `*** Begin Patch` to `*** End Patch`.
    input: String,
}

impl ToolHandler for ApplyPatch {
    fn spec(&self) -> ToolSpec {
        let input = if self.functions_only {
            ToolInput::Function {
                parameters: parameters::<Args>(),
            }
        } else {
            ToolInput::Custom {
                lark: GRAMMAR.to_owned(),
            }
        };
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            input,
        }
    }

    fn prepare(&self, payload: &ToolPayload) -> Result<Box<dyn PreparedCall>, ToolError> {
        let text = match payload {
            ToolPayload::Custom { input } => input.clone(),
            ToolPayload::Function { arguments } => {
                let value = serde_json::from_str(arguments).map_err(ToolError::NotJson)?;
                let args: Args = typed_arguments(value)?;
                args.input
            }
        };
        Ok(Box::new(PatchCall::parse(text, None, Route::Tool)?))
    }

    fn draft(&self, form: CallForm) -> Option<Box<dyn CallDraft>> {
        Some(Box::new(progress::PatchDraft::new(form)))
    }
}

/// The patch call that a shell command is in truth; `workdir` is where it would have started.
///
/// # Errors
/// When it is no patch that fits, or must be sent in another way.
pub(crate) fn from_shell(
    command: PatchCommand,
    workdir: Option<&str>,
) -> Result<Box<dyn PreparedCall>, ToolError> {
    match command {
        PatchCommand::Refused(reason) => Err(ToolError::Refused(reason.to_owned())),
        PatchCommand::Call { directory, patch } => {
            let directory = match (workdir, directory) {
                (Some(outer), Some(inner)) if !inner.starts_with('/') => {
                    Some(format!("{outer}/{inner}"))
                }
                (outer, inner) => inner.or_else(|| outer.map(str::to_owned)),
            };
            Ok(Box::new(PatchCall::parse(patch, directory, Route::Shell)?))
        }
    }
}
