//! Events as bytes: CBOR maps with text keys, so that old readers accept new fields.
//!
//! An event is `{header: bytes, payload_hash: bytes, link: bytes, salt?, fact?, body?, key?, seal?}`. The header is itself
//! an encoded map, stored as the bytes that the hash chain covers.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::event::{ImportOrigin, KeyMark, Payload};
use super::{Actor, Hash, Header, Kind, LoggedEvent, Position};
use crate::store::Error;

/// An encoded empty map, for a decision that adds nothing.
pub const EMPTY: &[u8] = &[MAP];

/// Encodes a small map.
///
/// # Panics
/// Never for the types that use it: they serialise, and writing to memory cannot fail.
#[must_use]
pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128);
    ciborium::into_writer(value, &mut bytes).expect("a map of plain values encodes into memory");
    bytes
}

/// Decodes a map; unknown fields are skipped.
///
/// # Errors
/// A message about the invalid part.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    ciborium::de::from_reader_with_recursion_limit(bytes, 64).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
struct HeaderMap<'h> {
    position: u64,
    time: u64,
    #[serde(default)]
    agent: std::borrow::Cow<'h, str>,
    uid: u32,
    #[serde(default)]
    client: std::borrow::Cow<'h, str>,
    #[serde(default)]
    session: Option<std::borrow::Cow<'h, str>>,
    #[serde(default)]
    project: Option<std::borrow::Cow<'h, str>>,
    kind: std::borrow::Cow<'h, str>,
    #[serde(default, with = "serde_bytes")]
    key_hash: Option<[u8; 32]>,
    #[serde(default, with = "serde_bytes")]
    key_body: Option<[u8; 32]>,
    #[serde(default)]
    origin_at: Option<u64>,
    #[serde(default)]
    origin_agent: std::borrow::Cow<'h, str>,
}

/// Encodes a header, without serde because the writer encodes one for every event.
pub(super) fn encode_header(header: &Header) -> Vec<u8> {
    let actor = &header.actor;
    let texts = [
        (
            "agent",
            Some(actor.agent.as_str()).filter(|agent| !agent.is_empty()),
        ),
        (
            "client",
            Some(actor.client.as_str()).filter(|client| !client.is_empty()),
        ),
        ("session", header.session.as_deref()),
        ("project", header.project.as_deref()),
        (
            "origin_agent",
            header
                .origin
                .as_ref()
                .map(|origin| origin.agent.as_str())
                .filter(|agent| !agent.is_empty()),
        ),
    ];
    let given = texts.iter().filter(|(_, text)| text.is_some()).count();
    let mut out = Vec::with_capacity(256);
    write_header(
        &mut out,
        MAP,
        4 + given + 2 * usize::from(header.key.is_some()) + usize::from(header.origin.is_some()),
    );
    number(&mut out, "position", header.position.0);
    number(&mut out, "time", header.time);
    number(&mut out, "uid", actor.uid.into());
    if let Some(origin) = &header.origin {
        number(&mut out, "origin_at", origin.at);
    }
    text(&mut out, "kind");
    text(&mut out, header.kind.as_str());
    for (name, value) in texts {
        if let Some(value) = value {
            text(&mut out, name);
            text(&mut out, value);
        }
    }
    if let Some(key) = &header.key {
        field(&mut out, "key_hash", &key.hash.0);
        field(&mut out, "key_body", &key.body.0);
    }
    out
}

fn decode_header(bytes: &[u8]) -> Result<Header, String> {
    let map: HeaderMap<'_> = decode(bytes)?;
    Ok(Header {
        position: Position(map.position),
        time: map.time,
        actor: Actor {
            agent: map.agent.into_owned(),
            uid: map.uid,
            client: map.client.into_owned(),
        },
        session: map.session.map(Into::into),
        project: map.project.map(Into::into),
        kind: Kind::of(&map.kind),
        key: map.key_hash.zip(map.key_body).map(|(hash, body)| KeyMark {
            hash: Hash(hash),
            body: Hash(body),
        }),
        origin: map.origin_at.map(|at| ImportOrigin {
            at,
            agent: map.origin_agent.into_owned(),
        }),
    })
}

