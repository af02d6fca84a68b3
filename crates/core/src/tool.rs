//! What a tool is. The session knows these traits and no tool.
//!
//! A call goes through three forms: the payload that the model sent; a [`PreparedCall`], whose
//! arguments are parsed and which can say what it would do; the [`ToolOutcome`] of running it.
//! A tool of ours is written against [`Tool`]; a blanket implementation makes it a
//! [`ToolHandler`], which the router holds. Tools without a compile-time name implement
//! [`ToolHandler`] themselves.

use std::fmt::Write as _;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use agent_protocol::{
    ApprovalSubject, CallForm, CallId, EditDraft, ItemStatus, OutputPayload, Question,
    QuestionAnswers, TodoItem, TurnItem,
};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::commands::CommandSessions;
use crate::consent::{Asker, Consent};
use crate::environment::Environment;
use crate::events::ItemEvents;

/// How the model is told of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name that calls use.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// What calls carry.
    pub input: ToolInput,
}

/// What calls of a tool carry.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// A JSON object of this schema.
    Function {
        /// A JSON Schema.
        parameters: Value,
    },
    /// Free text of this grammar.
    Custom {
        /// The grammar, in Lark's notation.
        lark: String,
    },
}

/// What the model sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolPayload {
    /// JSON, as text.
    Function {
        /// The text.
        arguments: String,
    },
    /// Free text.
    Custom {
        /// The text.
        input: String,
    },
}

impl ToolPayload {
    /// The form of the call, which its output must have too.
    pub fn form(&self) -> CallForm {
        match self {
            Self::Function { .. } => CallForm::Function,
            Self::Custom { .. } => CallForm::Custom,
        }
    }
}

/// Whether a call may run beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing; several run side by side.
    ReadOnly,
    /// It may change something; it runs alone, in the order of the calls.
    Mutating,
}

/// What a call needs before it may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// Nothing.
    Skip,
    /// Someone must say yes.
    NeedsApproval {
        /// What would happen.
        subject: ApprovalSubject,
        /// Why it is asked.
        reason: Option<String>,
    },
    /// It may not run.
    Forbidden {
        /// Why, for the model.
        reason: String,
    },
}

/// Why a call has no output of its own. Written for the model, which can often recover.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The arguments are no JSON.
    #[error("failed to parse function arguments: they are not valid JSON: {0}")]
    NotJson(serde_json::Error),
    /// The arguments are not what the tool takes.
    #[error("failed to parse function arguments: {0}")]
    WrongArguments(String),
    /// The input has the right type and still makes no sense.
    #[error("{0}")]
    Refused(String),
    /// The tool takes the other form of call.
    #[error("`{tool}` takes {expected}")]
    WrongForm {
        /// The tool.
        tool: String,
        /// What it takes.
        expected: &'static str,
    },
}

/// What a call returned.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// For the model.
    pub output: OutputPayload,
    /// The step as it ended, for people; `None` for tools that show none.
    pub item: Option<TurnItem>,
    /// A new plan, which the session shows.
    pub plan: Option<Vec<TodoItem>>,
    /// What it did to files, as far as the tool knows that by itself.
    pub edits: Vec<FileEdit>,
    /// A fault that ends the turn: nothing can be run at all.
    pub fatal: Option<Fatal>,
}

/// What a call did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The absolute path with all links followed.
    pub path: PathBuf,
    /// Its new path, if it moved.
    pub moved_to: Option<PathBuf>,
    /// What it had and has.
    pub content: EditedContent,
}

/// The content of a file that was edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditedContent {
    /// Both are there to be compared.
    Known {
        /// `None` if there was no such file.
        before: Option<Vec<u8>>,
        /// `None` if it is gone.
        after: Option<Vec<u8>>,
        /// Whether it may be executed.
        executable: bool,
    },
    /// It was not kept.
    Unknown {
        /// Why, for a person.
        reason: &'static str,
    },
}

/// A fault that ends the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fatal {
    /// What, for a person.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ToolOutcome {
    /// Text, and nothing to show.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            output: OutputPayload::Text(text.into()),
            item: None,
            plan: None,
            edits: Vec::new(),
            fatal: None,
        }
    }

    /// The same with the step as it ended.
    #[must_use]
    pub fn with_item(mut self, item: TurnItem) -> Self {
        self.item = Some(item);
        self
    }
}

