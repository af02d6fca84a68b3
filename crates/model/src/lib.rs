//! Providers: the Responses API over HTTP, and scripted models.
