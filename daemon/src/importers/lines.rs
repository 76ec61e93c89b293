//! Writes and counts the lines of an export.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::Prefix;
use crate::clock::{Micros, format_time};

/// A writer of export lines.
pub struct LineWriter<'l> {
    out: &'l mut dyn Write,
    prefix: Option<Prefix>,
    lines: u64,
    /// Number of the last event in the current session.
    n: u64,
}

impl<'l> LineWriter<'l> {
    /// Creates a writer to this output.
    #[must_use]
    pub fn new(out: &'l mut dyn Write) -> Self {
        Self {
            out,
            prefix: None,
            lines: 0,
            n: 0,
        }
    }

    /// Sets a prefix for session ids.
    #[must_use]
    pub fn behind(self, prefix: Option<Prefix>) -> Self {
        Self { prefix, ..self }
    }

    /// Returns the prefix of session ids.
    #[must_use]
    pub const fn prefix(&self) -> Option<&Prefix> {
        self.prefix.as_ref()
    }

    fn push(&mut self, line: &Value) -> io::Result<()> {
        if self.lines == 0 {
            self.lines = 1;
            writeln!(
                self.out,
                "{}",
                json!({"format": "lore-export", "version": 1})
            )?;
        }
        self.lines += 1;
        writeln!(self.out, "{line}")
    }

    /// Writes a line outside sessions.
    pub fn outside(&mut self, at: Micros, kind: &str, payload: Value) -> io::Result<()> {
        let at = format_time(at);
        self.push(&json!({"at": at, "kind": kind, "payload": payload}))
    }

    /// Begins a session; its id gets the prefix.
    pub fn begin(&mut self, session: &str, at: Micros, created: Value) -> io::Result<()> {
        let prefixed = self.prefix.as_ref().map(|prefix| prefix.id(session));
        let session = prefixed.as_deref().unwrap_or(session);
        self.push(&json!({"format": "lore-session", "version": 1, "session": session}))?;
        self.n = 0;
        self.event(at, "SessionCreated", created)
    }

    /// Writes the next event of the session.
    pub fn event(&mut self, at: Micros, kind: &str, payload: Value) -> io::Result<()> {
        self.n += 1;
        let at = format_time(at);
        self.push(&json!({"n": self.n, "at": at, "kind": kind, "payload": payload}))
    }

    /// Ends the session.
    pub fn end_session(&mut self) -> io::Result<()> {
        self.push(&json!({"end": {"events": self.n}}))
    }

    /// Writes the last line.
    pub fn end(mut self) -> io::Result<()> {
        let lines = self.lines.max(1);
        self.push(&json!({"end": {"lines": lines}}))?;
        self.out.flush()
    }
}
