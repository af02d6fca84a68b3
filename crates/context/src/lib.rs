//! Prompt fragments and the assembly of AGENTS.md: text in, text out.
