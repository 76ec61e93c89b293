//! Values within a number of tokens.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::*;

static TOKENS: LazyLock<Tokens> = LazyLock::new(Tokens::default);

const ORIGIN: MarkerOrigin<'_> = MarkerOrigin {
    key: "notes",
    checkpoint: "C1",
};

fn rendered(
    json: &str,
    key: &str,
    is_log: bool,
    allowed: f64,
) -> Option<(String, TruncationAction)> {
    let rendered = render(
        json,
        allowed,
        Surroundings { key, is_log },
        Some(&ORIGIN),
        &ConversationFinder::default(),
        &TOKENS,
    )?;
    assert!(
        TOKENS.count(&rendered.json) as f64 <= allowed,
        "{}",
        rendered.json
    );
    Some((rendered.json, rendered.done))
}

fn within(value: &Value, allowed: f64) -> Value {
    let (json, _) = rendered(&value.to_string(), "notes", false, allowed).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn prose(words: usize) -> String {
    let words = (0..words).map(|n| format!("word{n}"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_long_text_keeps_its_ends_and_a_log_its_newest_lines() {
    let text = Value::from(prose(3000)).to_string();
    let (json, done) = rendered(&text, "notes", false, 200.0).unwrap();
    assert_eq!(done, TruncationAction::Strings);
    assert!(
        json.starts_with("\"word0 word1 ") && json.ends_with("word2999\""),
        "{json}"
    );
    assert!(json.contains(" characters left out; load key \\\"notes\\\" of checkpoint C1]…"));
    let lines: Vec<String> = (0..500)
        .map(|n| format!("12:00:{n} request {n} served"))
        .collect();
    let log = Value::from(lines.join("\n")).to_string();
    let (json, _) = rendered(&log, "debugLog", true, 200.0).unwrap();
    let kept: String = serde_json::from_str(&json).unwrap();
    let (marker, tail) = kept.split_once("]…").unwrap();
    assert!(marker.starts_with("…["), "{kept}");
    assert!(
        log.ends_with(&format!("{}\"", tail.replace('\n', "\\n"))),
        "{kept}"
    );
    assert!(
        lines.contains(&tail.lines().next().unwrap().to_owned()),
        "whole lines: {kept}"
    );
}

#[test]
fn white_space_goes_before_words() {
    let text = Value::from("some    words\n\n\n\n".repeat(40)).to_string();
    let whole = TOKENS.count(&text) as f64;
    let (json, done) = rendered(&text, "notes", false, whole * 0.8).unwrap();
    assert_eq!(done, TruncationAction::Whitespace);
    assert!(!json.contains("    ") && !json.contains('…'));
}

#[test]
fn an_array_keeps_whole_elements_by_rank() {
    let rows: Vec<Value> = (0..100)
        .map(|n| json!({"n": n, "text": prose(10)}))
        .collect();
    let rows = Value::from(rows);
    let kept = within(&rows, 300.0);
    let kept = kept.as_array().unwrap();
    assert_eq!(kept[0], rows[0], "the first");
    assert_eq!(kept.last().unwrap(), &rows[99], "the last");
    let marker = kept[kept.len() - 2].as_str().unwrap();
    assert!(
        marker.contains(&format!("{} of 100 elements", 101 - kept.len())),
        "{marker}"
    );
    assert_eq!(kept[1], rows[1]);
    let (json, _) = rendered(&rows.to_string(), "actionHistory", false, 300.0).unwrap();
    let kept: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert_eq!((&kept[0], kept.last().unwrap()), (&rows[0], &rows[99]));
    assert_eq!(
        kept[kept.len() - 2],
        rows[98],
        "a history is kept from its end"
    );
    let (json, _) = rendered(&rows.to_string(), "log", true, 300.0).unwrap();
    let kept: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert!(
        kept[0].as_str().unwrap().starts_with("…["),
        "only the newest of a log"
    );
}

#[test]
fn one_large_part_gets_what_the_small_ones_leave() {
    let value = json!({"id": 7, "state": "open", "body": prose(2000), "tags": ["a", "b"]});
    let kept = within(&value, 400.0);
    assert_eq!(
        (&kept["id"], &kept["state"], &kept["tags"]),
        (&value["id"], &value["state"], &value["tags"])
    );
    assert!(TOKENS.count(&kept.to_string()) > 370, "{kept}");
}

#[test]
fn a_map_keeps_whole_members() {
    let files = (0..60).map(|n| (format!("src/file{n}.rs"), Value::from(prose(20 + n))));
    let files = Value::Object(files.collect());
    let (json, done) = rendered(&files.to_string(), "files", false, 500.0).unwrap();
    assert_eq!(done, TruncationAction::Members);
    let kept: serde_json::Map<String, Value> = serde_json::from_str(&json).unwrap();
    let whole = kept
        .iter()
        .filter(|(key, value)| files.get(*key) == Some(*value))
        .count();
    assert_eq!(whole, kept.len() - 1, "all but the marker");
    assert!(whole > 3, "{json}");
    let marker = kept["…"].as_str().unwrap();
    assert!(
        marker.contains(&format!("{} of 60 members left out", 60 - whole)),
        "{marker}"
    );
}

#[test]
fn what_cannot_be_shortened_is_left_out() {
    let deep = "[".repeat(500) + &"]".repeat(500);
    assert_eq!(rendered(&deep, "notes", false, 50.0), None);
    assert_eq!(
        rendered(&"1234567890".repeat(50), "notes", false, 20.0),
        None
    );
    assert_eq!(rendered("\"\\ud800 \"", "notes", false, 1.0), None);
    assert_eq!(rendered("[1,2,3]", "notes", false, 2.0), None);
}

/// A deep value is shortened in a bounded number of looks at what is within it, whether or not anything of it fits.
#[test]
fn deep_values_are_shortened_once_per_level() {
    let wide: Vec<Value> = (0..200)
        .map(|n| json!({"id": n, "name": format!("n{n}")}))
        .collect();
    let deep = |levels: usize| {
        format!(
            "{}{}{}",
            "{\"a\":".repeat(levels),
            json!(wide),
            "}".repeat(levels)
        )
    };
    let (json, _) = rendered(&deep(20), "notes", false, 600.0).unwrap();
    assert!(json.contains("{\"id\":0,"), "{json}");
    for (levels, room) in [(20, 90.0), (100, 200.0), (100, 1500.0)] {
        assert_eq!(
            rendered(&deep(levels), "notes", false, room),
            None,
            "{levels}"
        );
    }
}
