use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_protocol::{CommandExecution, CommandSource, Event, ItemEvent, ItemStatus, ThreadId};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use super::output_files::OutputFiles;
use super::{
    CommandLimits, CommandSession, CommandSessions, Ending, MAX_ENDED, MAX_LIVE, NewCommand,
};
use crate::environment::{CommandEnd, CommandEvent, RunningCommand};
use crate::events::{EventSink, ItemEvents};

/// A command that does what the test says.
struct Scripted {
    events: mpsc::UnboundedReceiver<CommandEvent>,
    obeys: bool,
}

impl RunningCommand for Scripted {
    fn next(&mut self) -> BoxFuture<'_, CommandEvent> {
        Box::pin(async {
            match self.events.recv().await {
                Some(event) => event,
                None => std::future::pending().await,
            }
        })
    }

    fn write(&mut self, _: &[u8]) {}

    fn n_unwritten(&self) -> usize {
        0
    }

    fn has_leftovers(&mut self) -> bool {
        false
    }

    fn gone(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn stop(&mut self, _: Duration) -> BoxFuture<'_, ()> {
        let obeys = self.obeys;
        Box::pin(async move {
            if !obeys {
                std::future::pending::<()>().await;
            }
        })
    }

    fn findings(&self) -> Vec<String> {
        Vec::new()
    }
}

struct Started {
    session: Arc<CommandSession>,
    made_room: Option<u64>,
    events: mpsc::UnboundedSender<CommandEvent>,
}

fn start(sessions: &CommandSessions, obeys: bool) -> Started {
    start_telling(sessions, obeys, EventSink::to_nobody().item())
}

fn start_telling(sessions: &CommandSessions, obeys: bool, told: ItemEvents) -> Started {
    let (events, receiver) = mpsc::unbounded_channel();
    let (session, made_room) = sessions.start(NewCommand {
        running: Box::new(Scripted {
            events: receiver,
            obeys,
        }),
        execution: CommandExecution {
            command: "c".to_owned(),
            aggregated_output: String::new(),
            exit_code: None,
            status: ItemStatus::InProgress,
            duration_ms: None,
            source: CommandSource::Model,
            escalated: false,
            session_id: None,
            is_input: false,
        },
        events: told,
        limit: None,
        has_terminal: false,
    });
    Started {
        session,
        made_room,
        events,
    }
}

/// Sessions of a thread without a directory: nothing here is long.
fn sessions() -> CommandSessions {
    let files = OutputFiles::new(PathBuf::new(), false);
    CommandSessions::new(CommandLimits::default(), files)
}

fn prints(started: &Started, text: &'static str) {
    let event = CommandEvent::Output(Bytes::from_static(text.as_bytes()));
    started.events.send(event).unwrap();
}

fn ends(started: &Started, code: i32) {
    let events = &started.events;
    events.send(CommandEvent::OutputClosed).unwrap();
    let end = CommandEvent::Ended(CommandEnd::Exited(code));
    events.send(end).unwrap();
}

#[tokio::test]
async fn each_look_returns_what_is_new() {
    let sessions = sessions();
    let started = start(&sessions, true);
    let session = &started.session;
    prints(&started, "one");
    while session.leave().await.captured.text != "one" {
        tokio::task::yield_now().await;
    }
    prints(&started, "two");
    ends(&started, 7);
    session.gone().await;
    let chunk = session.leave().await;
    assert_eq!(chunk.captured.text, "two");
    assert_eq!(chunk.ending, Some(Ending::Ended(CommandEnd::Exited(7))));
    let whole = session.ended_execution();
    assert_eq!(whole.aggregated_output, "onetwo");
    assert_eq!(
        (whole.exit_code, whole.status),
        (Some(7), ItemStatus::Failed)
    );
}

#[tokio::test]
async fn the_one_that_is_idle_longest_makes_room() {
    let sessions = sessions();
    let all: Vec<Started> = (0..MAX_LIVE).map(|_| start(&sessions, true)).collect();
    assert!(all.iter().all(|started| started.made_room.is_none()));
    // The first one was just looked at.
    all[0].session.leave().await;
    let last = start(&sessions, true);
    assert_eq!(last.made_room, Some(2));
    all[1].session.gone().await;
    let ending = all[1].session.leave().await.ending;
    assert_eq!(
        ending,
        Some(Ending::Stopped("too many commands were running"))
    );
    assert_eq!(sessions.list().len(), MAX_LIVE);
}

#[tokio::test]
async fn those_that_nobody_asks_for_are_forgotten_in_the_end() {
    let sessions = sessions();
    for _ in 0..MAX_ENDED + 5 {
        let started = start(&sessions, true);
        started.session.leave().await;
        ends(&started, 0);
        started.session.gone().await;
    }
    let newest = start(&sessions, true).session.id();
    assert!(sessions.get(1).is_none());
    assert!(sessions.get(newest - 1).is_some());
}

#[tokio::test]
async fn nobody_finds_a_command_that_its_call_waits_for() {
    let sessions = sessions();
    let started = start(&sessions, true);
    let id = started.session.id();
    // Who did would take its output and its end from the call.
    assert!(sessions.get(id).is_none());
    started.session.leave().await;
    assert!(sessions.get(id).is_some());
}

#[tokio::test(start_paused = true)]
async fn only_what_does_not_end_is_broken_off_and_its_end_is_told() {
    let (sender, mut events) = tokio::sync::mpsc::channel(8);
    let sink = EventSink::new(ThreadId(uuid::Uuid::nil()), sender);
    let sessions = sessions();
    sessions.begin_turn();
    let before = start(&sessions, true);
    sessions.begin_turn();
    let stubborn = start_telling(&sessions, false, sink.item());
    stubborn.session.leave().await;
    sessions.stop_turn("interrupted").await;
    assert!(stubborn.session.is_gone());
    assert!(!before.session.is_gone());
    drop(sink);
    let mut n_completed = 0;
    while let Ok(envelope) = events.try_recv() {
        let is_end = matches!(envelope.event, Event::Item(ItemEvent::Completed { .. }));
        n_completed += usize::from(is_end);
    }
    assert_eq!(n_completed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_turn_ends_its_own_and_the_thread_ends_all() {
    let sessions = sessions();
    sessions.begin_turn();
    let before = start(&sessions, true);
    sessions.begin_turn();
    let now = start(&sessions, true);
    sessions.stop_turn("interrupted").await;
    assert!(now.session.is_gone());
    assert!(!before.session.is_gone());
    // One that does not end when it is asked is broken off.
    let stubborn = start(&sessions, false);
    sessions.stop_all("over").await;
    stubborn.session.gone().await;
    assert!(before.session.is_gone());
    assert!(sessions.list().is_empty());
    assert!(stubborn.session.leave().await.ending.is_some());
}
