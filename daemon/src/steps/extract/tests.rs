//! Values extracted from whole results, with their order and offsets.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::steps::parse::parse;
use proptest::prelude::*;
use serde_json::json;

fn found(raw: &str, name: &str) -> Vec<Value> {
    found_by(&ExtractorSet::default(), raw, name)
}

fn found_by(set: &ExtractorSet, raw: &str, name: &str) -> Vec<Value> {
    let parsed = parse(raw);
    extract(&parsed, set)
        .of(name)
        .iter()
        .map(|value| value.value(&parsed))
        .collect()
}

#[test]
fn ids_of_fields_come_before_those_of_texts() {
    let raw = r#"{"note": "see 70010, PR 57 and 550e8400-e29b-41d4-a716-446655440000", "userId": "u-1", "id": 12345, "author_id": 9, "again": 12345, "total": 4200}"#;
    assert_eq!(
        found(raw, "id"),
        [
            json!("u-1"),
            json!(12345),
            json!(9),
            json!("70010"),
            json!("57"),
            json!("550e8400-e29b-41d4-a716-446655440000"),
            json!("4200")
        ]
    );
}

#[test]
fn the_examples_of_each_type_are_found() {
    let ids = "order 12345 of 550e8400-e29b-41d4-a716-446655440000";
    let dates = "2025-01-15 and 2025-01-15T10:30:00Z";
    let urls = "https://example.com http://api.example.com/data";
    let emails = "user@example.com, admin@company.org";
    for (raw, name, values) in [
        (
            ids,
            "id",
            r#"["12345","550e8400-e29b-41d4-a716-446655440000"]"#,
        ),
        (dates, "date", r#"["2025-01-15","2025-01-15T10:30:00Z"]"#),
        ("42, 3.14 or 1000", "number", "[42,3.14,1000]"),
        (
            r#"a {"id": 123} b [1, 2, 3]"#,
            "json",
            r#"[{"id":123},[1,2,3]]"#,
        ),
        (
            urls,
            "url",
            r#"["https://example.com","http://api.example.com/data"]"#,
        ),
        (
            emails,
            "email",
            r#"["user@example.com","admin@company.org"]"#,
        ),
    ] {
        assert_eq!(Value::Array(found(raw, name)).to_string(), values, "{name}");
    }
}

#[test]
fn a_taken_span_is_not_mined_again() {
    let raw = "550e8400-1234-4444-a716-446655440000 2025-01-15T10:30:00Z https://x.example/orders/70010 u12345@example.com 8888@example.com";
    assert_eq!(
        found(raw, "id"),
        [json!("550e8400-1234-4444-a716-446655440000")]
    );
    assert!(found(raw, "number").is_empty());
}

#[test]
fn compact_json_lists_are_not_digit_grouping() {
    assert_eq!(
        found("[100,200,300]", "number"),
        [json!(100), json!(200), json!(300)]
    );
    assert_eq!(
        found(r#"{"text":"about 1,200 s"}"#, "number"),
        [json!(1200)]
    );
}

#[test]
fn escapes_are_taken_off_before_the_search() {
    let raw = r#"{"content":[{"type":"text","text":"a\nzoe@example.com\thttps://x.example/?a=1\u0026b=2\n70010"}]}"#;
    assert_eq!(found(raw, "email"), [json!("zoe@example.com")]);
    assert_eq!(found(raw, "url"), [json!("https://x.example/?a=1&b=2")]);
    assert_eq!(found(raw, "id"), [json!("70010")]);
    let parsed = parse(raw);
    let extracted = extract(&parsed, &ExtractorSet::default());
    let at = extracted.of("email")[0].offset as usize;
    assert!(raw[at..].starts_with("zoe@example.com"));
    let at = extracted.of("id")[0].offset as usize;
    assert!(raw[at..].starts_with("70010\""));
}

#[test]
fn pictures_are_not_searched() {
    let data = "1234/5678+".repeat(60);
    let raw = json!({"structuredContent": {"items": [{"type": "image", "data": data}], "n": 4321}})
        .to_string();
    assert_eq!(found(&raw, "id"), [json!("4321")]);
}

#[test]
fn registered_extractors_find_by_pattern_and_by_field() {
    let ticket = Extractor {
        name: "ticket".into(),
        pattern: Some(r"\b(?:INC|CHG-)(\d+)".into()),
        group: None,
        fields: vec!["ticketNo".into()],
    };
    let set = ExtractorSet::new(std::slice::from_ref(&ticket), &[]).unwrap();
    let raw = r#"{"text": "INC0048213, CHG-20418, INC0048213", "ticket_no": 7}"#;
    assert_eq!(
        found_by(&set, raw, "ticket"),
        [json!(7), json!("0048213"), json!("20418")]
    );
    let whole = ExtractorSet::new(
        &[Extractor {
            group: Some(0),
            ..ticket
        }],
        &[],
    )
    .unwrap();
    assert_eq!(
        found_by(&whole, raw, "ticket"),
        [json!(7), json!("INC0048213"), json!("CHG-20418")]
    );
}

#[test]
fn a_large_result_is_searched_from_its_first_bytes_and_says_so() {
    let mut raw = "padding ".repeat(MINED_BYTES_MAX / 8);
    raw.push_str("99999");
    let parsed = parse(&raw);
    let extracted = extract(&parsed, &ExtractorSet::default());
    // The last blank before the limit.
    assert_eq!(extracted.searched_bytes, Some(MINED_BYTES_MAX as u64 - 1));
    assert!(extracted.of("id").is_empty());
    assert_eq!(
        extract(&parse("99999"), &ExtractorSet::default()).searched_bytes,
        None
    );
}

/// The end of the searched text gives way to a value: what is found is whole.
#[test]
fn no_value_is_cut_in_two() {
    let url = "https://example.com/a/rather/long/path?with=query";
    // Not base64: a file is not searched.
    let filler = "x.".repeat((MINED_BYTES_MAX - 80) / 2);
    let raw = format!(r#"{{"first":"https://example.com/1","f":"{filler}","url":"{url}","n":1}}"#);
    let parsed = parse(&raw);
    let extracted = extract(&parsed, &ExtractorSet::default());
    let urls = extracted.of("url").iter();
    let urls: Vec<Value> = urls.map(|found| found.value(&parsed)).collect();
    assert_eq!(urls, [json!("https://example.com/1")]);
    assert!(extracted.searched_bytes.is_some());
}

#[test]
fn a_value_is_checked_against_a_type() {
    let set = ExtractorSet::default();
    let find = |of, text| find_in(&set, of, text);
    assert_eq!(
        find(Type::Url, "https://x.example/a."),
        Some((ValueForm::Text("https://x.example/a".into()), true))
    );
    assert_eq!(
        find(Type::Email, "Zoë <zoe@example.com>"),
        Some((ValueForm::Text("zoe@example.com".into()), false))
    );
    assert_eq!(
        find(Type::Number, "1,200"),
        Some((ValueForm::Number("1200".into()), true))
    );
    assert_eq!(
        find(Type::Id, "#57"),
        Some((ValueForm::Text("57".into()), true))
    );
    assert_eq!(find(Type::Url, "12345"), None);
}

#[test]
fn many_pictures_cost_no_more_than_their_length() {
    let picture = "A".repeat(300);
    let raw =
        json!({"structuredContent": {"pictures": vec![picture; 3_000], "id": 4321}}).to_string();
    assert_eq!(found(&raw, "id"), [json!(4321)]);
}

proptest! {
    /// Extraction is a function of the result: a repetition gives equal bytes, and offsets are within the raw text.
    #[test]
    fn extraction_twice_gives_equal_bytes(raw in "([a-z]{1,4}|[0-9]{1,6}|[-/.:,@#\"'{}\\[\\] \n]|https://|é|2025-01-1){0,40}") {
        let set = ExtractorSet::default();
        let first = extract(&parse(&raw), &set);
        let second = extract(&parse(&raw), &set);
        prop_assert_eq!(serde_json::to_vec(&first).unwrap(), serde_json::to_vec(&second).unwrap());
        for found in &first.types {
            for value in &found.values {
                prop_assert!((value.offset as usize) < raw.len());
                if let ValueForm::Text(text) = &value.form {
                    prop_assert!(raw.get(value.offset as usize..).is_some_and(|rest| rest.starts_with(text.as_str())));
                }
            }
        }
    }

    /// No text makes a finder panic.
    #[test]
    fn any_text_is_searched(raw in any::<String>()) {
        let extracted = extract(&parse(&raw), &ExtractorSet::default());
        prop_assert_eq!(extracted.types.len(), BUILT_IN.len());
    }
}
