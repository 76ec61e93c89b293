//! Tests: one canonical text for all spellings of an object, and texts without a canonical form.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn text(json: &str) -> String {
    Canonical::of(json).unwrap().text
}

fn refused(json: &str) -> String {
    Canonical::of(json).unwrap_err().to_string()
}

#[test]
fn keys_are_in_the_order_of_their_utf16() {
    // RFC 8785, section 3.2.3.
    let sorted = text(
        r#"{
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"
        }"#,
    );
    let expected = [
        (r"\r", "Carriage Return"),
        ("1", "One"),
        ("\u{80}", "Control"),
        ("ö", "Latin Small Letter O With Diaeresis"),
        ("€", "Euro Sign"),
        ("😀", "Emoji: Grinning Face"),
        ("\u{fb33}", "Hebrew Letter Dalet With Dagesh"),
    ];
    let expected = expected.map(|(key, value)| format!(r#""{key}":"{value}""#));
    assert_eq!(sorted, format!("{{{}}}", expected.join(",")));
}

#[test]
fn strings_are_escaped_as_little_as_can_be_and_numbers_stay() {
    // RFC 8785, section 3.2.2, except that it would round the numbers.
    let json = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50,
                    2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
        }"#;
    let expected = concat!(
        r#"{"literals":[null,true,false],"#,
        r#""numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"#,
        r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
    assert_eq!(text(json), expected);
    for (written, canonical) in [
        (r"\b\t\n\f\r", r"\b\t\n\f\r"),
        (r"\u0008\u0009\u000A\u000C\u000D", r"\b\t\n\f\r"),
        (r"\u0000\u001F\u007f", "\\u0000\\u001f\u{7f}"),
        (r"\u2028\u2029\uFFFF", "\u{2028}\u{2029}\u{ffff}"),
        (r"\uD834\uDd1e\/", "𝄞/"),
        (r"\uDBFF\uDFFF", "\u{10ffff}"),
    ] {
        let json = format!(r#"{{"a":"{written}"}}"#);
        assert_eq!(text(&json), format!(r#"{{"a":"{canonical}"}}"#));
    }
}

#[test]
fn numbers_stay_as_they_are_written_or_are_refused() {
    for number in [
        "0",
        "-0",
        "-0.0",
        "1E400",
        "1e-400",
        "0e0",
        "0.1e+09",
        "12345678901234567890123456789",
        "1.00000000000000000000000000000000001",
    ] {
        let json = format!(r#"{{"a":{number},"b":[{number}]}}"#);
        assert_eq!(text(&json), json);
    }
    for number in [
        "01", "+1", ".5", "1.", "1e", "1e+", "-", "--1", "-01", "1.e1", "1.2.3", "1e1.5", "1-1",
        "00", "-.5", "1ee1", "0.", ".", "+", "1e+-1",
    ] {
        let message = refused(&format!(r#"{{"a": {number} }}"#));
        let start = format!("invalid JSON: `{number}` at byte 6 (line 1) is not a number");
        assert!(message.starts_with(&start), "{message}");
    }
}

#[test]
fn entries_are_the_top_level_keys_and_where_they_are() {
    let canonical = Canonical::of(r#" {"\u0062":{"y":1, "x":[ ]}, "a\/\n\"":null } "#).unwrap();
    assert_eq!(canonical.text, r#"{"a/\n\"":null,"b":{"x":[],"y":1}}"#);
    let entries: Vec<_> = canonical
        .entries
        .iter()
        .map(|entry| {
            let part = |range: &Range<usize>| &canonical.text[range.clone()];
            (&*entry.key, part(&entry.member), part(&entry.value))
        })
        .collect();
    let b = r#"{"x":[],"y":1}"#;
    assert_eq!(
        entries,
        [
            ("a/\n\"", r#""a/\n\"":null"#, "null"),
            ("b", r#""b":{"x":[],"y":1}"#, b)
        ]
    );
    assert_eq!(canonical.value("b"), Some(b));
    assert_eq!(canonical.value("c"), None);
    assert_eq!(Canonical::of("{}").unwrap().entries, []);
}

#[test]
fn members_are_brought_into_order_at_every_depth() {
    let json = r#"{"b":[{"d":{"f":1,"e":{"a":1}},"c":[{"b":1,"a":2},{"a":3}]},{"k":0,"j":{"b":0,"a":0}}],"a":{"x":{"z":1,"y":2}}}"#;
    let expected = r#"{"a":{"x":{"y":2,"z":1}},"b":[{"c":[{"a":2,"b":1},{"a":3}],"d":{"e":{"a":1},"f":1}},{"j":{"a":0,"b":0},"k":0}]}"#;
    assert_eq!(text(json), expected);
}

#[test]
fn equal_keys_are_refused_whatever_they_are_written_like() {
    for (json, key, object, byte) in [
        (r#"{"a":1,"a":1}"#, "a", "", 7),
        (r#"{"a":1,"\u0061":2}"#, "a", "", 7),
        (r#"{"a":1,"c":1,"b":1,"a":1}"#, "a", "", 19),
        (r#"{"":1,"":2}"#, "", "", 6),
        (r#"{"a":[0,{"b/~":{"/":1,"\/":2}}]}"#, "/", "/a/1/b~1~0", 22),
        (r#"{"b":{"z":{"b":1,"a":1,"b":1}}}"#, "b", "/b/z", 23),
    ] {
        let expected = format!(
            "the key {key:?} is twice in the object at JSON Pointer {object:?}, again at byte {byte} \
             (line 1); keep one of them"
        );
        assert_eq!(refused(json), expected);
    }
    assert_eq!(
        refused("{\"a\":1,\n\"a\":2}"),
        r#"the key "a" is twice in the object at JSON Pointer "", again at byte 8 (line 2); keep one of them"#
    );
    let long = "k".repeat(5000);
    let message = refused(&format!(r#"{{"{long}":1,"{long}":2}}"#));
    assert!(message.len() < 400 && message.contains("kk…"), "{message}");
}

#[test]
fn half_surrogates_are_refused() {
    for (string, byte, unit) in [
        (r"\uD800", 6, 0xd800),
        (r"ab\udfff", 8, 0xdfff),
        (r"\uD800\n", 6, 0xd800),
        (r"\uD834x\uDD1E", 6, 0xd834),
        (r"\uD834\uD834\uDD1E", 6, 0xd834),
        (r"\uDD1E\uD834", 6, 0xdd1e),
        (r"\uD834\u0041", 6, 0xd834),
    ] {
        let expected = format!(
            "invalid JSON: \\u{unit:04x} at byte {byte} (line 1) is half of a surrogate pair, the other \
             half is missing"
        );
        assert_eq!(refused(&format!(r#"{{"a":"{string}"}}"#)), expected);
    }
}

#[test]
fn what_is_no_json_object_is_refused_with_its_place() {
    for (json, byte, says) in [
        ("", 0, "is the end of the text, where `{` should be"),
        (" [1]", 1, "is '[', where `{` should be"),
        ("\u{feff}{}", 0, "is '\\u{feff}', where `{` should be"),
        (
            "{",
            1,
            "is the end of the text, where a key in quotes should be",
        ),
        ("{} {}", 3, "is '{', behind the end of the object"),
        (r#"{"a"}"#, 4, "is '}', where `:` should be"),
        (r#"{"a":}"#, 5, "is '}', where a value should be"),
        (r#"{"a":1,}"#, 7, "is '}', where a key in quotes should be"),
        (r#"{"a":1 "b":2}"#, 7, "is '\"', where `,` or `}` should be"),
        (r#"{"a":[1,]}"#, 8, "is ']', where a value should be"),
        (r#"{"a":[1 é]}"#, 8, "is 'é', where `,` or `]` should be"),
        (
            r#"{"a":[1"#,
            7,
            "is the end of the text, where `,` or `]` should be",
        ),
        (r#"{"a":nul}"#, 5, "is 'n', where a value should be"),
        (r#"{"a":nulls}"#, 9, "is 's', where `,` or `}` should be"),
        (r#"{"a":NaN}"#, 5, "is 'N', where a value should be"),
        ("{a:1}", 1, "is 'a', where a key in quotes should be"),
        ("{'a':1}", 1, "is '\\'', where a key in quotes should be"),
        (r#"{"a":"b}"#, 5, "has no closing quote"),
        (r#"{"a":"b\"#, 7, "; there are"),
        (r#"{"a":"\x"}"#, 6, "; there are"),
        (r#"{"a":"\u12"}"#, 6, "; there are"),
        (r#"{"a":"\u+123"}"#, 6, "; there are"),
        (r#"{"a":"\u12é4"}"#, 6, "; there are"),
        (r#"{"a":"\ud834\u12"}"#, 12, "; there are"),
        ("{\"a\":\"x\ty\"}", 7, "in a string; write it as \\u0009"),
        ("{\"a\":\"\\n\0\"}", 8, "in a string; write it as \\u0000"),
        (r#"{"a":01}"#, 5, "is not a number"),
    ] {
        let message = refused(json);
        let kind = match says {
            "; there are" => "invalid JSON: no such escape",
            _ if says.ends_with("`{` should be") => "not a JSON object:",
            _ => "invalid JSON: ",
        };
        assert!(message.starts_with(kind), "{json}: {message}");
        let place = format!("at byte {byte} (line 1)");
        let (_, behind) = message.split_once(&place).unwrap();
        assert!(behind.trim_start().starts_with(says), "{json}: {message}");
    }
    assert!(refused("{}\n\n]").contains("at byte 4 (line 3) is ']', behind the end"));
    let message = Canonical::of_bytes(b"{\"a\":\n\"\xff\"}")
        .unwrap_err()
        .to_string();
    assert_eq!(message, "not UTF-8 at byte 7 (line 2)");
}

#[test]
fn nesting_ends_at_its_limit() {
    let arrays = |depth: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| {
        let inner = r#"{"b":0,"a":"#.repeat(depth);
        format!("{inner}1{}", "}".repeat(depth))
    };
    assert_eq!(text(&arrays(DEPTH_MAX - 1)), arrays(DEPTH_MAX - 1));
    let too_deep =
        "the array or object at byte 132 (line 1) is nested deeper than 128; make it flatter";
    assert_eq!(refused(&arrays(DEPTH_MAX)), too_deep);
    let sorted = r#"{"a":"#.repeat(DEPTH_MAX) + "1" + &r#","b":0}"#.repeat(DEPTH_MAX);
    assert_eq!(text(&objects(DEPTH_MAX)), sorted);
    for json in [objects(DEPTH_MAX + 1), arrays(1_000_000)] {
        assert!(refused(&json).contains("is nested deeper than 128"));
    }
}

#[test]
fn a_change_in_the_last_digit_is_a_change() {
    let with = |number: &str| text(&format!(r#"{{"a":{{"b":[0,{{"c":{number}}}]}}}}"#));
    assert_ne!(with("0.12345678901234567"), with("0.12345678901234568"));
    assert_ne!(with("1.0"), with("1"));
    assert_ne!(with("9007199254740992"), with("9007199254740993"));
}

/// A value that is written in many ways.
#[derive(Clone, Debug)]
enum Json {
    Scalar(String),
    String(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

fn keys() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]{0,2}",
        "[\\x00-\\x22\\\\/~a]{0,3}",
        "[\u{e000}-\u{ffff}😀𝄞\u{d7ff}é]{0,3}",
        any::<String>(),
    ]
}

fn members(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Json> {
    proptest::collection::btree_map(keys(), value, 0..8).prop_map(Json::Object)
}

fn objects() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        "null|true|false".prop_map(Json::Scalar),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,5})?".prop_map(Json::Scalar),
        keys().prop_map(Json::String),
    ];
    let value = scalar.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            members(inner),
        ]
    });
    members(value)
}

/// Writes values with white space, escapes and a key order that depend on a seed.
struct Writer(u64);

impl Writer {
    fn random(&mut self, below: u64) -> u64 {
        // Knuth's MMIX generator; its high bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn blank(&mut self) -> &'static str {
        ["", "", "", " ", "\n\t", " \r\n "][self.random(6) as usize]
    }

    fn write(&mut self, json: &Json) -> String {
        let written = match json {
            Json::Scalar(scalar) => scalar.clone(),
            Json::String(string) => self.string(string),
            Json::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| self.write(item)).collect();
                let blank = self.blank();
                format!("[{blank}{}]", items.join(","))
            }
            Json::Object(members) => {
                let mut written: Vec<String> = Vec::new();
                for (key, value) in members {
                    let member = [self.string(key), self.blank().into(), self.write(value)];
                    let place = self.random(written.len() as u64 + 1) as usize;
                    let [key, blank, value] = member;
                    written.insert(place, format!("{key}{blank}:{value}"));
                }
                let blank = self.blank();
                format!("{{{blank}{}}}", written.join(&format!(",{blank}")))
            }
        };
        format!("{}{written}{}", self.blank(), self.blank())
    }

    fn string(&mut self, string: &str) -> String {
        let mut out = String::from('"');
        for character in string.chars() {
            let must_be_escaped = character < ' ' || character == '"' || character == '\\';
            match (character, self.random(4)) {
                ('"' | '\\' | '/', 0 | 1) => out.extend(['\\', character]),
                ('\n', 0 | 1) => out.push_str("\\n"),
                (_, 2) => out.extend(
                    character
                        .encode_utf16(&mut [0; 2])
                        .iter()
                        .map(|unit| format!("\\u{unit:04X}")),
                ),
                _ if must_be_escaped => out += &format!("\\u{:04x}", u32::from(character)),
                _ => out.push(character),
            }
        }
        out + "\""
    }
}

proptest! {
    #[test]
    fn all_ways_to_write_an_object_have_one_text(json in objects(), a: u64, b: u64) {
        let (first, second) = (Writer(a).write(&json), Writer(b).write(&json));
        let canonical = Canonical::of(&first).unwrap();
        prop_assert_eq!(&canonical, &Canonical::of(&second).unwrap());
        // Canonicalisation is idempotent, including the entries.
        prop_assert_eq!(&canonical, &Canonical::of(&canonical.text).unwrap());
        // Value and text are equal.
        let value = |json: &str| serde_json::from_str::<Value>(json).unwrap();
        prop_assert_eq!(value(&first), value(&canonical.text));
        // Entries are all keys with their values.
        let Json::Object(members) = &json else { unreachable!() };
        prop_assert_eq!(members.len(), canonical.entries.len());
        let mut parts = Vec::new();
        for entry in &canonical.entries {
            let whole = canonical.text[entry.member.clone()].to_owned();
            let key = serde_json::to_string(&entry.key).unwrap();
            let own = canonical.value(&entry.key).unwrap();
            prop_assert_eq!(value(&whole[..whole.len() - own.len() - 1]), value(&key));
            prop_assert_eq!(value(own), value(&Writer(a).write(&members[&entry.key])));
            parts.push(whole);
        }
        prop_assert_eq!(format!("{{{}}}", parts.join(",")), canonical.text);
        for pair in canonical.entries.windows(2) {
            let units = |key: &str| key.encode_utf16().collect::<Vec<_>>();
            prop_assert!(units(&pair[0].key) < units(&pair[1].key));
        }
    }

    #[test]
    fn the_order_of_keys_is_that_of_their_utf16(a in keys(), b in keys()) {
        prop_assert_eq!(key_order(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
    }

    #[test]
    fn any_bytes_are_an_object_or_a_refusal(
        bytes in prop_oneof![
            any::<Vec<u8>>(),
            proptest::collection::vec(proptest::sample::select(&b"{}[]:,\"\\u09adDf-+.e1 \nntrue\xc3\xa9"[..]), 0..60)
        ]
    ) {
        for bytes in [bytes.clone(), [b"{\"a\":", &bytes[..], b"}"].concat()] {
            if let Ok(canonical) = Canonical::of_bytes(&bytes) {
                prop_assert_eq!(&canonical, &Canonical::of(&canonical.text).unwrap());
            }
        }
    }

    #[test]
    fn cut_or_changed_texts_are_judged_as_by_a_parser(json in objects(), seed: u64, byte: u8) {
        let mut writer = Writer(seed);
        let mut bytes = writer.write(&json).into_bytes();
        let place = writer.random(bytes.len() as u64) as usize;
        match writer.random(3) {
            0 => bytes.truncate(place),
            1 => bytes[place] = byte,
            _ => bytes.insert(place, byte),
        }
        let other = serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes);
        match Canonical::of_bytes(&bytes) {
            Ok(canonical) => {
                let own: serde_json::Map<String, Value> = serde_json::from_str(&canonical.text).unwrap();
                prop_assert_eq!(own, other.unwrap());
            }
            // The parser uses the last of two keys, or finds another error after them.
            Err(error) => prop_assert!(other.is_err() || error.to_string().contains(" is twice ")),
        }
    }
}
