//! Sanitising of foreign text before it reaches a terminal.
