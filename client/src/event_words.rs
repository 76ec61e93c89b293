//! Describes events for people: what was said and what was done, in one line.

use serde_json::Value;

use crate::local_time::local_time_of_micros;
use crate::sanitize::{bytes, sanitize, summary};

/// Characters of a recorded text that its description looks at.
const WORDS_CHARS: usize = 400;

/// Returns whether an event is bookkeeping of the daemon or of a client, which people need not see: of what a host
/// observed, that which a message or a step says as well.
#[must_use]
pub fn is_internal(kind: &str, client: &str, payload: &Value) -> bool {
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    client.starts_with("lored/")
        || match kind {
            "WorktreeNoted" | "ObservationRepeated" => true,
            "PackMade" => text("made_for").and_then(moment_words).is_none(),
            "HostObserved" => {
                text("following").is_some()
                    || matches!(text("what"), Some("call" | "turn-end" | "tokens"))
            }
            _ => false,
        }
}

/// Describes an event in words, in one line of at most `width` characters: what was said, what was done.
#[must_use]
pub fn event_words(kind: &str, payload: &Value, width: usize) -> String {
    if !payload.is_object() {
        return format!("{} (forgotten)", kind_words(kind));
    }
    let text = |name: &str| {
        payload
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let words = match kind {
        "MessageRecorded" => format!("{}: {}", text("sender"), in_one_line(text("content"))),
        "StepRecorded" => step_words(payload, text("tool"), text("purpose")),
        "ToolRecorded" => format!("{} {}", text("name"), text("status")),
        "SessionCreated" => match (text("title"), text("topic")) {
            ("", "") => "began a session".to_owned(),
            ("", about) | (about, _) => format!("began a session: {}", in_one_line(about)),
        },
        "CheckpointSaved" if !text("checkpoint").is_empty() => {
            checkpoint_words(payload, text("metadata"))
        }
        "HostObserved" => observation_words(payload, text("what")),
        "PackMade" if moment_words(text("made_for")).is_some() => {
            let moment = moment_words(text("made_for")).unwrap_or_default();
            format!(
                "added {} tokens to the context {moment}",
                number(payload, "tokens")
            )
        }
        "ProjectInitialised" => format!("began a project: {}", text("path")),
        "ContextWritten" => {
            let (name, version) = (text("file_type"), number(payload, "version"));
            format!("{} {name}, version {version}", text("change"))
        }
        "ContextDrafted" => format!("was refused a change of {}", text("file_type")),
        "CapturePaused" => {
            let until = payload.get("until").and_then(Value::as_i64);
            let until = until.and_then(local_time_of_micros);
            let until = until.map(|until| format!(" until {until}"));
            format!("paused recording{}", until.unwrap_or_default())
        }
        "SuspicionReviewed" => {
            let event = number(payload, "event");
            match text("judgement") {
                "accepted" => format!("accepted what position {event} says"),
                "rejected" => format!("rejected what position {event} says"),
                _ => format!("left the judgement of position {event} to the rules"),
            }
        }
        "EventsUndone" => format!("undid {} events", number(payload, "events")),
        "EventsRedone" => format!("redid {} events", number(payload, "events")),
        "CaptureResumed" => "resumed recording".to_owned(),
        "SessionLeased" => {
            let until = payload.get("until").and_then(Value::as_i64);
            let until = until.and_then(local_time_of_micros).unwrap_or_default();
            format!("leased {} until {until}", text("name"))
        }
        _ => {
            let summary = summary(payload);
            match summary.is_empty() {
                true => kind_words(kind),
                false => format!("{}: {summary}", kind_words(kind)),
            }
        }
    };
    sanitize(words.trim(), width)
}

/// Says at which moment a text was added to a model's context; `None` for a pack that someone asked for.
fn moment_words(made_for: &str) -> Option<&'static str> {
    Some(match made_for {
        "start" => "at the start",
        "after_compaction" => "after a compaction",
        "prompt" => "with a prompt",
        "before_edit" => "before an edit",
        "tool_failed" => "after a failure",
        "before_subagent" => "of a subagent",
        _ => return None,
    })
}