/// What a running call can reach.
#[derive(Clone)]
pub struct ToolContext {
    /// The call.
    pub call_id: CallId,
    /// Where relative paths begin.
    pub cwd: PathBuf,
    /// The machine, as far as the policy lets the call see it.
    pub environment: Arc<dyn Environment>,
    /// The commands of the thread.
    pub commands: Arc<CommandSessions>,
    /// Says how the step goes on.
    pub events: ItemEvents,
    /// Asks the call to stop.
    pub cancel: CancellationToken,
    /// The longest output for the model, in tokens.
    pub max_output_tokens: usize,
    /// What someone said yes to, if the call needed that.
    pub approved: Option<ApprovalSubject>,
    /// The way to the person who watches.
    pub person: Person,
}

/// The person who watches, as a call can reach them.
#[derive(Clone)]
pub struct Person {
    pub(crate) consent: Arc<Consent>,
    pub(crate) asker: Asker,
}

impl Person {
    /// Asks questions and waits for the answers; `None` when nobody answers them.
    ///
    /// # Cancel safety
    /// When dropped, the questions stay open in the face; cancel the call instead.
    pub async fn ask(&self, questions: Vec<Question>) -> Option<QuestionAnswers> {
        self.consent.question(&self.asker, questions).await
    }
}

/// What decisions about a call depend on.
#[derive(Clone)]
pub struct DecisionContext {
    /// Where relative paths begin.
    pub cwd: PathBuf,
    /// The machine within the policy.
    pub environment: Arc<dyn Environment>,
    /// The commands of the thread.
    pub commands: Arc<CommandSessions>,
    /// When a person is asked.
    pub approval_policy: agent_protocol::ApprovalPolicy,
    /// What commands may touch.
    pub sandbox_mode: agent_protocol::SandboxMode,
    /// Paths that nothing may read, whatever is approved, can be kept so in the sandbox only.
    pub denies_reads: bool,
}

/// A call whose arguments are parsed.
pub trait PreparedCall: Send + Sync {
    /// Whether it may run beside others.
    fn effect(&self, context: &DecisionContext) -> Effect;

    /// What it needs before it may run.
    fn requirement(&self, context: &DecisionContext) -> Requirement;

    /// The step that people see, with this status and before any output.
    fn item(&self, status: ItemStatus) -> Option<TurnItem>;

    /// The step as it ended in an earlier run, from the output that the model got then.
    fn replayed(&self, _output: &str) -> Option<TurnItem> {
        self.item(ItemStatus::Completed)
    }

    /// Runs it. It ends soon after `context.cancel` is cancelled, with an outcome.
    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, ToolOutcome>;
}

/// A tool as the router holds it.
pub trait ToolHandler: Send + Sync {
    /// How the model is told of it.
    fn spec(&self) -> ToolSpec;

    /// Parses a call.
    ///
    /// # Errors
    /// When the payload is not what the tool takes.
    fn prepare(&self, payload: &ToolPayload) -> Result<Box<dyn PreparedCall>, ToolError>;

    /// A call that runs a script of the user's own; `None` for all tools but the one that runs
    /// commands.
    fn user_command(&self, _script: &str) -> Option<Box<dyn PreparedCall>> {
        None
    }

    /// Follows a call of this form while the model writes it; `None` for tools whose calls are
    /// told only when they are whole.
    fn draft(&self, _form: CallForm) -> Option<Box<dyn CallDraft>> {
        None
    }
}

/// A call that the model is still writing. What is told of it is for people only.
pub trait CallDraft: Send {
    /// Takes more of the arguments or the text, cut anywhere. Says whether there is news.
    fn push(&mut self, delta: &str) -> bool;

    /// The edit as far as it is written.
    fn edit(&self) -> EditDraft;
}

/// A function tool of ours: typed arguments, whose comments are the schema.
pub trait Tool: Send + Sync + 'static {
    /// The name that calls use.
    const NAME: &'static str;
    /// What it does and when to use it.
    const DESCRIPTION: &'static str;
    /// Its arguments.
    type Args: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// The arguments that run a script of the user's own, if the tool runs commands.
    fn user_command(_script: &str) -> Option<Self::Args> {
        None
    }

    /// The call of another tool that a call is in truth; `None` for what it seems to be.
    ///
    /// # Errors
    /// When it is one that cannot be made this way.
    fn in_truth(&self, _args: &Self::Args) -> Result<Option<Box<dyn PreparedCall>>, ToolError> {
        Ok(None)
    }

    /// Whether a call may run beside others.
    fn effect(&self, args: &Self::Args, context: &DecisionContext) -> Effect;

    /// What a call needs before it may run.
    fn requirement(&self, args: &Self::Args, context: &DecisionContext) -> Requirement;

    /// The step that people see.
    fn item(&self, args: &Self::Args, status: ItemStatus) -> Option<TurnItem>;

    /// The step as it ended in an earlier run, from the output that the model got then.
    fn replayed(&self, args: &Self::Args, _output: &str) -> Option<TurnItem> {
        self.item(args, ItemStatus::Completed)
    }

    /// Runs a call.
    fn run(
        self: Arc<Self>,
        args: Self::Args,
        context: ToolContext,
    ) -> impl Future<Output = ToolOutcome> + Send;
}

