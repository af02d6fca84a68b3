//! `apply_patch`: edits files, all of a patch or none of it.
//!
//! A free-form tool with a grammar where the provider takes those, else a function with the
//! patch as its one argument; calls of either form are understood.

mod diff;

use std::sync::Arc;
use std::time::Instant;

use agent_apply_patch::{
    ChangeKind as Planned, GRAMMAR, Patch, PatchKind, Plan, parse, plan, summary,
};
use agent_core::environment::Edits;
use agent_core::tool::{
    DecisionContext, Effect, PreparedCall, Requirement, ToolContext, ToolError, ToolHandler,
    ToolInput, ToolOutcome, ToolPayload, ToolSpec, parameters, typed_arguments,
};
use agent_protocol::{
    ApprovalSubject, ChangeKind, FileChange as ShownChange, ItemStatus, PathChange, SandboxMode,
    TurnItem,
};
use agent_workspace::{ChangeKind as Written, FileChange, Refusal};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

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
        let patch = parse(&text)
            .map_err(|err| ToolError::Refused(format!("apply_patch verification failed: {err}")))?;
        Ok(Box::new(PatchCall { patch, text }))
    }
}

/// A patch that could be read.
struct PatchCall {
    patch: Patch,
    /// As the model wrote it.
    text: String,
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
                diff: self.text.clone(),
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
        let (status, error) = if output.starts_with("Exit code: 0") {
            (ItemStatus::Completed, None)
        } else if output.starts_with("declined:") {
            (ItemStatus::Declined, None)
        } else {
            (ItemStatus::Failed, Some(output.to_owned()))
        };
        Some(TurnItem::FileChange(ShownChange {
            unified_diff: self.text.clone(),
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
            // Once begun it is not broken off: all of the patch is applied, or none.
            let applied = tokio::task::spawn_blocking(move || {
                let applied = apply(&self.patch, &*environment.edits(&approved));
                (self.patch, applied)
            });
            let (patch, applied) = match applied.await {
                Ok(done) => done,
                Err(err) => return ToolOutcome::text(format!("apply_patch failed: {err}")),
            };
            let wall = started.elapsed().as_secs_f64();
            match applied {
                Ok(Applied { summary, diff }) => ToolOutcome::text(format!(
                    "Exit code: 0\nWall time: {wall:.1} seconds\nOutput:\n{summary}"
                ))
                .with_item(TurnItem::FileChange(ShownChange {
                    unified_diff: diff,
                    ..shown(&patch, ItemStatus::Completed)
                })),
                Err(reason) => {
                    let item = ShownChange {
                        error: Some(reason.clone()),
                        ..shown(&patch, ItemStatus::Failed)
                    };
                    ToolOutcome::text(format!("apply_patch verification failed: {reason}"))
                        .with_item(TurnItem::FileChange(item))
                }
            }
        })
    }
}

/// A patch that was applied.
struct Applied {
    summary: String,
    diff: String,
}

/// Plans the patch against the disk and writes it. The error is for the model.
fn apply(patch: &Patch, edits: &dyn Edits) -> Result<Applied, String> {
    let mut read = |path: &str| {
        let target = edits.resolve(path).map_err(|err| err.to_string())?;
        edits.read(&target).map_err(|err| err.to_string())
    };
    let plan = plan(patch, &mut read).map_err(|err| err.to_string())?;
    let diff = diff::unified(&plan);
    let mut text = summary(&plan);
    let warnings = plan.warnings.clone();
    let changes = changes(plan, edits).map_err(|refusal| refusal.to_string())?;
    let committed = edits.commit(changes).map_err(|err| with_cause(&err))?;
    for warning in warnings.iter().chain(&committed.warnings) {
        text.push_str("\nWarning: ");
        text.push_str(warning);
    }
    Ok(Applied {
        summary: text,
        diff,
    })
}

/// The plan in terms of the places that its paths lead to.
fn changes(plan: Plan, edits: &dyn Edits) -> Result<Vec<FileChange>, Refusal> {
    plan.changes
        .into_iter()
        .map(|change| {
            let kind = match change.kind {
                Planned::Add { after } => Written::Create { after },
                Planned::Delete { before } => Written::Delete { before },
                Planned::Update {
                    before,
                    after,
                    move_to,
                } => Written::Update {
                    before,
                    after,
                    move_to: move_to.map(|path| edits.resolve(&path)).transpose()?,
                },
            };
            Ok(FileChange {
                target: edits.resolve(&change.path)?,
                kind,
            })
        })
        .collect()
}

fn with_cause(err: &dyn std::error::Error) -> String {
    match err.source() {
        Some(source) => format!("{err}: {source}; nothing was changed"),
        None => format!("{err}; nothing was changed"),
    }
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
