//! Tests with responses of real and of broken servers.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn structured(value: Value) -> Answer {
    Answer {
        structured: Some(value),
        ..Answer::default()
    }
}

fn texts(texts: &[&str]) -> Answer {
    Answer {
        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        ..Answer::default()
    }
}

fn id_of(answer: &Answer, name: &str) -> Option<String> {
    answer
        .candidate(name, true)
        .expect("an answer")
        .and_then(|candidate| candidate.id)
}

/// One object is found, however it is wrapped.
#[test]
fn every_shape_is_read() {
    let object = json!({"id": 7, "name": "AMS1", "slug": "ams1", "site": null});
    let text = object.to_string();
    let answers = [
        structured(object.clone()),
        structured(json!([object])),
        structured(json!({"results": [object]})),
        structured(json!({"count": 1, "next": null, "results": [object]})),
        structured(json!({"data": object})),
        structured(json!({"result": [object]})),
        structured(json!({"result": text})),
        structured(json!({"result": json!({"results": [object]}).to_string()})),
        texts(&[&text]),
        texts(&[&json!([object]).to_string()]),
        texts(&[&json!({"id": 1, "name": "x"}).to_string(), &text]),
    ];
    for answer in answers {
        let found = answer.candidate("ams1", false).expect("an answer");
        let found = found.unwrap_or_else(|| panic!("{answer:?}"));
        assert_eq!(
            (found.name.as_str(), found.slug.as_deref()),
            ("AMS1", Some("ams1"))
        );
        assert_eq!(found.id.as_deref(), Some("7"));
        assert_eq!(
            serde_json::from_str::<Value>(&found.data).expect("JSON"),
            object
        );
        assert!(found.left_out.is_empty());
    }
}

/// Names in any case, displays, slugs and addresses match; a single object matches when one was requested.
#[test]
fn the_named_one_is_taken() {
    let answer = structured(json!([
        {"id": 1, "display": "Rack A"}, {"id": 2, "name": "rack a 2", "slug": "ra2"},
        {"id": "3", "address": "10.0.0.1/24"}, {"id": 4, "name": "10.0.0.2"},
    ]));
    assert_eq!(id_of(&answer, " RACK A "), Some("1".to_owned()));
    assert_eq!(id_of(&answer, "ra2"), Some("2".to_owned()));
    assert_eq!(id_of(&answer, "10.0.0.1"), Some("3".to_owned()));
    assert_eq!(id_of(&answer, "10.0.0.1/24"), Some("3".to_owned()));
    assert_eq!(id_of(&answer, "10.0.0.1/32"), None);
    assert_eq!(id_of(&answer, "rack"), None);

    let only = structured(json!([{"id": 9, "name": "other"}]));
    assert_eq!(id_of(&only, "asked"), Some("9".to_owned()));
    assert_eq!(only.candidate("asked", false), Ok(None));
    let nameless = structured(json!({"id": 9}));
    let found = nameless
        .candidate("asked", true)
        .expect("an answer")
        .expect("one");
    assert_eq!(found.name, "asked");
}

/// A "not found" response is not a failure.
#[test]
fn none_is_an_answer() {
    let answers = [
        structured(json!({"count": 0, "results": []})),
        structured(json!([])),
        structured(json!({})),
        structured(json!({"result": null})),
        structured(json!({"detail": "Not found."})),
        texts(&["No devices match the filter"]),
        texts(&["Device 'x' not found"]),
        texts(&["[]"]),
    ];
    for answer in answers {
        assert_eq!(answer.candidate("x", true), Ok(None), "{answer:?}");
    }
}

/// Errors and nonsense in any form are failures with an explanation.
#[test]
fn failures_say_what_came() {
    let mut deep = json!([]);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let answers = [
        (
            Answer {
                is_error: true,
                ..texts(&["boom\u{1b}"])
            },
            "an error: boom\\u{1b}",
        ),
        (
            Answer {
                is_error: true,
                ..Answer::default()
            },
            "without a word",
        ),
        (Answer::default(), "nothing at all"),
        (
            structured(json!({"error": "no permission"})),
            "an error: no permission",
        ),
        (structured(json!({"error": {"code": 5}})), "an error: {"),
        (structured(json!(7)), "answered 7"),
        (structured(json!({"foo": 1})), "without a name"),
        (structured(deep), "too deep"),
        (texts(&["Error: host not found"]), "an error: Error: host"),
        (texts(&["Here is your device!"]), "no JSON but \"Here"),
    ];
    for (answer, wanted) in answers {
        let said = answer.candidate("x", true).expect_err(wanted);
        assert!(said.contains(wanted), "{said}");
    }
}

/// An object that is too long loses its largest fields, which are reported.
#[test]
fn large_objects_lose_their_largest_fields() {
    let object = json!({"id": 1, "name": "x", "log": "l".repeat(90_000), "note": "kept"});
    let found = structured(object)
        .candidate("x", true)
        .expect("an answer")
        .expect("one");
    assert_eq!(found.left_out, ["log"]);
    assert_eq!(found.data, r#"{"id":1,"name":"x","note":"kept"}"#);
    let mut many: Map<String, Value> = (0..20_000).map(|n| (format!("k{n}"), json!("v"))).collect();
    many.insert("name".to_owned(), json!("x"));
    let found = structured(Value::Object(many))
        .candidate("x", true)
        .expect("an answer")
        .expect("one");
    assert!(found.data.len() <= DATA_BYTES_MAX, "{}", found.data.len());
}

proptest! {
    /// No text causes a panic, and results are bounded.
    #[test]
    fn any_text_is_read(text in "\\PC{0,80}|[\\[\\]{}\":,a-e0-9 ]{0,80}", name in "\\PC{0,8}") {
        if let Ok(Some(found)) = texts(&[&text]).candidate(&name, true) {
            prop_assert!(found.data.len() <= DATA_BYTES_MAX);
        }
    }
}
