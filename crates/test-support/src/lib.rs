//! The scripted model server and fixtures of the tests.
