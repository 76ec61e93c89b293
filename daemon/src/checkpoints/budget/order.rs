//! The rank of the elements of an array that is not a conversation.

use serde_json::value::RawValue;

/// Words of a key whose array is a history, oldest first.
const HISTORY_WORDS: &[&str] = &[
    "history",
    "log",
    "logs",
    "event",
    "events",
    "step",
    "steps",
    "action",
    "actions",
    "turn",
    "turns",
    "journal",
    "timeline",
    "trace",
    "traces",
    "activity",
    "activities",
    "message",
    "messages",
    "transcript",
    "conversation",
    "chat",
    "dialog",
    "dialogue",
    "observations",
    "attempts",
    "iterations",
    "commands",
];

/// Keys of the time of an element.
const TIME_KEYS: &[&str] = &[
    "timestamp",
    "time",
    "ts",
    "date",
    "datetime",
    "at",
    "createdAt",
    "created_at",
    "@timestamp",
];

/// Number of elements whose times are compared.
const COMPARED_MAX: usize = 64;

/// Returns whether the elements are in the order of time.
pub(super) fn is_history(key: &str, elements: &[&RawValue]) -> bool {
    let words = crate::checkpoints::layers::split(key);
    words
        .iter()
        .any(|word| HISTORY_WORDS.contains(&word.as_str()))
        || has_ascending_times(elements)
}

fn has_ascending_times(elements: &[&RawValue]) -> bool {
    let stride = elements.len().div_ceil(COMPARED_MAX).max(1);
    let times: Option<Vec<String>> = elements
        .iter()
        .step_by(stride)
        .map(|element| time(element))
        .collect();
    let Some(times) = times.filter(|times| times.len() > 1) else {
        return false;
    };
    times.is_sorted_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a <= b,
        _ => a <= b,
    }) && times.first() != times.last()
}

fn time(element: &RawValue) -> Option<String> {
    let super::render::Members(members) = serde_json::from_str(element.get()).ok()?;
    let time = members
        .into_iter()
        .find(|(key, _)| TIME_KEYS.contains(&key.as_str()));
    time.map(|(_, value)| value.get().trim_matches('"').to_owned())
}

/// Ranks the elements of a history: the newest, the first, then back in time. Without the `first` one for logs.
pub(super) fn newest_first(count: usize, with_first: bool) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..count).rev().collect();
    if with_first && count > 2 {
        ranks.pop();
        ranks.insert(1, 0);
    }
    ranks
}

/// Ranks the elements of a list: the first, the last, then on from the first.
pub(super) fn head_first(count: usize) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..count).collect();
    if let Some(last) = ranks.pop() {
        ranks.insert(1.min(ranks.len()), last);
    }
    ranks
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn is_in_time(key: &str, json: &str) -> bool {
        let elements: Vec<&RawValue> = serde_json::from_str(json).unwrap();
        is_history(key, &elements)
    }

    #[test]
    fn a_history_is_known_by_its_key_or_its_times() {
        assert!(is_in_time("buildLog", "[1,2]"));
        assert!(is_in_time("actionHistory", "[]"));
        assert!(!is_in_time("catalog", "[1,2]"));
        assert!(is_in_time(
            "rows",
            r#"[{"ts":9,"a":1},{"ts":10},{"ts":11}]"#
        ));
        assert!(is_in_time(
            "rows",
            r#"[{"createdAt":"2026-01-01"},{"createdAt":"2026-01-02"}]"#
        ));
        assert!(!is_in_time("rows", r#"[{"ts":11},{"ts":10}]"#));
        assert!(!is_in_time("rows", r#"[{"ts":11},{"ts":11}]"#));
        assert!(!is_in_time("rows", r#"[{"a":1},{"a":2}]"#));
    }

    #[test]
    fn ranks() {
        assert_eq!(newest_first(4, true), [3, 0, 2, 1]);
        assert_eq!(newest_first(4, false), [3, 2, 1, 0]);
        assert_eq!(newest_first(2, true), [1, 0]);
        assert_eq!(head_first(4), [0, 3, 1, 2]);
        assert_eq!(head_first(1), [0]);
        assert_eq!(
            (head_first(0), newest_first(0, true)),
            (Vec::new(), Vec::new())
        );
    }
}
