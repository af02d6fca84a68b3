//! Threads, sessions and turns: what happens between a person's words and the model's answer.
//!
//! A face holds a [`ThreadManager`] and [`Thread`]s; operations go in, events come out. The
//! session is one task that owns all state. It knows the traits of tools and no tool, and
//! reaches the machine only through an [`environment::Environment`].

pub mod commands;
mod consent;
pub mod environment;
mod events;
mod history;
pub mod image;
mod project;
mod router;
mod session;
mod settings;
mod thread;
mod thread_manager;
pub mod tool;
mod transcript;
mod turn;

pub use agent_config::{Config, StoreError, read_regular};
pub use agent_rollout::{FindError, Summary as SessionSummary, list as list_sessions};
pub use events::ItemEvents;
pub use settings::{SettingsError, ThreadOptions, TurnLimits, Variables};
pub use thread::{Thread, ThreadEnded};
pub use thread_manager::{
    CommandSetting, Preview, Resume, StartError, ThreadManager, ToolFactory, ToolSetup, Trust,
    sandbox_level,
};
pub use transcript::TranscriptEntry;
