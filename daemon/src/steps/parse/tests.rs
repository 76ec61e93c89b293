//! Shortened outputs of real servers, and the values that must be parsed from them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use proptest::prelude::*;
use serde_json::json;

/// Returns the value at a path, as [`ParsedResult::fields`] lists it.
fn field(parsed: &ParsedResult, path: &str) -> Option<Value> {
    parsed
        .fields()
        .find(|field| field.path == path)
        .map(|field| field.value)
}

fn paths(parsed: &ParsedResult) -> Vec<String> {
    parsed.fields().map(|field| field.path).collect()
}

#[test]
fn json_is_flattened_and_containers_are_readable_under_their_own_key() {
    let parsed = parse(r#"{"a":{"b":[{"c":1},{"c":null}]},"dcim.device":true,"e":""}"#);
    assert_eq!(
        paths(&parsed),
        [
            "a",
            "a.b",
            "a.b[0]",
            "a.b[0].c",
            "a.b[1]",
            "dcim.device",
            "e"
        ]
    );
    assert_eq!(field(&parsed, "a.b[0].c"), Some(json!(1)));
    assert_eq!(field(&parsed, "a.b"), Some(json!([{"c":1},{"c":null}])));
    assert_eq!(field(&parsed, "dcim.device"), Some(json!(true)));
    assert_eq!(
        field(&parsed, "e"),
        Some(json!("")),
        "an empty string is a value"
    );
    assert_eq!(field(&parsed, "a.b[1].c"), None, "null is not a value");
}

#[test]
fn numbers_keep_every_digit() {
    for digits in [
        "123456789012345678901234567890123456789",
        "1.10",
        "-0",
        "4.1e1",
        "0.30000000000000000000000000004",
    ] {
        let raw = format!(r#"{{"n":{digits}}}"#);
        let value = field(&parse(&raw), "n").unwrap();
        assert_eq!(value.to_string(), digits);
        assert_eq!(parse(&raw).data().unwrap().to_string(), raw);
    }
}

#[test]
fn an_mcp_result_is_unwrapped_and_structured_content_wins() {
    let parsed = parse(
        r#"{"content":[{"type":"text","text":"other"}],"structuredContent":{"id":7},"isError":false}"#,
    );
    assert_eq!(parsed.data(), Some(json!({"id":7})));
    assert_eq!(paths(&parsed), ["id"]);
    assert!(!parsed.is_error());
}

#[test]
fn structured_content_of_one_string_is_unwrapped_once_more() {
    let parsed = parse(
        r#"{"content":[],"structuredContent":{"result":"{\"total\": 2, \"results\": [{\"id\": 1}]}"}}"#,
    );
    assert_eq!(parsed.data(), Some(json!({"total":2,"results":[{"id":1}]})));
    assert_eq!(field(&parsed, "results[0].id"), Some(json!(1)));

    let lines = parse(r#"{"structuredContent":{"content":"Title: Handover\nStatus: open"}}"#);
    assert_eq!(field(&lines, "Title"), Some(json!("Handover")));
    assert_eq!(
        field(&lines, "content"),
        Some(json!("Title: Handover\nStatus: open"))
    );
    assert_eq!(
        lines.data(),
        Some(json!({"Title": "Handover", "Status": "open"}))
    );
}

#[test]
fn every_text_part_is_read_on_its_own() {
    let parsed = parse(
        r#"{"content":[{"type":"text","text":"{\"id\": 1}"},{"type":"image","data":"iVBORw0KGgo","mimeType":"image/png"},{"type":"text","text":"Owner: Zoë"}]}"#,
    );
    assert_eq!(parsed.data(), Some(json!([{"id":1}, {"Owner": "Zoë"}])));
    assert_eq!(paths(&parsed), ["id", "Owner"]);
    assert!(!parsed.nodes().flat().text().contains("iVBOR"));
}

#[test]
fn linked_and_embedded_resources_are_read() {
    let parsed = parse(
        r#"{"content":[{"type":"resource_link","uri":"file:///home/dev/a.txt","name":"a.txt"},{"type":"resource","resource":{"uri":"demo://7","text":"{\"id\": 7}"}}]}"#,
    );
    assert_eq!(field(&parsed, "name"), Some(json!("a.txt")));
    assert_eq!(field(&parsed, "id"), Some(json!(7)));
}

#[test]
fn a_string_leaf_that_is_json_is_added_and_the_string_stays() {
    let parsed = parse(r#"[{"payload":"{\"ip\": \"198.51.100.215\", \"tags\": [\"a\\nb\"]}"}]"#);
    assert_eq!(
        field(&parsed, "[0].payload.ip"),
        Some(json!("198.51.100.215"))
    );
    assert_eq!(field(&parsed, "[0].payload.tags[0]"), Some(json!("a\nb")));
    assert!(field(&parsed, "[0].payload").unwrap().is_string());
    assert_eq!(parsed.data().unwrap()[0].as_object().unwrap().len(), 1);
}

#[test]
fn json_lines_are_one_list() {
    let parsed = parse("{\"a\":1}\n\n{\"a\":2}\n");
    assert_eq!(parsed.data(), Some(json!([{"a":1},{"a":2}])));
    assert_eq!(parsed.documents()[0].blocks.len(), 2);
    assert_eq!(field(&parsed, "[1].a"), Some(json!(2)));
}

#[test]
fn a_python_literal_is_read_as_json() {
    let parsed = parse(
        r#"[{'id': 4001, 'name': "John O'Neill", 'vip': True, 'note': None, 'q': 'a\'b\u00e4'}]"#,
    );
    assert_eq!(
        parsed.data(),
        Some(json!([{"id":4001,"name":"John O'Neill","vip":true,"note":null,"q":"a'bä"}]))
    );
    let rows = parse(
        "[('INV-1', 70010, datetime.date(2025, 9, 2), datetime.datetime(2025, 9, 2, 3, 4, 24, tzinfo=datetime.timezone.utc), Decimal('21.50'), (34,), {1, 2})]",
    );
    assert_eq!(
        rows.data().unwrap().to_string(),
        r#"[["INV-1",70010,"2025-09-02","2025-09-02T03:04:24Z",21.50,[34],[1,2]]]"#
    );
}

#[test]
fn text_gives_its_lines_and_its_json() {
    let parsed = parse(
        "Status: open\nStatus: waiting\nRequest id: 9f0c\n\n```json\n{\n  \"id\": 5,\n  \"k\": \"v: w\"\n}\n```\nsee [1, 2] and a[0] and [x](y)\n",
    );
    assert_eq!(
        field(&parsed, "Status"),
        Some(json!("waiting")),
        "a later line wins"
    );
    assert_eq!(field(&parsed, "Request id"), Some(json!("9f0c")));
    assert_eq!(field(&parsed, "id"), Some(json!(5)));
    assert_eq!(parsed.documents()[0].blocks.len(), 2);
    assert_eq!(
        parsed.data(),
        Some(json!([
            {"id": 5, "k": "v: w"},
            [1, 2],
            {"Status": "waiting", "Request id": "9f0c"}
        ]))
    );
    let lines = parse("Created issue.\n- **key:** OPS-3\nURL: https://x.example/3");
    assert_eq!(
        lines.data(),
        Some(json!({"key": "OPS-3", "URL": "https://x.example/3"}))
    );
    let prose = parse("The answer is:\n{\"id\": 7}\nGood luck.");
    assert_eq!(prose.data(), Some(json!({"id": 7})));
    assert_eq!(parse("plain words").data(), None);
}

#[test]
fn json_behind_a_key_is_read_under_it() {
    let parsed = parse(r#"Echo: {"id": 1201, "title": "Renew, certificate"}"#);
    assert_eq!(field(&parsed, "Echo.id"), Some(json!(1201)));
    assert_eq!(field(&parsed, "id"), Some(json!(1201)));
    assert_eq!(
        field(&parsed, "Echo"),
        Some(json!(r#"{"id": 1201, "title": "Renew, certificate"}"#))
    );
}

#[test]
fn values_know_their_raw_offsets() {
    let raw = r#"{"content":[{"type":"text","text":"{\"a\":\"x\\ny\",\"b\": 77}"}]}"#;
    let parsed = parse(raw);
    let (_, b) = parsed
        .nodes()
        .iter()
        .find(|(id, _)| parsed.nodes().path(*id) == "b")
        .unwrap();
    let at = parsed.nodes().flat().raw_of(b.text.start) as usize;
    assert_eq!(&raw[at..at + 2], "77");
}

#[test]
fn success_is_inferred() {
    assert!(succeeded("anything", None));
    assert!(!succeeded("anything", Some("it broke")));
    assert!(!succeeded(r#"{"content":[],"isError":true}"#, None));
    assert!(succeeded(r#"{"content":[],"isError":false}"#, None));
    assert!(!succeeded(
        r#"{"error":{"code":-32603,"message":"404 Not Found"}}"#,
        None
    ));
    assert!(!succeeded(
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#,
        None
    ));
    assert!(succeeded(r#"{"error":"none"}"#, None));
    assert!(succeeded(
        r#"{"data":{"error":{"code":1,"message":"x"}}}"#,
        None
    ));
    for raw in [
        r#"{"content":[],"isError":true}"#,
        r#"{"error":{"code":-32603,"message":"x"}}"#,
        "[1]",
        "{",
    ] {
        assert_eq!(succeeded(raw, None), !parse(raw).is_error(), "{raw}");
    }
}

#[test]
fn data_with_a_content_of_its_own_is_left_alone() {
    let parsed = parse(r#"{"id":"msg_1","content":[{"type":"text","text":"hi"}]}"#);
    assert_eq!(field(&parsed, "id"), Some(json!("msg_1")));
    let rpc = parse(r#"{"jsonrpc":"2.0","id":3,"result":{"structuredContent":{"id":9}}}"#);
    assert_eq!(rpc.data(), Some(json!({"id":9})));
}

#[test]
fn depth_bombs_and_half_json_end_soon() {
    for raw in [
        "[".repeat(20_000),
        "{\"a\":".repeat(10_000),
        "[\"".repeat(10_000),
        "[1,".repeat(10_000),
    ] {
        let parsed = parse(&raw);
        assert!(parsed.documents().len() == 1);
    }
    let deep = format!("{}1{}", "[".repeat(128), "]".repeat(128));
    assert!(parse(&deep).data().is_some());
    let deeper = format!("[{deep}]");
    assert!(parse(&deeper).documents()[0].json.is_none());
}

#[test]
fn empty_and_bare_values() {
    assert_eq!(parse("").data(), None);
    assert_eq!(parse(" 43335\n").data(), Some(json!(43335)));
    assert_eq!(parse("null").data(), Some(json!(null)));
    assert_eq!(parse("not json").data(), None);
    assert_eq!(parse("1 2").data(), None);
    assert_eq!(parse(r#"{"a": NaN}"#).data(), Some(json!({"a":null})));
    assert_eq!(
        parse(r#""\ud83d\ude00 \ud800""#).data(),
        Some(json!("😀 \u{fffd}"))
    );
}

/// JSON values of every shape.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map("[a-z.\\[ ]{0,6}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// No text makes the parser panic, and every value is within the raw text.
    #[test]
    fn any_text_is_read(raw in any::<String>()) {
        let parsed = parse(&raw);
        for (id, node) in parsed.nodes().iter() {
            prop_assert!(parsed.nodes().flat().raw_of(node.text.start) as usize <= raw.len());
            prop_assert!(node.end > id);
        }
        prop_assert_eq!(parsed.fields().count(), parsed.fields().count());
    }

    /// Text composed of the tokens that the parsers look for.
    #[test]
    fn any_broken_json_is_read(raw in "([\\[\\]{}:,'\"\\\\ntu0-9.e -]|true|None|\\\\u|date\\(|key: ){0,60}") {
        let parsed = parse(&raw);
        prop_assert!(parsed.nodes().len() <= 1000);
    }

    /// The parser agrees with serde_json on JSON.
    #[test]
    fn json_is_read_as_serde_reads_it(value in any_json(), pretty in any::<bool>()) {
        let raw = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        prop_assume!(!value.is_object() || value.get("content").is_none());
        prop_assert_eq!(parse(&raw.unwrap()).data(), Some(value));
    }

    /// An MCP envelope does not change the fields of a text.
    #[test]
    fn wrapping_changes_no_field(value in any_json()) {
        let plain = value.to_string();
        let wrapped = json!({"content": [{"type": "text", "text": plain}]}).to_string();
        prop_assert_eq!(parse(&wrapped).fields().collect::<Vec<_>>(), parse(&plain).fields().collect::<Vec<_>>());
    }
}

/// Texts that begin a value or a table again and again are read in linear time: this test would not end otherwise.
#[test]
fn texts_that_only_begin_values_and_tables_are_read_once() {
    for piece in [
        "{'a': ",
        "{'a': [",
        "['a', {'b': None, ",
        "| a | b |\n",
        "| a | b |\n|---|---|\n",
        "A  B\n\n",
        "a,b\n\"",
        "commit 4be19a07cc\n",
        "[x 4be19a07cc] {'",
    ] {
        let text = piece.repeat(40_000);
        assert!(!parse(&text).overflowed(), "{piece}");
    }
}

/// A line that introduces a block is no second value beside it; its name still has the text.
#[test]
fn a_line_before_a_block_is_no_value_of_its_own() {
    let parsed = parse("Created the ticket: {\"id\": 7}\nDone.");
    assert_eq!(parsed.data(), Some(json!({"id": 7})));
    let parsed = parse("Result: [\n  {\"id\": 7}\n]\nOwner: Ana\n");
    assert_eq!(parsed.data(), Some(json!([[{"id": 7}], {"Owner": "Ana"}])));
    let parsed = parse("Note: [see below]\n");
    assert_eq!(parsed.data(), Some(json!({"Note": "[see below]"})));
}
