//! One run: the thread is started, the prompt handed in, events are printed as they come,
//! signals are heard, and the end becomes an exit status.

mod output;
mod signals;

use std::io;
use std::path::{Path, PathBuf};

use agent_core::{Resume, StartError, Thread, ThreadManager, ThreadOptions, read_regular};
use agent_protocol::{
    Event, FailureKind, NoticeEvent, Op, TokenUsage, TurnEvent, TurnFailure, UserInput,
};
use serde_json::Value;

use crate::answer::AnswerFile;
use crate::color::ColorChoice;
use crate::exit::ExitStatus;
use crate::prompt::{Prompt, PromptError, StdinMode, read_prompt};
use crate::schema::AnswerSchema;
use output::Output;
use signals::Signals;

/// The largest output schema, in bytes.
const MAX_SCHEMA_BYTES: u64 = 4 << 20;

/// What a run is asked to do.
#[derive(Debug)]
pub struct ExecOptions {
    /// The prompt argument; `-` or none takes standard input.
    pub prompt: Option<String>,
    /// What is done with standard input beside it.
    pub stdin: StdinMode,
    /// How progress is told.
    pub format: Format,
    /// Whether human output is coloured.
    pub color: ColorChoice,
    /// Whether the variable `NO_COLOR` is set.
    pub no_color: bool,
    /// Where the last message goes as well.
    pub output_last_message: Option<PathBuf>,
    /// A schema that the answer must satisfy, and the file it came from.
    pub output_schema: Option<PathBuf>,
    /// Images beside the prompt.
    pub images: Vec<PathBuf>,
    /// Whether a declined step makes the run fail.
    pub fail_on_declined: bool,
    /// Which session to use.
    pub thread: ExecThread,
    /// Lines to warn with before anything happens.
    pub warnings: Vec<String>,
    /// The program's version.
    pub version: &'static str,
}

/// How progress is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people: progress on standard error, the answer on standard output.
    Human,
    /// JSONL on standard output.
    Json,
}

/// Which session a run uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecThread {
    /// A new one.
    New,
    /// One that is there.
    Resume(Resume),
}

/// Why a run did not start. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// There is no prompt.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The thread cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The file for the last message cannot be written.
    #[error("cannot write the last message to `{path}`", path = path.display())]
    AnswerFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The schema cannot be used.
    #[error("cannot use the output schema `{path}`: {problem}", path = path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// An image cannot be used.
    #[error("cannot use the image `{path}`: {problem}", path = path.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// Signals cannot be heard.
    #[error("cannot listen for signals")]
    Signals(io::Error),
}

impl ExecError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Start(err) => err.hint(),
            Self::Prompt(PromptError::Missing) => {
                Some("for example: agent exec \"explain this repository\"".to_owned())
            }
            Self::Image { .. } => Some("PNG, JPEG, GIF and WebP files can be used".to_owned()),
            Self::Prompt(_) | Self::AnswerFile { .. } | Self::Schema { .. } | Self::Signals(_) => {
                None
            }
        }
    }
}

/// Runs one task and returns how it ended.
///
/// # Errors
/// When it does not start; nothing has been sent then.
pub async fn run(
    manager: &ThreadManager,
    options: ExecOptions,
    thread_options: ThreadOptions,
) -> Result<ExitStatus, ExecError> {
    let schema = options
        .output_schema
        .as_deref()
        .map(read_schema)
        .transpose()?;
    for path in &options.images {
        check_image(path)?;
    }
    let prompt = read_prompt(options.prompt.as_deref(), options.stdin)?;
    let answer_file = answer_file(options.output_last_message.as_ref())?;
    let signals = Signals::listen().map_err(ExecError::Signals)?;
    let thread = match &options.thread {
        ExecThread::New => manager.start(thread_options).await?,
        ExecThread::Resume(which) => manager.resume(which, thread_options).await?,
    };
    let run = Run {
        output: Output::new(&options),
        notes: options
            .warnings
            .iter()
            .chain(&prompt.notes)
            .cloned()
            .collect(),
        prompt: &prompt.text,
        answer_schema: schema.as_ref().map(|(_, compiled)| compiled),
        answer_file,
        n_declined: 0,
        fail_on_declined: options.fail_on_declined,
    };
    let op = Op::UserTurn {
        input: user_input(&prompt, options.images),
        output_schema: schema.as_ref().map(|(value, _)| value.clone()),
    };
    Ok(run.drive(thread, signals, op).await)
}

fn user_input(prompt: &Prompt, images: Vec<PathBuf>) -> Vec<UserInput> {
    let images = images
        .into_iter()
        .map(|path| UserInput::LocalImage { path });
    let text = UserInput::Text {
        text: prompt.text.clone(),
    };
    images.chain([text]).collect()
}

fn read_schema(path: &Path) -> Result<(Value, AnswerSchema), ExecError> {
    let problem = |problem: String| ExecError::Schema {
        path: path.to_owned(),
        problem,
    };
    let bytes = read_regular(path, MAX_SCHEMA_BYTES).map_err(|err| problem(err.to_string()))?;
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|err| problem(format!("it is not JSON: {err}")))?;
    let compiled = AnswerSchema::compile(&value).map_err(problem)?;
    Ok((value, compiled))
}

fn check_image(path: &Path) -> Result<(), ExecError> {
    let problem = |problem: String| ExecError::Image {
        path: path.to_owned(),
        problem,
    };
    let bytes = agent_core::image::read(path).map_err(|err| problem(err.to_string()))?;
    agent_core::image::to_data_url(&bytes).map_err(|err| problem(err.to_string()))?;
    Ok(())
}

