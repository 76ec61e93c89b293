//! The budgeted view of contexts of many shapes: it never exceeds its budget, and no shape takes long.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::tests::{agent_view, messages, prose};

/// Budgets in tokens.
const BUDGETS: [usize; 14] = [
    1, 2, 5, 12, 25, 60, 120, 250, 500, 1000, 2000, 5000, 20_000, 100_000,
];

fn talk(texts: &[String]) -> Value {
    let roles = ["user", "assistant"].into_iter().cycle();
    let messages = texts.iter().zip(roles);
    messages
        .map(|(text, role)| json!({"role": role, "content": text}))
        .collect()
}

fn shapes() -> Vec<(&'static str, Value)> {
    let letters = |letter: &str, count: usize| json!({"goal": "x", "notes": letter.repeat(count)});
    let base64: String = (0..60_000_u32)
        .map(|n| char::from(b'A' + (n.wrapping_mul(2_654_435_761) >> 24) as u8 % 26))
        .collect();
    let mut deep = json!(prose(50));
    for _ in 0..40 {
        deep = json!({ "in": [deep, 1] });
    }
    let rows: Vec<Value> = (0..400)
        .map(|n| json!({"id": n, "name": format!("row {n}"), "ok": true}))
        .collect();
    let short: Vec<String> = (0..300).map(|n| format!("short message {n}")).collect();
    let long: Vec<String> = (0..12).map(|n| format!("{n}: {}", prose(900))).collect();
    let keys = (0..300).map(|n| (format!("key{n}"), json!(n)));
    vec![
        ("equal letters", letters("a", 400_000)),
        ("equal capitals", letters("A", 400_000)),
        ("equal ideographs", letters("漢", 100_000)),
        ("equal dashes", letters("-", 400_000)),
        ("spaces", letters(" ", 400_000)),
        ("line ends", letters("\n", 100_000)),
        ("quotes", letters("\"", 100_000)),
        ("digits", letters("7", 100_000)),
        ("a long word", json!({ "image": base64 })),
        ("prose", json!({"goal": "x", "notes": prose(20_000)})),
        ("short messages", json!({ "messages": talk(&short) })),
        (
            "long messages",
            json!({"messages": talk(&long), "plan": prose(40)}),
        ),
        ("calls of tools", json!({ "messages": messages(&[60; 40]) })),
        ("rows", json!({"searchResults": rows, "task": "count them"})),
        ("many keys", Value::Object(keys.collect())),
        ("deep", json!({"tree": deep, "plan": "flatten"})),
        ("numbers", json!({"samples": (0..5000).collect::<Vec<_>>()})),
        (
            "a log",
            json!({"debugLog": prose(5000), "userGoal": "find it"}),
        ),
        (
            "empty values",
            json!({"a": {}, "b": [], "c": "", "d": null}),
        ),
    ]
}

/// Quadratic time would take minutes for the longest texts.
const TIME_MAX: Duration = Duration::from_secs(60);

#[test]
fn every_shape_fits_every_budget_in_time() {
    for (name, context) in shapes() {
        let start = Instant::now();
        let mut before = 0;
        for budget in BUDGETS {
            let (view, json) = agent_view(&context, &[], budget);
            assert!(json.is_object(), "{name}");
            let kept = json.to_string();
            assert!(
                budget < view.tokens_before || json == context,
                "{name}: {kept} fits {budget}"
            );
            if let Some(all) = context["messages"].as_array() {
                let now = super::tests::whole_messages(&json["messages"], all).len();
                assert!(
                    now >= before,
                    "{name}: {now} messages in {budget}, {before} in less"
                );
                before = now;
            }
        }
        assert!(start.elapsed() < TIME_MAX, "{name}: {:?}", start.elapsed());
    }
}