impl<T: Tool> ToolHandler for Arc<T> {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: T::NAME.to_owned(),
            description: T::DESCRIPTION.to_owned(),
            input: ToolInput::Function {
                parameters: parameters::<T::Args>(),
            },
        }
    }

    fn prepare(&self, payload: &ToolPayload) -> Result<Box<dyn PreparedCall>, ToolError> {
        let ToolPayload::Function { arguments } = payload else {
            return Err(ToolError::WrongForm {
                tool: T::NAME.to_owned(),
                expected: "a function call with JSON arguments",
            });
        };
        let value: Value = serde_json::from_str(arguments).map_err(ToolError::NotJson)?;
        let ignored = unknown_arguments::<T::Args>(&value);
        let args = typed_arguments(value)?;
        if let Some(call) = self.in_truth(&args)? {
            return Ok(call);
        }
        Ok(Box::new(TypedCall {
            tool: Arc::clone(self),
            args,
            ignored,
        }))
    }

    fn user_command(&self, script: &str) -> Option<Box<dyn PreparedCall>> {
        let args = T::user_command(script)?;
        if let Ok(Some(call)) = self.in_truth(&args) {
            return Some(call);
        }
        Some(Box::new(TypedCall {
            tool: Arc::clone(self),
            args,
            ignored: Vec::new(),
        }))
    }
}

struct TypedCall<T: Tool> {
    tool: Arc<T>,
    args: T::Args,
    /// Arguments that the tool does not have; models remember those of other programs.
    ignored: Vec<String>,
}

impl<T: Tool> PreparedCall for TypedCall<T> {
    fn effect(&self, context: &DecisionContext) -> Effect {
        self.tool.effect(&self.args, context)
    }

    fn requirement(&self, context: &DecisionContext) -> Requirement {
        self.tool.requirement(&self.args, context)
    }

    fn item(&self, status: ItemStatus) -> Option<TurnItem> {
        self.tool.item(&self.args, status)
    }

    fn replayed(&self, output: &str) -> Option<TurnItem> {
        self.tool.replayed(&self.args, output)
    }

    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        let Self {
            tool,
            args,
            ignored,
        } = *self;
        Box::pin(async move {
            let mut outcome = tool.run(args, context).await;
            if let (OutputPayload::Text(text), false) = (&mut outcome.output, ignored.is_empty()) {
                let names = ignored.join("`, `");
                let _ = write!(text, "\nNote: unknown arguments were ignored: `{names}`");
            }
            outcome
        })
    }
}

/// Arguments of a call as the tool's type.
///
/// # Errors
/// When they do not fit; the text names the field.
pub fn typed_arguments<Args: DeserializeOwned>(value: Value) -> Result<Args, ToolError> {
    serde_path_to_error::deserialize(value).map_err(|err| {
        let field = err.path().to_string();
        let inner = err.into_inner();
        ToolError::WrongArguments(match field.as_str() {
            "." => inner.to_string(),
            field => format!("`{field}`: {inner}"),
        })
    })
}

/// The names among the arguments that are not in the schema.
fn unknown_arguments<Args: JsonSchema>(value: &Value) -> Vec<String> {
    let schema = parameters::<Args>();
    let known = schema.get("properties").and_then(Value::as_object);
    let given = value.as_object().into_iter().flatten();
    let unknown = given.filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)));
    unknown
        .map(|(name, _)| name.chars().take(MAX_NAME_CHARS).collect())
        .take(MAX_NAMES)
        .collect()
}

/// How many unknown arguments are named, and how much of each name.
const MAX_NAMES: usize = 8;
const MAX_NAME_CHARS: usize = 64;

/// The JSON Schema of a tool's arguments, in the plain form that providers take: no `$schema`,
/// no title, no reference, no further properties.
pub fn parameters<Args: JsonSchema>() -> Value {
    let mut settings = schemars::generate::SchemaSettings::draft07();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<Args>();
    schema.remove("title");
    schema.remove("description");
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    schema.to_value()
}
