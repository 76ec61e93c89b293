//! Rows of LangGraph's tables, and the columns that are read of them.

use super::sqlite;

/// Thread, and graph within it.
pub type ThreadKey = (String, String);

/// Columns of both tables that name a checkpoint.
pub const KEY: &[&str] = &["thread_id", "checkpoint_ns", "checkpoint_id"];
/// Columns that are read of a checkpoint.
pub const CHECKPOINT: &[&str] = &[
    "thread_id",
    "checkpoint_ns",
    "parent_checkpoint_id",
    "type",
    "checkpoint",
    "metadata",
];
/// Columns that are read of a write.
pub const WRITE: &[&str] = &["checkpoint_id", "task_id", "channel", "type", "value"];

/// Some values of a row, with the names of their columns.
pub struct Row<'r> {
    /// Names of the values.
    pub columns: &'r [&'r str],
    /// The values.
    pub values: &'r [sqlite::Value],
}

impl Row<'_> {
    /// Returns a value; NULL for a column that was not read.
    pub fn get(&self, column: &str) -> &sqlite::Value {
        let at = self.columns.iter().position(|name| *name == column);
        let value = at.and_then(|at| self.values.get(at));
        value.unwrap_or(&sqlite::Value::Null)
    }

    /// Returns a text, a number, or a blob that is UTF-8, as text; empty for all others.
    pub fn text(&self, column: &str) -> String {
        match self.get(column) {
            sqlite::Value::Text(text) => text.clone(),
            sqlite::Value::Blob(bytes) => String::from_utf8(bytes.clone()).unwrap_or_default(),
            sqlite::Value::Integer(number) => number.to_string(),
            sqlite::Value::Real(_) | sqlite::Value::Null => String::new(),
        }
    }

    /// Returns the bytes of a text or a blob; empty for all others.
    pub fn bytes(&self, column: &str) -> &[u8] {
        match self.get(column) {
            sqlite::Value::Text(text) => text.as_bytes(),
            sqlite::Value::Blob(bytes) => bytes,
            sqlite::Value::Null | sqlite::Value::Integer(_) | sqlite::Value::Real(_) => &[],
        }
    }

    /// Returns the thread and the graph of the row.
    pub fn key(&self) -> ThreadKey {
        (self.text("thread_id"), self.text("checkpoint_ns"))
    }
}
