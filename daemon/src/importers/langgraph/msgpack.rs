//! MessagePack as JSON (https://github.com/msgpack/msgpack/blob/master/spec.md), with the extension types that
//! LangGraph uses for Python objects. Each becomes readable as `{"__type": "module.Name", …}`; the bytes of unknown
//! types are retained.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Number, Value, json};

/// Limit on nesting.
const DEPTH_MAX: usize = 100;
/// Limit on the values in one text.
const VALUES_MAX: usize = 1_000_000;
/// Limit on a key that is not a text, as JSON. A nested key is escaped once more, which can double it.
const KEY_BYTES_MAX: usize = 4096;
/// Key for the type of a value that JSON does not have.
pub const TYPE: &str = "__type";

/// Decodes one value.
pub fn to_json(bytes: &[u8]) -> Result<Value, String> {
    let mut values = VALUES_MAX;
    whole(bytes, 0, &mut values)
}

fn whole(bytes: &[u8], depth: usize, values: &mut usize) -> Result<Value, String> {
    let mut reader = Reader {
        bytes,
        at: 0,
        values,
    };
    let value = reader.value(depth)?;
    match reader.at == bytes.len() {
        true => Ok(value),
        false => Err(format!("bytes are left behind byte {}", reader.at)),
    }
}

/// Encodes bytes as JSON.
#[must_use]
pub fn raw_value(kind: &str, bytes: &[u8]) -> Value {
    json!({TYPE: kind, "base64": BASE64.encode(bytes)})
}

struct Reader<'r> {
    bytes: &'r [u8],
    at: usize,
    values: &'r mut usize,
}

