//! The payload of an event as JSON, for people and for `read_events`: written as it is read, without a tree between.

use std::cell::RefCell;

use minicbor::Decoder;
use minicbor::data::Type;
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Payload, nesting};

/// Returns the fields of a payload as one JSON object: those of the metadata, then those of the body, which wins where both
/// have a field. Byte strings become hexadecimal.
///
/// # Errors
/// A message when a part is not a CBOR map with text keys, or is nested too deeply.
pub fn payload_json(payload: &Payload) -> Result<Box<RawValue>, String> {
    nesting::check(&payload.meta)?;
    nesting::check(&payload.body)?;
    let fields = Fields {
        meta: &payload.meta,
        body: &payload.body,
        names: names(&payload.body).map_err(|error| error.to_string())?,
    };
    serde_json::value::to_raw_value(&fields).map_err(|error| error.to_string())
}

/// Returns the keys of a map.
fn names(map: &[u8]) -> Result<Vec<&str>, minicbor::decode::Error> {
    let mut decoder = Decoder::new(map);
    let mut names = Vec::new();
    for _ in 0..entries(&mut decoder)? {
        names.push(decoder.str()?);
        decoder.skip()?;
    }
    Ok(names)
}

/// Enters a map. Our maps have a length.
fn entries(decoder: &mut Decoder<'_>) -> Result<u64, minicbor::decode::Error> {
    let length = decoder.map()?;
    length.ok_or_else(|| minicbor::decode::Error::message("a map without a length"))
}

/// The fields of a payload. Their nesting has been checked.
struct Fields<'b> {
    meta: &'b [u8],
    body: &'b [u8],
    names: Vec<&'b str>,
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        for (part, hidden) in [(self.meta, self.names.as_slice()), (self.body, &[])] {
            let value = NextValue(&RefCell::new(Decoder::new(part)));
            for _ in 0..value.read(entries)? {
                let name = value.read(Decoder::str)?;
                match hidden.contains(&name) {
                    true => value.read(Decoder::skip)?,
                    false => object.serialize_entry(name, &value)?,
                }
            }
        }
        object.end()
    }
}

/// The next value of a decoder. Writing it moves the decoder on, so it is written once.
#[derive(Clone, Copy)]
struct NextValue<'d, 'b>(&'d RefCell<Decoder<'b>>);

impl<'b> NextValue<'_, 'b> {
    fn read<T, E: serde::ser::Error>(
        self,
        read: impl FnOnce(&mut Decoder<'b>) -> Result<T, minicbor::decode::Error>,
    ) -> Result<T, E> {
        read(&mut self.0.borrow_mut()).map_err(E::custom)
    }
}

impl Serialize for NextValue<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.read(|decoder| decoder.datatype())? {
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => {
                serializer.serialize_u64(self.read(Decoder::u64)?)
            }
            Type::I8 | Type::I16 | Type::I32 | Type::I64 => {
                serializer.serialize_i64(self.read(Decoder::i64)?)
            }
            Type::Int => serializer.serialize_i128(self.read(Decoder::int)?.into()),
            Type::F16 => serializer.serialize_f64(self.read(Decoder::f16)?.into()),
            Type::F32 => serializer.serialize_f64(self.read(Decoder::f32)?.into()),
            Type::F64 => serializer.serialize_f64(self.read(Decoder::f64)?),
            Type::Bool => serializer.serialize_bool(self.read(Decoder::bool)?),
            Type::String => serializer.serialize_str(self.read(Decoder::str)?),
            Type::Bytes => serializer.serialize_str(&hex(self.read(Decoder::bytes)?)),
            Type::Array => {
                let items = self.read(Decoder::array)?;
                let items = items.ok_or_else(|| S::Error::custom("an array without a length"))?;
                let mut array = serializer.serialize_seq(None)?;
                for _ in 0..items {
                    array.serialize_element(self)?;
                }
                array.end()
            }
            Type::Map => {
                let mut object = serializer.serialize_map(None)?;
                for _ in 0..self.read(entries)? {
                    // Our maps have no other keys; as text, nested ones would double at each level.
                    object.serialize_entry(self.read(Decoder::str)?, self)?;
                }
                object.end()
            }
            Type::Tag => {
                self.read(Decoder::tag)?;
                self.serialize(serializer)
            }
            Type::Null | Type::Undefined | Type::Simple => {
                self.read(Decoder::skip)?;
                serializer.serialize_unit()
            }
            other => Err(S::Error::custom(format!("{other} in an event"))),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn of(meta: &[u8], body: &[u8]) -> Result<String, String> {
        let payload = Payload {
            salt: [0; 16],
            meta: meta.to_vec(),
            body: body.to_vec(),
        };
        payload_json(&payload).map(|json| json.get().to_owned())
    }

