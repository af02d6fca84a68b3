//! One call: what it needs, how it is shown, running it.

use std::sync::Arc;
use std::time::Instant;

use agent_apply_patch::{Patch, PatchKind, parse};
use agent_core::tool::{
    DecisionContext, Effect, PreparedCall, Requirement, ToolContext, ToolError, ToolOutcome,
};
use agent_protocol::{
    ApprovalSubject, ChangeKind, FileChange as ShownChange, ItemStatus, PathChange, SandboxMode,
    TurnItem,
};
use agent_workspace::Refusal;
use futures_util::future::BoxFuture;

use super::apply::{Applied, apply};

/// How a patch came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// As a call of the tool.
    Tool,
    /// As a shell command.
    Shell,
}

/// What the model is told of a patch that came as a shell command.
const SHELL_NOTE: &str =
    "warning: this patch came as a shell command; send patches with the `apply_patch` tool\n";

/// A patch that could be read.
pub(super) struct PatchCall {
    patch: Patch,
    /// As the model wrote it.
    text: String,
    /// Where its relative paths begin, if not in the workspace.
    directory: Option<String>,
    route: Route,
}

impl PatchCall {
    /// Reads a patch whose relative paths begin in `directory`.
    pub(super) fn parse(
        text: String,
        directory: Option<String>,
        route: Route,
    ) -> Result<Self, ToolError> {
        let patch = parse(&text)
            .map_err(|err| ToolError::Refused(format!("apply_patch verification failed: {err}")))?;
        let patch = match &directory {
            Some(directory) => patch.from_within(directory),
            None => patch,
        };
        Ok(Self {
            patch,
            text,
            directory,
            route,
        })
    }

    /// The patch as people are asked about it.
    fn shown_text(&self) -> String {
        match &self.directory {
            Some(directory) => format!("in {directory}:\n{}", self.text),
            None => self.text.clone(),
        }
    }
}

impl PreparedCall for PatchCall {
    fn effect(&self, _: &DecisionContext) -> Effect {
        Effect::Mutating
    }

    /// Inside the writable roots nobody is asked; outside someone is; what is protected is
    /// refused whoever says yes.
    fn requirement(&self, context: &DecisionContext) -> Requirement {
        let mut outside = Vec::new();
        let edits = context.environment.edits(&[]);
        for path in self.patch.paths() {
            match edits.resolve(path) {
                Ok(_) => {}
                Err(Refusal::Outside { path }) => outside.push(path),
                Err(
                    refusal @ (Refusal::Protected { .. }
                    | Refusal::Denied { .. }
                    | Refusal::Invalid { .. }),
                ) => {
                    return Requirement::Forbidden {
                        reason: format!("patch rejected: {refusal}; nothing was changed"),
                    };
                }
            }
        }
        if outside.is_empty() {
            return Requirement::Skip;
        }
        Requirement::NeedsApproval {
            subject: ApprovalSubject::Patch {
                paths: outside,
                diff: self.shown_text(),
            },
            reason: Some(if context.sandbox_mode == SandboxMode::ReadOnly {
                "the sandbox is read-only".to_owned()
            } else {
                "it is outside the directories that may be written".to_owned()
            }),
        }
    }

    fn item(&self, status: ItemStatus) -> Option<TurnItem> {
        Some(TurnItem::FileChange(shown(&self.patch, status)))
    }

    fn replayed(&self, output: &str) -> Option<TurnItem> {
        let (status, error) = if output.contains("Exit code: 0\n") {
            (ItemStatus::Completed, None)
        } else if output.starts_with("declined:") {
            (ItemStatus::Declined, None)
        } else {
            (ItemStatus::Failed, Some(output.to_owned()))
        };
        Some(TurnItem::FileChange(ShownChange {
            unified_diff: self.shown_text(),
            error,
            ..shown(&self.patch, status)
        }))
    }

    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(async move {
            let started = Instant::now();
            // The files that someone said yes to, and not where their paths lead by now.
            let approved = match context.approved {
                Some(ApprovalSubject::Patch { paths, .. }) => paths,
                Some(ApprovalSubject::Command { .. }) | None => Vec::new(),
            };
            let environment = Arc::clone(&context.environment);
            let route = self.route;
            // Once begun it is not broken off: all of the patch is applied, or none.
            let applied = tokio::task::spawn_blocking(move || {
                let edits = environment.edits(&approved);
                let applied = match self.directory.filter(|path| !edits.is_directory(path)) {
                    Some(path) => Err(format!("`{path}` is no directory; nothing was changed")),
                    None => apply(&self.patch, &*edits),
                };
                (self.patch, applied)
            });
            let (patch, applied) = match applied.await {
                Ok(done) => done,
                Err(err) => return ToolOutcome::text(format!("apply_patch failed: {err}")),
            };
            let wall = started.elapsed().as_secs_f64();
            outcome(route, &patch, applied, wall)
        })
    }
}

/// What the model and people get.
fn outcome(
    route: Route,
    patch: &Patch,
    applied: Result<Applied, String>,
    wall_seconds: f64,
) -> ToolOutcome {
    let (text, item, edits) = match applied {
        Ok(applied) => {
            let note = match route {
                Route::Tool => "",
                Route::Shell => SHELL_NOTE,
            };
            let text = format!(
                "Exit code: 0\nWall time: {wall_seconds:.1} seconds\nOutput:\n{}{note}",
                applied.summary
            );
            let item = ShownChange {
                unified_diff: applied.diff,
                ..shown(patch, ItemStatus::Completed)
            };
            (text, item, applied.edits)
        }
        Err(reason) => {
            let text = format!("apply_patch verification failed: {reason}");
            let item = ShownChange {
                error: Some(reason),
                ..shown(patch, ItemStatus::Failed)
            };
            (text, item, Vec::new())
        }
    };
    let outcome = ToolOutcome::text(match route {
        Route::Tool => text,
        Route::Shell => format!("Wall time: 0.0000 seconds\nOutput:\n{text}"),
    });
    ToolOutcome { edits, ..outcome }.with_item(TurnItem::FileChange(item))
}

/// The step that people see.
fn shown(patch: &Patch, status: ItemStatus) -> ShownChange {
    let changes = patch.files().map(|file| PathChange {
        path: file.move_to.unwrap_or(file.path).to_owned(),
        kind: match file.kind {
            PatchKind::Add => ChangeKind::Add,
            PatchKind::Delete => ChangeKind::Delete,
            PatchKind::Update => ChangeKind::Update,
        },
    });
    ShownChange {
        changes: changes.collect(),
        status,
        unified_diff: String::new(),
        error: None,
    }
}
