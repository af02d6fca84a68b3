//! Sessions on disk: one record, one line, one write.
