//! Properties that hold for any text: redaction is idempotent, JSON keeps its shape, and both JSON functions give the same
//! result.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Generates pieces of texts with secrets, and separators.
fn piece() -> impl Strategy<Value = String> {
    let secret = (0..samples().len(), any::<bool>()).prop_map(|(number, is_whole)| {
        let (_, before, secret, after) = samples().swap_remove(number);
        if is_whole {
            format!("{before}{secret}{after}")
        } else {
            secret
        }
    });
    let between = prop::sample::select(vec![
        " ",
        "\n",
        "",
        "\"",
        "'",
        "=",
        ": ",
        "_",
        "-",
        ";",
        "&",
        "\\n",
        "\\",
        "password=",
        "token: ",
        "\"secret\": \"",
        "://",
        "@",
        ":",
        "[redacted:",
        "]",
        "[redacted:jwt]",
        "é",
        "{",
        "}",
        "<",
        "Bearer ",
        "api_key=",
        "--password ",
        ",",
        "/",
        "$9$",
    ]);
    prop_oneof![2 => secret, 3 => between.prop_map(str::to_owned), 1 => "[a-zA-Z0-9_.=\"'\\\\-]{0,24}"]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        text(),
        prop::sample::select(vec![
            "password",
            "api_key",
            "name",
            "value",
            "token",
            "a",
            "Authorization"
        ])
        .prop_map(str::to_owned)
    ];
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null)
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner.clone()), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            inner.prop_map(|inner| Value::from(inner.to_string())),
        ]
    })
}

/// Returns whether two values have the same shape: types, number and order; strings and keys may differ.
fn has_shape_of(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| has_shape_of(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .values()
                    .zip(other.values())
                    .all(|(one, other)| has_shape_of(one, other))
        }
        (one, other) => one == other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn redacting_twice_is_redacting_once(text in text()) {
        let redactor = Redactor::default();
        let mut found = SecretCounts::default();
        let once = redactor.text(&text, &mut found).into_owned();
        prop_assert_eq!(found.is_empty(), once == text);
        let mut more = SecretCounts::default();
        let twice = redactor.text(&once, &mut more).into_owned();
        prop_assert_eq!(&twice, &once);
        prop_assert!(more.is_empty());
    }

    /// Text outside of secrets moves to the reported positions.
    #[test]
    fn places_are_kept(text in text()) {
        let redactor = Redactor::default();
        let redacted = redactor.text(&text, &mut SecretCounts::default()).into_owned();
        match redactor.text_with_places(&text, &mut SecretCounts::default()) {
            None => prop_assert_eq!(redacted, text),
            Some((now, places)) => {
                prop_assert_eq!(&now, &redacted);
                prop_assert_eq!((places.now(0), places.now(text.len())), (0, now.len()));
                let mut last = 0;
                for (at, character) in text.char_indices() {
                    let place = places.now(at);
                    prop_assert!(place >= last && now.is_char_boundary(place));
                    last = place;
                    let is_outside = places.now(at + character.len_utf8()) == place + character.len_utf8();
                    prop_assert!(!is_outside || now[place..].starts_with(character));
                }
            }
        }
    }

    #[test]
    fn json_stays_json(value in json()) {
        let redactor = Redactor::default();
        let (mut of_text, mut of_value) = (SecretCounts::default(), SecretCounts::default());
        let text = value.to_string();
        let out = redactor.json(text.as_bytes(), &mut of_text).into_owned();
        let read: Value = serde_json::from_slice(&out).unwrap();
        prop_assert!(has_shape_of(&read, &value));
        let mut apart = value.clone();
        redactor.value(&mut apart, &mut of_value);
        prop_assert_eq!(&read, &apart);
        prop_assert_eq!(of_text, of_value);
        let mut more = SecretCounts::default();
        prop_assert_eq!(redactor.json(&out, &mut more).into_owned(), out);
        prop_assert!(more.is_empty());
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,80}") {
        let redactor = Redactor::default();
        let mut found = SecretCounts::default();
        let out = redactor.json(&bytes, &mut found).into_owned();
        if serde_json::from_slice::<Value>(&bytes).is_err() && std::str::from_utf8(&bytes).is_err() {
            prop_assert_eq!(out, bytes);
        }
        let _ = redactor.text(&text, &mut found);
    }
}