    fn map(value: &Value) -> Vec<u8> {
        super::super::codec::encode(&cbor(value))
    }

    fn cbor(value: &Value) -> ciborium::Value {
        match value {
            Value::Null => ciborium::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => number.into(),
                (None, Some(number)) => number.into(),
                (None, None) => panic!("{number} is not an integer"),
            },
            Value::String(text) => text.as_str().into(),
            Value::Array(items) => items.iter().map(cbor).collect::<Vec<_>>().into(),
            Value::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, value)| (key.as_str().into(), cbor(value)));
                ciborium::Value::Map(members.collect())
            }
        }
    }

    /// The fields of both parts are one object, and the body's are the ones that count.
    #[test]
    fn both_parts_are_one_object() {
        let meta = map(&json!({"more": {"a": [1, -2, null]}, "step": 2, "tool": "meta"}));
        let body = map(&json!({"text": "a\n\"\u{e9}", "tool": "body"}));
        assert_eq!(
            of(&meta, &body).unwrap(),
            r#"{"more":{"a":[1,-2,null]},"step":2,"text":"a\n\"é","tool":"body"}"#
        );
        assert_eq!(of(&map(&json!({})), &map(&json!({}))).unwrap(), "{}");
    }

    /// Each kind of value that CBOR has and JSON may lack.
    #[test]
    fn each_kind_of_value_is_written() {
        for (bytes, wanted) in [
            (&[0x42, 0x0f, 0xa0][..], r#""0fa0""#),
            (
                &[0x1b, 255, 255, 255, 255, 255, 255, 255, 255],
                "18446744073709551615",
            ),
            (
                &[0x3b, 255, 255, 255, 255, 255, 255, 255, 255],
                "-18446744073709551616",
            ),
            (&[0xf9, 0x3e, 0x00], "1.5"),
            (&[0xfa, 0x3f, 0xc0, 0, 0], "1.5"),
            (&[0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], "1.5"),
            (&[0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0], "null"),
            (&[0xc1, 0x05], "5"),
            (&[0xf5], "true"),
            (&[0xf7], "null"),
            (&[0xe5], "null"),
        ] {
            let body = [&[0xa1, 0x61, b'v'], bytes].concat();
            let json = of(&map(&json!({})), &body).unwrap();
            assert_eq!(json, format!(r#"{{"v":{wanted}}}"#), "{bytes:x?}");
        }
    }

    /// What is no map of texts is refused: maps nested as keys at once, because each level of text would double the quotes
    /// of the last (found by fuzzing: 204 bytes took minutes).
    #[test]
    fn what_is_no_object_is_refused() {
        let nested = [vec![0xa1; 60], vec![0x00; 61]].concat();
        let deep = [vec![0xa1, 0x61, b'v'], vec![0x81; 70], vec![0x00]].concat();
        let others: [&[u8]; 6] = [
            &[0x01],
            &[0x81, 0x01],
            &[0xbf, 0xff],
            &[0xa1, 0x61, b'v', 0x9f, 0xff],
            &[0xa1, 0x61],
            &[],
        ];
        for broken in others.into_iter().chain([nested.as_slice(), &deep]) {
            let empty = map(&json!({}));
            assert!(of(&empty, broken).is_err(), "{broken:x?}");
            assert!(of(broken, &empty).is_err(), "{broken:x?}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,3}", inner, 0..4).prop_map(Value::from_iter),
            ]
        })
    }

    proptest! {
        /// What is written is what a tree of it would be, and arbitrary bytes are refused or become valid JSON.
        #[test]
        fn it_is_the_json_of_the_tree(
            meta in prop::collection::btree_map("[a-z]{1,2}", values(), 0..5),
            body in prop::collection::btree_map("[a-z]{1,2}", values(), 0..5),
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let (meta, body) = (Value::from_iter(meta), Value::from_iter(body));
            let json = of(&map(&meta), &map(&body)).unwrap();
            let read: Value = serde_json::from_str(&json).unwrap();
            let mut both = meta.as_object().unwrap().clone();
            both.extend(body.as_object().unwrap().clone());
            prop_assert_eq!(read, Value::Object(both));
            let _ = of(&map(&json!({})), &bytes);
        }
    }
}