/// Appends the bytes of an event.
pub fn encode_event(event: &LoggedEvent, into: &mut Vec<u8>) {
    let payload = event.payload.as_ref();
    let entries = 3
        + 3 * usize::from(payload.is_some())
        + usize::from(event.key.is_some())
        + usize::from(event.seal.is_some());
    write_header(into, MAP, entries);
    field(into, "header", &event.header_bytes);
    field(into, "payload_hash", &event.payload_hash.0);
    field(into, "link", &event.link.0);
    if let Some(payload) = payload {
        field(into, "salt", &payload.salt);
        field(into, "fact", &payload.meta);
        field(into, "body", &payload.body);
    }
    if let Some(key) = &event.key {
        text(into, "key");
        text(into, key);
    }
    if let Some(seal) = &event.seal {
        field(into, "seal", seal);
    }
}

// An event is encoded without serde: its parts are bytes already, and this way the body is copied once. Major types
// of RFC 8949, section 3.1.
const BYTES: u8 = 2 << 5;
const TEXT: u8 = 3 << 5;
const MAP: u8 = 5 << 5;

const UNSIGNED: u8 = 0;

fn write_header(into: &mut Vec<u8>, major: u8, length: usize) {
    put_head(into, major, length as u64);
}

fn put_head(into: &mut Vec<u8>, major: u8, length: u64) {
    match length {
        0..=23 => into.push(major | length as u8),
        24..=0xff => into.extend([major | 24, length as u8]),
        0x100..=0xffff => {
            into.push(major | 25);
            into.extend((length as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            into.push(major | 26);
            into.extend((length as u32).to_be_bytes());
        }
        _ => {
            into.push(major | 27);
            into.extend(length.to_be_bytes());
        }
    }
}

fn number(into: &mut Vec<u8>, name: &str, value: u64) {
    text(into, name);
    put_head(into, UNSIGNED, value);
}

fn text(into: &mut Vec<u8>, text: &str) {
    write_header(into, TEXT, text.len());
    into.extend(text.as_bytes());
}

fn field(into: &mut Vec<u8>, name: &str, value: &[u8]) {
    text(into, name);
    write_header(into, BYTES, value.len());
    into.extend(value);
}

#[derive(Deserialize)]
struct EventMap {
    #[serde(with = "serde_bytes")]
    header: Vec<u8>,
    #[serde(with = "serde_bytes")]
    payload_hash: [u8; 32],
    #[serde(with = "serde_bytes")]
    link: [u8; 32],
    #[serde(default, with = "serde_bytes")]
    salt: Option<[u8; 16]>,
    #[serde(default, with = "serde_bytes")]
    fact: Option<Vec<u8>>,
    #[serde(default, with = "serde_bytes")]
    body: Option<Vec<u8>>,
    #[serde(default)]
    key: Option<String>,
    #[serde(default, with = "serde_bytes")]
    seal: Option<[u8; 16]>,
}

/// Decodes an event.
///
/// # Errors
/// A message about the missing or invalid part.
pub fn decode_event(bytes: &[u8]) -> Result<LoggedEvent, String> {
    let map: EventMap = decode(bytes)?;
    let payload = match (map.salt, map.fact, map.body) {
        (Some(salt), Some(meta), Some(body)) => Some(Payload { salt, meta, body }),
        (None, None, None) => None,
        _ => return Err("the payload is not whole".to_owned()),
    };
    Ok(LoggedEvent {
        header: decode_header(&map.header)?,
        header_bytes: map.header,
        payload_hash: Hash(map.payload_hash),
        link: Hash(map.link),
        payload,
        key: map.key,
        seal: map.seal,
    })
}

/// Converts a CBOR map to JSON, for people and for `read_events`; byte strings become hexadecimal.
///
/// # Errors
/// A message when the bytes are not a CBOR map.
pub fn to_json(bytes: &[u8]) -> Result<serde_json::Map<String, serde_json::Value>, String> {
    let value: ciborium::Value = decode(bytes)?;
    match json_of(value)? {
        serde_json::Value::Object(map) => Ok(map),
        _ => Err("not a map".to_owned()),
    }
}

fn json_of(value: ciborium::Value) -> Result<serde_json::Value, String> {
    use ciborium::Value as Cbor;
    use serde_json::Value as Json;
    Ok(match value {
        Cbor::Integer(number) => i128::from(number)
            .to_string()
            .parse::<serde_json::Number>()
            .map_or(Json::Null, Json::Number),
        Cbor::Float(number) => Json::from(number),
        Cbor::Bool(value) => Json::Bool(value),
        Cbor::Text(text) => Json::String(text),
        Cbor::Bytes(bytes) => {
            Json::String(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
        }
        Cbor::Array(items) => {
            Json::Array(items.into_iter().map(json_of).collect::<Result<_, _>>()?)
        }
        Cbor::Map(entries) => Json::Object(
            entries
                .into_iter()
                .map(|(key, value)| match key {
                    Cbor::Text(key) => Ok((key, json_of(value)?)),
                    // Our maps have no such keys; as text, nested ones would double at each level.
                    _ => Err("a map has a key that is not text".to_owned()),
                })
                .collect::<Result<_, _>>()?,
        ),
        Cbor::Tag(_, inner) => json_of(*inner)?,
        _ => Json::Null,
    })
}

/// Decodes a part of a stored payload.
///
/// # Errors
/// [`Error::Corrupt`] with the event's position.
pub fn decode_part<T: DeserializeOwned>(event: &LoggedEvent, bytes: &[u8]) -> Result<T, Error> {
    decode(bytes).map_err(|reason| {
        Error::corrupt(
            super::LOG.name(),
            &event.header.position.0.to_be_bytes(),
            format!("payload of a {}: {reason}", event.header.kind),
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Body, EncodedEvent, EventKind, ImportOrigin};
    use super::*;

    fn event() -> LoggedEvent {
        let new = EncodedEvent {
            kind: EventKind::StepRecorded,
            session: Some("s-1".to_owned()),
            project: Some("p-1".to_owned()),
            meta: EMPTY.to_vec(),
            body: Body::new(EMPTY.to_vec(), [1; 16]),
            origin: None,
        };
        let mark = KeyMark {
            hash: super::super::key_hash("key", &Actor::default()),
            body: Hash([3; 32]),
        };
        let key = Some(("key".to_owned(), mark));
        LoggedEvent::stamp(new, &Hash([4; 32]), Position(5), 6, &Actor::default(), key)
    }

    fn bytes_of(event: &LoggedEvent) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_event(event, &mut bytes);
        bytes
    }

    /// An event survives a round trip, complete and with its content forgotten.
    #[test]
    fn events_read_back() {
        let mut event = event();
        assert_eq!(decode_event(&bytes_of(&event)).unwrap(), event);
        event.payload = None;
        event.key = None;
        assert_eq!(decode_event(&bytes_of(&event)).unwrap(), event);
    }

    /// An imported event records its origin, with or without an agent's name. Any other event has the same bytes as
    /// before the origin existed.
    #[test]
    fn origins_read_back() {
        let plain = bytes_of(&event());
        assert!(!plain.windows(6).any(|part| part == b"origin"));
        for agent in ["claude", ""] {
            let origin = ImportOrigin {
                at: 7,
                agent: agent.to_owned(),
            };
            let mut event = event();
            event.header.origin = Some(origin.clone());
            event.header_bytes = encode_header(&event.header);
            let read = decode_event(&bytes_of(&event)).unwrap();
            assert_eq!(read.header.origin, Some(origin));
            assert_eq!(
                (read.header.happened_at(), read.header.author()),
                (7, agent)
            );
            assert_eq!(read, event);
        }
        assert_eq!(
            (event().header.happened_at(), event().header.author()),
            (6, "")
        );
    }

    /// Fields that a newer program adds are skipped, in the event and in its header.
    #[test]
    fn new_fields_are_read_over() {
        let event = event();
        let mut bytes = bytes_of(&event);
        assert_eq!(bytes[0], MAP | 7);
        bytes[0] += 1;
        text(&mut bytes, "new");
        bytes.extend([0x82, 0x01, 0xf6]);
        assert_eq!(decode_event(&bytes).unwrap(), event);
    }

    /// Maps nested as keys are refused at once: as text, each level would double the quotes of the last (found by
    /// fuzzing: 204 bytes took minutes).
    #[test]
    fn nested_keys_are_refused() {
        let nested = [vec![0xa1; 60], vec![0x00; 61]].concat();
        assert!(to_json(&nested).is_err());
    }

    proptest! {
        /// Arbitrary bytes, and events with some changed bytes, are refused without a panic.
        #[test]
        fn arbitrary_bytes_never_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6),
        ) {
            let _ = decode_event(&bytes);
            let _ = to_json(&bytes);
            let whole = event();
            let mut changed = bytes_of(&whole);
            for (at, byte) in changes {
                let at = at % changed.len();
                changed[at] = byte;
            }
            if let Ok(read) = decode_event(&changed) {
                // An event that still decodes is unchanged, or its chain link does not match. (The key's text may be missing: it is
                // forgotten with the content.)
                let kept = read == whole || (read.key.is_none() && read.link == whole.link);
                prop_assert!(kept || read.check(&Hash([4; 32]), Position(5)).is_err());
            }
        }
    }
}