fn answer_file(path: Option<&PathBuf>) -> Result<Option<AnswerFile>, ExecError> {
    let create = |path: &PathBuf| {
        AnswerFile::create(path).map_err(|source| ExecError::AnswerFile {
            path: path.clone(),
            source,
        })
    };
    path.map(create).transpose()
}

/// A run under way.
struct Run<'a> {
    output: Output,
    prompt: &'a str,
    notes: Vec<String>,
    answer_schema: Option<&'a AnswerSchema>,
    answer_file: Option<AnswerFile>,
    n_declined: usize,
    fail_on_declined: bool,
}

/// What ended the listening.
enum End {
    Turn(TurnEvent),
    LostOutput(io::Error),
    /// The thread ended without telling how; a fault of the program.
    Lost,
}

impl Run<'_> {
    async fn drive(mut self, mut thread: Thread, mut signals: Signals, op: Op) -> ExitStatus {
        let submitted = thread.submit(op).await;
        let mut stopped_by = None;
        let end = match submitted {
            Ok(()) => {
                self.listen(&mut thread, &mut signals, &mut stopped_by)
                    .await
            }
            Err(_) => End::Lost,
        };
        let status = self.conclude(end, stopped_by);
        // A second signal does not wait for what is being ended.
        tokio::select! {
            () = thread.shut_down() => {}
            _ = signals.next(), if stopped_by.is_some() => {}
        }
        status
    }

    /// Prints events until the turn has ended.
    async fn listen(
        &mut self,
        thread: &mut Thread,
        signals: &mut Signals,
        stopped_by: &mut Option<i32>,
    ) -> End {
        loop {
            // Both are cancel-safe.
            tokio::select! {
                biased;
                signal = signals.next() => {
                    if stopped_by.replace(signal).is_some() {
                        // The second one: everything ends with this process.
                        return End::Turn(TurnEvent::Interrupted);
                    }
                    // An ended thread has nothing to interrupt.
                    thread.submit(Op::Interrupt).await.ok();
                }
                envelope = thread.next_event() => {
                    let Some(envelope) = envelope else { return End::Lost };
                    let started = matches!(
                        envelope.event,
                        Event::Thread(agent_protocol::ThreadEvent::Started(_))
                    );
                    let mut printed = self.output.event(&envelope);
                    if started && printed.is_ok() {
                        printed = self.output.introduce(self.prompt, &self.notes);
                    }
                    if let Err(err) = printed {
                        return End::LostOutput(err);
                    }
                    if let Event::Notice(NoticeEvent::Declined { .. }) = envelope.event {
                        self.n_declined += 1;
                    }
                    if let Event::Turn(event) = envelope.event
                        && !matches!(event, TurnEvent::Started | TurnEvent::Steered { .. })
                    {
                        return End::Turn(event);
                    }
                }
            }
        }
    }

    /// Tells how it ended.
    fn conclude(&mut self, end: End, stopped_by: Option<i32>) -> ExitStatus {
        match end {
            End::LostOutput(err) => lost_output(&err),
            End::Lost => self.fail(&TurnFailure {
                kind: FailureKind::Internal,
                message: "the session ended unexpectedly".to_owned(),
                hint: None,
            }),
            End::Turn(TurnEvent::Completed {
                usage,
                last_message,
            }) => self.complete(usage, &last_message.unwrap_or_default()),
            End::Turn(TurnEvent::Failed(failure)) => self.fail(&failure),
            End::Turn(TurnEvent::Interrupted | TurnEvent::Started | TurnEvent::Steered { .. }) => {
                let status = stopped_by.map_or(ExitStatus::Failed, ExitStatus::Signal);
                self.told(status, Output::failed_without_status, "interrupted")
            }
        }
    }

    fn complete(&mut self, usage: TokenUsage, answer: &str) -> ExitStatus {
        if let Some(complaint) = self
            .answer_schema
            .and_then(|schema| schema.complaint(answer))
        {
            return self.fail(&TurnFailure {
                kind: FailureKind::Schema,
                message: format!("the answer does not satisfy the output schema: {complaint}"),
                hint: None,
            });
        }
        if let Some(Err(message)) = self.answer_file.take().map(|file| file.write(answer)) {
            return self.fail(&TurnFailure {
                kind: FailureKind::Internal,
                message,
                hint: None,
            });
        }
        if let Err(err) = self.output.completed(usage, answer) {
            return lost_output(&err);
        }
        if self.fail_on_declined && self.n_declined > 0 {
            return ExitStatus::Declined;
        }
        ExitStatus::Completed
    }

    fn fail(&mut self, failure: &TurnFailure) -> ExitStatus {
        match self.output.failed(failure) {
            Ok(()) => ExitStatus::from(failure.kind),
            Err(err) => lost_output(&err),
        }
    }

    fn told(
        &mut self,
        status: ExitStatus,
        tell: fn(&mut Output, &str) -> io::Result<()>,
        message: &str,
    ) -> ExitStatus {
        // The signal says more than that nobody reads any more.
        tell(&mut self.output, message).ok();
        status
    }
}

/// Standard output took no more. That nobody reads it is the reader's choice; anything else is
/// an error that must be told.
fn lost_output(err: &io::Error) -> ExitStatus {
    if err.kind() == io::ErrorKind::BrokenPipe {
        return ExitStatus::CLOSED_STDOUT;
    }
    output::complain(&format!("cannot write to standard output: {err}"));
    ExitStatus::Failed
}