impl<'r> Reader<'r> {
    fn take(&mut self, length: usize) -> Result<&'r [u8], String> {
        let end = self.at.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| format!("it ends within the value at byte {}", self.at))?;
        self.at += length;
        Ok(taken)
    }

    fn number(&mut self, length: usize) -> Result<u64, String> {
        let bytes = self.take(length)?;
        Ok(bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self, bytes: usize) -> Result<usize, String> {
        Ok(usize::try_from(self.number(bytes)?).unwrap_or(usize::MAX))
    }

    fn signed(&mut self, length: usize) -> Result<Value, String> {
        let shift = 64 - 8 * length as u32;
        let number = self.number(length)?;
        Ok(Value::from(((number << shift) as i64) >> shift))
    }

    fn text(&mut self, length: usize) -> Result<Value, String> {
        let bytes = self.take(length)?;
        Ok(Value::from(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEPTH_MAX {
            return Err(format!("values are nested deeper than {DEPTH_MAX}"));
        }
        *self.values = self
            .values
            .checked_sub(1)
            .ok_or_else(|| format!("it has more than {VALUES_MAX} values"))?;
        let first = *self.take(1)?.first().unwrap_or(&0xc1);
        match first {
            0x00..=0x7f => Ok(Value::from(first)),
            0x80..=0x8f => self.map((first & 0x0f).into(), depth),
            0x90..=0x9f => self.list((first & 0x0f).into(), depth),
            0xa0..=0xbf => self.text((first & 0x1f).into()),
            0xc0 => Ok(Value::Null),
            0xc2 => Ok(Value::Bool(false)),
            0xc3 => Ok(Value::Bool(true)),
            0xc4..=0xc6 => {
                let length = self.length(1 << (first - 0xc4))?;
                Ok(raw_value("bytes", self.take(length)?))
            }
            0xc7..=0xc9 => {
                let length = self.length(1 << (first - 0xc7))?;
                self.extension(length, depth)
            }
            0xca => {
                let bits = self.number(4)? as u32;
                Ok(float(f32::from_bits(bits).into()))
            }
            0xcb => Ok(float(f64::from_bits(self.number(8)?))),
            0xcc..=0xcf => Ok(Value::from(self.number(1 << (first - 0xcc))?)),
            0xd0..=0xd3 => self.signed(1 << (first - 0xd0)),
            0xd4..=0xd8 => self.extension(1 << (first - 0xd4), depth),
            0xd9..=0xdb => {
                let length = self.length(1 << (first - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => {
                let length = self.length(2 << (first - 0xdc))?;
                self.list(length, depth)
            }
            0xde | 0xdf => {
                let length = self.length(2 << (first - 0xde))?;
                self.map(length, depth)
            }
            0xe0..=0xff => Ok(Value::from(i64::from(first as i8))),
            0xc1 => Err(format!("byte {} begins no value", self.at - 1)),
        }
    }

    fn list(&mut self, length: usize, depth: usize) -> Result<Value, String> {
        // Not reserved by the claimed length, which may be false.
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(self.value(depth + 1)?);
        }
        Ok(Value::Array(items))
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Value, String> {
        let mut map = Map::new();
        for _ in 0..length {
            let key = match self.value(depth + 1)? {
                Value::String(key) => key,
                other => {
                    as_key(&other).map_err(|what| format!("before byte {}: {what}", self.at))?
                }
            };
            let value = self.value(depth + 1)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }

    fn extension(&mut self, length: usize, depth: usize) -> Result<Value, String> {
        let code = *self.take(1)?.first().unwrap_or(&0) as i8;
        let bytes = self.take(length)?;
        let inner = whole(bytes, depth + 1, self.values);
        let known = inner.ok().and_then(|inner| object(code, inner));
        Ok(known.unwrap_or_else(|| {
            let mut unknown = raw_value("msgpack.ext", bytes);
            if let Some(map) = unknown.as_object_mut() {
                map.insert("code".to_owned(), Value::from(code));
            }
            unknown
        }))
    }
}

/// Converts a key to a text, because JSON has no other keys.
fn as_key(value: &Value) -> Result<String, String> {
    let key = value.to_string();
    match key.len() <= KEY_BYTES_MAX {
        true => Ok(key),
        false => Err(format!(
            "a key that is not text is longer than {KEY_BYTES_MAX} bytes"
        )),
    }
}

/// Decodes a Python object as LangGraph packs it.
fn object(code: i8, inner: Value) -> Option<Value> {
    // A channel's value at one moment.
    if code == 7 {
        return Some(json!({TYPE: "delta_snapshot", "value": inner}));
    }
    let Value::Array(parts) = inner else {
        return None;
    };
    let mut parts = parts.into_iter();
    if code == 6 {
        let (dtype, shape, order) = (parts.next()?, parts.next()?, parts.next()?);
        let bytes = parts.next()?;
        return Some(
            json!({TYPE: "numpy.ndarray", "dtype": dtype, "shape": shape, "order": order, "data": bytes}),
        );
    }
    let (module, name, argument) = (parts.next()?, parts.next()?, parts.next()?);
    let named = format!("{}.{}", module.as_str()?, name.as_str()?);
    let field = match code {
        0 | 3 => "value",
        1 => "args",
        2 | 4 | 5 => "kwargs",
        _ => return None,
    };
    Some(json!({TYPE: named, field: argument}))
}

/// Returns a number, or a text for one that JSON cannot represent.
fn float(number: f64) -> Value {
    match Number::from_f64(number) {
        Some(number) => Value::Number(number),
        None => json!({TYPE: "float", "value": number.to_string()}),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every kind of value has a JSON form.
    #[test]
    fn values() {
        let cases: [(&[u8], Value); 14] = [
            (&[0x05], json!(5)),
            (&[0xff], json!(-1)),
            (&[0xd1, 0xff, 0x00], json!(-256)),
            (&[0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0], json!(1_u64 << 63)),
            (&[0xc0], json!(null)),
            (&[0xc3], json!(true)),
            (&[0xa2, b'h', b'i'], json!("hi")),
            (&[0x92, 1, 0xa1, b'x'], json!([1, "x"])),
            (&[0x82, 0xa1, b'k', 1, 7, 2], json!({"k": 1, "7": 2})),
            (
                &[0xc4, 2, 0, 255],
                json!({"__type": "bytes", "base64": "AP8="}),
            ),
            (
                &[0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0],
                json!({"__type": "float", "value": "NaN"}),
            ),
            (&[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0], json!(1.5)),
            (
                &[0xd6, 9, 1, 2, 3, 4],
                json!({"__type": "msgpack.ext", "base64": "AQIDBA==", "code": 9}),
            ),
            (
                &[0xc7, 7, 0, 0x93, 0xa1, b'm', 0xa1, b'N', 0xa1, b'v'],
                json!({"__type": "m.N", "value": "v"}),
            ),
        ];
        for (bytes, wanted) in cases {
            assert_eq!(to_json(bytes).unwrap(), wanted, "{bytes:x?}");
        }
        for broken in [
            &[][..],
            &[0xc1],
            &[0xa5, b'x'],
            &[1, 1],
            &[0xdd, 255, 255, 255, 255],
        ] {
            assert!(to_json(broken).is_err(), "{broken:x?}");
        }
        assert!(to_json(&[0x91; 1000]).unwrap_err().contains("deeper"));
    }

    /// Maps as keys of maps, nested: each level escapes the quotation marks of the inner ones; forty levels used to
    /// exhaust memory.
    #[test]
    fn keys_within_keys_are_bounded() {
        let [opened, closed] = [[0x81; 40], [0x00; 40]].map(Vec::from);
        let nested = [opened, vec![0xa1, b'k'], closed].concat();
        assert!(to_json(&nested).unwrap_err().contains("longer than 4096"));
        let tuple = [0x81, 0x92, 1, 0xa1, b'x', 2];
        assert_eq!(to_json(&tuple).unwrap(), json!({"[1,\"x\"]": 2}));
    }

    proptest! {
        /// Arbitrary bytes are read or refused, never a panic.
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = to_json(&bytes);
        }
    }
}
