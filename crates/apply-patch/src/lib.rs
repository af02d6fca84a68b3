//! The patch grammar, matching and plan: text in, plan out.
