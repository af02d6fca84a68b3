//! Kernel-enforced limits for commands, and the holder that starts and ends them.
