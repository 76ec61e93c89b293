//! JSON with a separate writer: the same value in many notations, and its one canonical text.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tests::Random;

/// A JSON value; numbers are stored as their digits.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Returns the canonical text: order and strings of RFC 8785, numbers unchanged.
    pub fn canonical(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(bool) => bool.to_string(),
            Self::Number(digits) => digits.clone(),
            Self::Text(text) => canonical_text(text),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::canonical).collect();
                format!("[{}]", items.join(","))
            }
            Self::Object(members) => {
                let mut members: Vec<(&String, &Self)> = members.iter().collect();
                members.sort_by_key(|(key, _)| key.encode_utf16().collect::<Vec<u16>>());
                let members: Vec<String> = members
                    .into_iter()
                    .map(|(key, value)| format!("{}:{}", canonical_text(key), value.canonical()))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// Returns a random notation: members in any order, whitespace anywhere, characters escaped or not.
    pub fn written(&self, random: &mut Random) -> String {
        let value = match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => self.canonical(),
            Self::Text(text) => written_text(text, random),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.written(random)).collect();
                format!("[{}{}]", items.join(","), blanks(random))
            }
            Self::Object(members) => {
                let mut left: Vec<(&String, &Self)> = members.iter().collect();
                let mut written = Vec::new();
                while !left.is_empty() {
                    let at = random.range(0, left.len() as u64) as usize;
                    let (key, value) = left.swap_remove(at);
                    let key = format!("{}{}", blanks(random), written_text(key, random));
                    written.push(format!("{key}{}:{}", blanks(random), value.written(random)));
                }
                format!("{{{}{}}}", written.join(","), blanks(random))
            }
        };
        format!("{}{value}{}", blanks(random), blanks(random))
    }
}

fn blanks(random: &mut Random) -> &'static str {
    match random.range(0, 12) {
        0 => " ",
        1 => "\n\t",
        2 => "\r\n  ",
        _ => "",
    }
}

fn canonical_text(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{9}' => out.push_str("\\t"),
            '\u{a}' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\u{d}' => out.push_str("\\r"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn written_text(text: &str, random: &mut Random) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        let plain = canonical_text(&character.to_string());
        match random.range(0, 8) {
            0 => {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    out.push_str(&match random.one_in(2) {
                        true => format!("\\u{unit:04x}"),
                        false => format!("\\u{unit:04X}"),
                    });
                }
            }
            1 if character == '/' => out.push_str("\\/"),
            _ => out.push_str(&plain[1..plain.len() - 1]),
        }
    }
    out.push('"');
    out
}

fn number() -> impl Strategy<Value = Json> {
    const ODD: &[&str] = &[
        "0",
        "-0",
        "-0.0",
        "1E400",
        "-1e-400",
        "1.10",
        "0.1e-7",
        "1e+05",
        "9007199254740993",
        "-9007199254740993",
        "18446744073709551616",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231257827",
        "1E0",
    ];
    prop_oneof![
        proptest::sample::select(ODD).prop_map(str::to_owned),
        "-?(0|[1-9][0-9]{0,29})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
    ]
    .prop_map(Json::Number)
}

fn text() -> impl Strategy<Value = String> {
    const ODD: &[&str] = &[
        "",
        " ",
        "\u{2028}\u{2029}",
        "😀",
        "\u{10ffff}",
        "\u{fffd}\u{feff}",
        "\u{0}\u{1f}\u{7f}",
        "é",
        "e\u{301}",
        "\"\\/\u{8}\u{c}\n\r\t",
        "\u{e000}",
        "\u{1f600}z",
        "__proto__",
        "_meta",
        "$ref",
        "serde_json::private::Number",
    ];
    prop_oneof![
        proptest::sample::select(ODD).prop_map(str::to_owned),
        "[a-z]{0,8}",
        proptest::collection::vec(any::<char>(), 0..12).prop_map(|all| all.into_iter().collect()),
    ]
}

/// Generates any value, with some texts too long to share a row.
pub fn json() -> impl Strategy<Value = Json> {
    let long =
        (text(), 600_usize..900).prop_map(|(text, times)| format!("{text}long ").repeat(times));
    let leaf = prop_oneof![
        2 => Just(Json::Null),
        2 => any::<bool>().prop_map(Json::Bool),
        8 => number(),
        8 => text().prop_map(Json::Text),
        1 => long.prop_map(Json::Text),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Json::List),
            proptest::collection::btree_map(text(), inner, 0..6).prop_map(Json::Object),
        ]
    })
}

/// Generates any object.
pub fn object() -> impl Strategy<Value = Json> {
    proptest::collection::btree_map(text(), json(), 0..8).prop_map(Json::Object)
}
