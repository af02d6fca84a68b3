//! The tools that the model may call, one file each.
//!
//! A tool parses its arguments, says what a call needs, and runs it through the environment
//! that the session gives it. None reaches the machine by itself.

mod apply_patch;
mod exec_command;
mod request_user_input;
mod update_plan;
mod view_image;
mod write_stdin;

use std::sync::Arc;

use agent_core::ToolSetup;
use agent_core::tool::ToolHandler;

pub use agent_apply_patch::PERSONALITIES;
pub use apply_patch::apply_text;

/// The tools of a thread.
pub fn tools(setup: ToolSetup) -> Vec<Arc<dyn ToolHandler>> {
    let mut tools: Vec<Arc<dyn ToolHandler>> = vec![
        Arc::new(apply_patch::ApplyPatch {
            functions_only: setup.functions_only,
        }),
        Arc::new(Arc::new(exec_command::ExecCommand)),
        Arc::new(Arc::new(write_stdin::WriteStdin)),
        Arc::new(Arc::new(view_image::ViewImage)),
    ];
    if setup.update_plan {
        tools.push(Arc::new(Arc::new(update_plan::UpdatePlan)));
    }
    if setup.interactive {
        tools.push(Arc::new(Arc::new(request_user_input::RequestUserInput)));
    }
    tools
}
