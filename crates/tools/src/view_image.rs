//! `view_image`: lets the model see an image file.

use std::path::PathBuf;
use std::sync::Arc;

use agent_core::image::to_data_url;
use agent_core::tool::{DecisionContext, Effect, Requirement, Tool, ToolContext, ToolOutcome};
use agent_protocol::{ContentPart, ItemStatus, OutputPayload, TurnItem};
use schemars::JsonSchema;
use serde::Deserialize;

/// The tool.
pub(crate) struct ViewImage;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// The image file (PNG, JPEG, GIF or WebP), relative to the workspace or absolute.
    path: PathBuf,
}

impl Tool for ViewImage {
    const NAME: &'static str = "view_image";
    const DESCRIPTION: &'static str = "Shows you an image file of the machine.";
    type Args = Args;

    fn effect(&self, _: &Args, _: &DecisionContext) -> Effect {
        Effect::ReadOnly
    }

    /// Reading is done within the sandbox, so what may not be read is refused there.
    fn requirement(&self, _: &Args, _: &DecisionContext) -> Requirement {
        Requirement::Skip
    }

    fn item(&self, _: &Args, _: ItemStatus) -> Option<TurnItem> {
        None
    }

    async fn run(self: Arc<Self>, args: Args, context: ToolContext) -> ToolOutcome {
        let path = context.cwd.join(&args.path);
        let shown = args.path.display();
        let read = tokio::select! {
            read = context.environment.read_file(&path) => read,
            () = context.cancel.cancelled() => return ToolOutcome::text("aborted by user"),
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(err) => {
                return ToolOutcome::text(format!("unable to read the image `{shown}`: {err}"));
            }
        };
        // Decoding and scaling a large image takes a while.
        let encoded = tokio::task::spawn_blocking(move || to_data_url(&bytes)).await;
        match encoded {
            Ok(Ok(image_url)) => ToolOutcome {
                output: OutputPayload::Parts(vec![ContentPart::InputImage {
                    image_url,
                    detail: None,
                }]),
                ..ToolOutcome::text("")
            },
            Ok(Err(err)) => {
                ToolOutcome::text(format!("unable to process the image `{shown}`: {err}"))
            }
            Err(err) => ToolOutcome::text(format!("unable to process the image `{shown}`: {err}")),
        }
    }
}
