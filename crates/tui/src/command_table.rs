//! The `/` commands by name, for the composer, the help and whoever carries them out.

/// Name, what it does, whether text may follow.
pub(crate) const COMMANDS: &[(&str, &str, bool)] = &[
    (
        "model",
        "choose how much the model thinks, or name another one",
        true,
    ),
    (
        "permissions",
        "choose what commands may touch and when you are asked",
        false,
    ),
    ("new", "begin a new conversation", false),
    ("resume", "go on with an earlier conversation", false),
    (
        "fork",
        "go on in a copy; the conversation so far stays as it is",
        false,
    ),
    ("back", "go back to an earlier message and edit it", false),
    ("context", "show where the context window goes", false),
    ("status", "show model, place, limits and tokens", false),
    ("diff", "show what differs from the last commit", false),
    ("init", "write an AGENTS.md for this repository", false),
    ("copy", "copy the last answer", false),
    ("export", "write the transcript to a file", true),
    ("theme", "choose the colours", true),
    ("vim", "switch Vim keys on or off", false),
    ("keymap", "show the keys", false),
    ("settings", "switch what moves, calls and is kept", false),
    ("trust", "say whether this directory is trusted", false),
    ("ps", "show the commands that run in the background", false),
    (
        "stop",
        "stop what runs, also the commands in the background",
        false,
    ),
    ("help", "show commands and keys", false),
    ("quit", "end", false),
];
