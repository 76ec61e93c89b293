//! What an event is on a time axis, as a letter: the same as the marks of the page in a browser.

use serde_json::Value;

/// What an event is; what says more comes later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// No event.
    #[default]
    Nothing,
    /// Bookkeeping.
    Other,
    /// A session began or ended.
    Session,
    /// A message of an agent or of a system.
    Message,
    /// A tool's result.
    Step,
    /// Text that was given to a model.
    Given,
    /// A changed context file.
    Edit,
    /// A saved checkpoint.
    Checkpoint,
    /// A context that was compacted or pruned.
    Compaction,
    /// A person's message.
    Prompt,
    /// A tool that failed.
    Failure,
}

impl Mark {
    /// Returns what an event is.
    pub fn of(kind: &str, payload: &Value) -> Self {
        let is =
            |member: &str, text: &str| payload.get(member).and_then(Value::as_str) == Some(text);
        match kind {
            "MessageRecorded" if is("sender", "user") => Self::Prompt,
            "MessageRecorded" => Self::Message,
            "StepRecorded" if payload.get("success") == Some(&Value::Bool(false)) => Self::Failure,
            "StepRecorded" | "ToolRecorded" => Self::Step,
            "CheckpointSaved" => Self::Checkpoint,
            "PackMade" => Self::Given,
            "ContextPruned" => Self::Compaction,
            "ContextWritten" => Self::Edit,
            "HostObserved" if is("what", "compaction") => Self::Compaction,
            "HostObserved" if is("what", "file") => Self::Edit,
            "SessionCreated" | "SessionClosed" => Self::Session,
            _ => Self::Other,
        }
    }

    /// Returns its letter.
    pub const fn letter(self) -> char {
        match self {
            Self::Nothing => '.',
            Self::Other => '-',
            Self::Session => 'b',
            Self::Message => 'm',
            Self::Step => 's',
            Self::Given => 'g',
            Self::Edit => 'e',
            Self::Checkpoint => 'c',
            Self::Compaction => '%',
            Self::Prompt => 'P',
            Self::Failure => 'x',
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_have_the_marks_of_the_page() {
        for (kind, payload, letter) in [
            ("MessageRecorded", json!({"sender": "user"}), 'P'),
            ("MessageRecorded", json!({"sender": "assistant"}), 'm'),
            ("StepRecorded", json!({"success": true}), 's'),
            ("StepRecorded", json!({"success": false}), 'x'),
            ("HostObserved", json!({"what": "compaction"}), '%'),
            ("HostObserved", json!({"what": "tokens"}), '-'),
            ("Unheard", Value::Null, '-'),
        ] {
            assert_eq!(Mark::of(kind, &payload).letter(), letter, "{kind}");
        }
    }
}
