//! Tests of the limits: payloads of any size and depth become small trees.

use serde_json::{Value, json};

use super::payload;
use crate::json::{
    CUTS_MAX, DEPTH_MAX, KEPT_BYTES_MAX, NODES_MAX, SyntaxError, TEXT_BYTES_MAX, elements, read,
};
use crate::{Host, OWN_MARKS, Observed};

/// Bytes of all texts of a tree, and its number of values.
fn size(value: &Value) -> (usize, usize) {
    let sum = |sizes: &mut dyn Iterator<Item = (usize, usize)>| {
        sizes.fold((0, 1), |(bytes, nodes), (b, n)| (bytes + b, nodes + n))
    };
    match value {
        Value::String(text) => (text.len(), 1),
        Value::Array(values) => sum(&mut values.iter().map(size)),
        Value::Object(fields) => sum(&mut fields.iter().map(|(name, value)| {
            let (bytes, nodes) = size(value);
            (bytes + name.len(), nodes)
        })),
        _ => (0, 1),
    }
}

#[test]
fn a_payload_of_64_mb_keeps_its_beginning_end_and_ids() {
    let mut value = payload(Host::ClaudeCode, "PostToolUse");
    let output = format!(
        "first line\n{}\nerror: the last line",
        "x\\\"\u{e9}\n".repeat(64 << 17)
    );
    value["tool_response"]["stdout"] = json!(output);
    let bytes = value.to_string().into_bytes();
    assert!(bytes.len() > 64 << 20);
    let event = crate::read(Host::ClaudeCode, "", &bytes, &OWN_MARKS);
    let made = &event.observations[0];
    assert!(
        made.key
            .as_str()
            .ends_with("outcome:toolu_1e6762f912fb4a38943d")
    );
    let Observed::ToolDone(_, end) = &made.what else {
        panic!()
    };
    assert!(end.text.starts_with("first line\n") && end.text.ends_with("\nerror: the last line"));
    assert!(end.text.contains(" bytes left out ...]") && !end.text.contains('\u{fffd}'));
    assert!(end.text.len() < TEXT_BYTES_MAX + 100);
    assert!(made.left_out > 60 << 20);
    assert_eq!(event.cuts.len(), 1);
    assert_eq!(event.cuts[0].pointer, "/tool_response/stdout");
    assert_eq!(event.cuts[0].bytes, made.left_out);
}

#[test]
fn many_long_texts_share_one_budget() {
    let part = "y".repeat(TEXT_BYTES_MAX / 2);
    let value = json!({"session_id": "s", "list": vec![part; 200], "tool_use_id": "t"});
    let document = read(value.to_string().as_bytes()).unwrap();
    let (bytes, _) = size(&document.value);
    assert!(bytes < KEPT_BYTES_MAX + TEXT_BYTES_MAX, "{bytes}");
    assert_eq!(document.value["tool_use_id"], "t");
    assert_eq!(document.cuts.len(), CUTS_MAX);
    assert!(document.left_out > 10 << 20);
}

#[test]
fn many_values_and_names_are_bounded() {
    let list = format!("{{\"a\":[{}1],\"id\":\"t\"}}", "1,".repeat(1_000_000));
    let document = read(list.as_bytes()).unwrap();
    assert!(size(&document.value).1 <= NODES_MAX + 3);
    assert_eq!(document.value["id"], "t");
    let mut fields = String::from("{");
    for at in 0..300_000 {
        fields.push_str(&format!("\"{at}{}\":1,", "n".repeat(40)));
    }
    fields.push_str("\"id\":\"t\"}");
    let document = read(fields.as_bytes()).unwrap();
    let (bytes, nodes) = size(&document.value);
    assert!(
        nodes <= 2 * NODES_MAX + 1 && bytes <= 2 * KEPT_BYTES_MAX + 300,
        "{bytes} {nodes}"
    );
}

#[test]
fn depth_is_cut_and_does_not_end_the_thread() {
    let deep = format!(
        "{{\"a\":{}{},\"id\":\"t\"}}",
        "[".repeat(3_000_000),
        "]".repeat(3_000_000)
    );
    let document = read(deep.as_bytes()).unwrap();
    assert_eq!(document.value["id"], "t");
    assert_eq!(document.cuts.len(), 1);
    assert_eq!(
        document.cuts[0].pointer.matches("/0").count(),
        DEPTH_MAX - 1
    );
    assert!(read("[".repeat(3_000_000).as_bytes()).is_err());
}

#[test]
fn strings_are_decoded_as_json_says() {
    let text = r#"{"a":"\u00e9\ud83d\ude00\n\t\"\\\/\b\f\r","b":"\ud83d","c":"\uZZZZ","d":"\x"}"#;
    let document = read(text.as_bytes()).unwrap();
    assert_eq!(document.value["a"], "é😀\n\t\"\\/\u{8}\u{c}\r");
    assert_eq!(document.value["b"], "\u{fffd}");
    for name in ["c", "d"] {
        assert!(document.value[name].as_str().unwrap().contains('\u{fffd}'));
    }
    let invalid = read(b"{\"a\":\"x\xffy\"}").unwrap();
    assert_eq!(invalid.value["a"], "x\u{fffd}y");
    let numbers =
        read(b"\xef\xbb\xbf [1, -2.5e3, 18446744073709551616, true, false, null] ").unwrap();
    assert_eq!(
        numbers.value.to_string(),
        "[1,-2.5e+3,18446744073709551616,true,false,null]"
    );
}

#[test]
fn what_is_not_json_says_where() {
    for (text, at) in [
        ("{\"a\" 1}", 5),
        ("[1 2]", 3),
        ("tru", 0),
        ("{\"a\":\"", 6),
        ("", 0),
        ("{} {}", 3),
    ] {
        assert_eq!(read(text.as_bytes()), Err(SyntaxError { at }), "{text}");
    }
}

#[test]
fn elements_of_a_list_are_found_without_reading_the_rest() {
    let text = br#" {"info": {"messages": [0]}, "messages": [ {"a": [1]} , "x,]" ,3], "z": 1}"#;
    let found: Vec<_> = elements(text, "messages")
        .into_iter()
        .map(|e| std::str::from_utf8(e).unwrap())
        .collect();
    assert_eq!(found, [r#"{"a": [1]}"#, r#""x,]""#, "3"]);
    assert!(elements(b"[1]", "messages").is_empty());
    assert_eq!(elements(br#"{"messages":[1,2,{"#, "messages").len(), 2);
}

#[test]
fn a_long_name_is_cut_and_reported() {
    let text = format!("{{\"{}\":1}}", "n".repeat(1_000));
    let document = read(text.as_bytes()).unwrap();
    let name = "n".repeat(256);
    assert_eq!(document.value[&name], 1);
    assert_eq!(
        (document.left_out, document.cuts[0].pointer.len()),
        (744, 257)
    );
}
