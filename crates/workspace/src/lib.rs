//! Directory handles and atomic commits of several files.
