//! The tools that the model may call.