/// Describes what a host observed.
fn observation_words(payload: &Value, what: &str) -> String {
    let words = match what {
        "start" => "started",
        "end" => "ended",
        "prompt" => "was asked",
        "call" => "began a call",
        "outcome" => "ended a call",
        "answer" => "answered",
        "turn-end" => "ended its turn",
        "plan" => "changed its plan",
        "subagent" => "started a subagent",
        "subagent-end" => "ended a subagent",
        "compaction" => "began to compact its context",
        "compaction-end" => "compacted its context",
        "permission" => "asked for permission",
        "permission-answer" => "got an answer to its request for permission",
        "question" => "asked",
        "reply" => "was answered",
        "file" => "saw a file change",
        "folder" => "changed its folder",
        _ => "reported something new",
    };
    let text = |name: &str| payload.get(name).and_then(Value::as_str).map(in_one_line);
    let edits = || payload.pointer("/edits/0")?.as_str().map(in_one_line);
    let about = text("text").or_else(|| text("command")).or_else(edits);
    let place = match what {
        "start" => text("folder").map(|folder| format!(" in {folder}")),
        _ => None,
    };
    let about = about.filter(|about| !about.is_empty());
    let about = about.map_or_else(String::new, |about| format!(": {about}"));
    format!("{words}{}{about}", place.unwrap_or_default())
}

fn number(payload: &Value, name: &str) -> u64 {
    payload
        .get(name)
        .and_then(Value::as_u64)
        .unwrap_or_default()
}

fn step_words(payload: &Value, tool: &str, purpose: &str) -> String {
    let number = number(payload, "step");
    let purpose = match purpose {
        "" => String::new(),
        purpose => format!(" ({})", in_one_line(purpose)),
    };
    let shown = |name: &str| match payload.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(in_one_line(text)),
        Some(other) => Some(other.to_string()),
    };
    let outcome = match (shown("error"), shown("result")) {
        (Some(error), _) => format!(" failed: {error}"),
        (None, Some(result)) => format!(": {result}"),
        (None, None) => String::new(),
    };
    format!("step {number} {tool}{purpose}{outcome}")
}

/// Describes a saved checkpoint: its name, its size, and the keys that the event names: large ones and critical ones.
fn checkpoint_words(payload: &Value, metadata: &str) -> String {
    let described: Value = serde_json::from_str(metadata).unwrap_or_default();
    let mut words = match described.get("name").and_then(Value::as_str) {
        Some(name) if !name.is_empty() => format!("saved checkpoint {:?}", in_one_line(name)),
        _ => "saved a checkpoint".to_owned(),
    };
    let list = |name: &str| payload.get(name).and_then(Value::as_array).cloned();
    let parts = list("parts").unwrap_or_default();
    // A part's first object is its value: hash, length, size on disk.
    let length = |part: &Value| part.pointer("/chain/0/1").and_then(Value::as_u64);
    let total = parts.iter().filter_map(length);
    words += &format!(", {}", bytes(total.fold(0, u64::saturating_add)));
    let mut keys: Vec<String> = Vec::new();
    let large = parts.iter().filter_map(|part| part.get("key").cloned());
    for key in large.chain(list("critical").unwrap_or_default()) {
        if let Some(key) = key.as_str().map(in_one_line)
            && !keys.contains(&key)
        {
            keys.push(key);
        }
    }
    let has_small = parts.iter().any(|part| part.get("key").is_none());
    if has_small && !keys.is_empty() {
        keys.push("small keys".to_owned());
    }
    if !keys.is_empty() {
        words += &format!(": {}", keys.join(", "));
    }
    words
}

/// Splits the name of a kind into words: `CheckpointSaved` becomes `checkpoint saved`.
fn kind_words(kind: &str) -> String {
    let mut words = String::with_capacity(kind.len() + 4);
    for character in kind.chars() {
        if character.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(character.to_ascii_lowercase());
    }
    words
}

