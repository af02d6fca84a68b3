//! Threads, sessions, turns and the path of a tool call.