/// Joins the first words of a text by single spaces; a long text is cut.
fn in_one_line(text: &str) -> String {
    let head: String = text.chars().take(WORDS_CHARS).collect();
    head.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_described_in_words() {
        for (kind, payload, words) in [
            (
                "MessageRecorded",
                json!({"id": "m1", "sender": "user", "content": "hello\n  you\u{1b}"}),
                "user: hello you\\u{1b}",
            ),
            (
                "StepRecorded",
                json!({"step": 2, "tool": "fetch", "error": "timed out"}),
                "step 2 fetch failed: timed out",
            ),
            (
                "StepRecorded",
                json!({"step": 3, "tool": "git", "purpose": "look", "result": "{\"a\": 1}"}),
                "step 3 git (look): {\"a\": 1}",
            ),
            (
                "SessionCreated",
                json!({"title": "Fix it"}),
                "began a session: Fix it",
            ),
            ("SessionCreated", json!({}), "began a session"),
            (
                "CheckpointSaved",
                json!({"checkpoint": "7913", "hash": "47", "stored_bytes": 46, "new_bytes": 0,
                    "critical": ["goal"], "metadata": "{\"name\":\"before the deploy\"}", "parts": [
                        {"chain": [["47", 40, 46, 0]]}, {"key": "history", "chain": [["48", 2008, 100, 0]]}]}),
                "saved checkpoint \"before the deploy\", 2.0 KiB: history, goal, small keys",
            ),
            (
                "CheckpointSaved",
                json!({"checkpoint": "7913", "stored_bytes": 7, "new_bytes": 0, "parts": [
                        {"chain": [["47", 7, 7, 0]]}]}),
                "saved a checkpoint, 7 B",
            ),
            (
                "HostObserved",
                json!({"host": "codex", "what": "start", "folder": "/w", "text": "resume"}),
                "started in /w: resume",
            ),
            (
                "HostObserved",
                json!({"host": "codex", "what": "compaction-end"}),
                "compacted its context",
            ),
            (
                "HostObserved",
                json!({"host": "codex", "what": "never-seen", "text": "x\ny"}),
                "reported something new: x y",
            ),
            (
                "PackMade",
                json!({"made_for": "before_edit", "tokens": 44}),
                "added 44 tokens to the context before an edit",
            ),
            (
                "ContextWritten",
                json!({"file_type": "bugs", "version": 3, "change": "appended"}),
                "appended bugs, version 3",
            ),
            ("KeyMarked", json!({"key": "goal"}), "key marked: key=goal"),
            ("KeyMarked", Value::Null, "key marked (forgotten)"),
        ] {
            assert_eq!(event_words(kind, &payload, 0), words);
        }
        assert_eq!(
            event_words("KeyMarked", &json!({"key": "goal"}), 10),
            "key marke…"
        );
    }

    #[test]
    fn bookkeeping_is_told_from_what_was_done() {
        let lore = "lore/0.1.0";
        for (kind, payload) in [
            ("PackMade", json!({"made_for": "message"})),
            ("WorktreeNoted", json!({})),
            (
                "HostObserved",
                json!({"what": "outcome", "following": "step"}),
            ),
            ("HostObserved", json!({"what": "call"})),
            ("HostObserved", json!({"what": "tokens"})),
            ("ObservationRepeated", json!({"of": 7})),
        ] {
            assert!(is_internal(kind, lore, &payload), "{kind} {payload}");
        }
        for (kind, payload) in [
            ("PackMade", json!({"made_for": "prompt"})),
            ("HostObserved", json!({"what": "compaction-end"})),
            ("MessageRecorded", Value::Null),
        ] {
            assert!(!is_internal(kind, lore, &payload), "{kind} {payload}");
        }
        assert!(is_internal("EntitiesFound", "lored/0.1.0", &json!({})));
    }
}
