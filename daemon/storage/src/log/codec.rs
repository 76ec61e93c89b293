//! Events as bytes: CBOR maps with text keys, so that old readers accept new fields.
//!
//! An event is `{header: bytes, payload_hash: bytes, link: bytes, salt?, fact?, body?, key?, seal?}`. The header is itself
//! an encoded map, stored as the bytes that the hash chain covers.

use minicbor::Decoder;
use minicbor::data::Type;
use serde::{Serialize, de::DeserializeOwned};

use super::event::{ImportOrigin, KeyMark, Payload};
use super::{Actor, Hash, Header, Kind, LoggedEvent, Position, nesting};
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
    nesting::check(bytes)?;
    minicbor_serde::from_slice(bytes).map_err(|error| error.to_string())
}

/// Reads a map without serde: calls `read` with each key, to read its value. A value that `read` does not know is skipped.
fn each_field<'b>(
    bytes: &'b [u8],
    mut read: impl FnMut(&str, &mut Decoder<'b>) -> Result<bool, minicbor::decode::Error>,
) -> Result<(), String> {
    let mut decoder = Decoder::new(bytes);
    let mut each = || {
        // Our maps have a length.
        for _ in 0..decoder.map()?.unwrap_or(0) {
            let name = decoder.str()?;
            if !read(name, &mut decoder)? {
                decoder.skip()?;
            }
        }
        Ok(())
    };
    each().map_err(|error: minicbor::decode::Error| error.to_string())
}

/// Reads a value that may be missing.
fn optional<'b, T>(
    decoder: &mut Decoder<'b>,
    read: impl FnOnce(&mut Decoder<'b>) -> Result<T, minicbor::decode::Error>,
) -> Result<Option<T>, minicbor::decode::Error> {
    match decoder.datatype()? {
        Type::Null => decoder.skip().map(|()| None),
        _ => read(decoder).map(Some),
    }
}

/// Reads bytes of a fixed length.
fn fixed<const N: usize>(decoder: &mut Decoder<'_>) -> Result<[u8; N], minicbor::decode::Error> {
    let bytes = decoder.bytes()?;
    <[u8; N]>::try_from(bytes).map_err(|_| {
        let found = bytes.len();
        minicbor::decode::Error::message(format!("{found} bytes where {N} were expected"))
    })
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
    let (mut position, mut time, mut uid, mut kind) = (None, None, None, None);
    let mut actor = Actor::default();
    let (mut session, mut project) = (None, None);
    let (mut key_hash, mut key_body) = (None, None);
    let (mut origin_at, mut origin_agent) = (None, String::new());
    let owned = |decoder: &mut Decoder<'_>| decoder.str().map(str::to_owned);
    each_field(bytes, |name, decoder| {
        match name {
            "position" => position = Some(decoder.u64()?),
            "time" => time = Some(decoder.u64()?),
            "uid" => uid = Some(decoder.u32()?),
            "kind" => kind = Some(Kind::of(decoder.str()?)),
            "agent" => actor.agent = owned(decoder)?,
            "client" => actor.client = owned(decoder)?,
            "session" => session = optional(decoder, owned)?,
            "project" => project = optional(decoder, owned)?,
            "key_hash" => key_hash = optional(decoder, fixed)?,
            "key_body" => key_body = optional(decoder, fixed)?,
            "origin_at" => origin_at = optional(decoder, Decoder::u64)?,
            "origin_agent" => origin_agent = owned(decoder)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let lacking = |name: &str| format!("the header has no `{name}`");
    actor.uid = uid.ok_or_else(|| lacking("uid"))?;
    Ok(Header {
        position: Position(position.ok_or_else(|| lacking("position"))?),
        time: time.ok_or_else(|| lacking("time"))?,
        actor,
        session,
        project,
        kind: kind.ok_or_else(|| lacking("kind"))?,
        key: key_hash.zip(key_body).map(|(hash, body)| KeyMark {
            hash: Hash(hash),
            body: Hash(body),
        }),
        origin: origin_at.map(|at| ImportOrigin {
            at,
            agent: origin_agent,
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

/// Decodes an event.
///
/// # Errors
/// A message about the missing or invalid part.
pub fn decode_event(bytes: &[u8]) -> Result<LoggedEvent, String> {
    let (mut header, mut payload_hash, mut link) = (None, None, None);
    let (mut salt, mut meta, mut body) = (None, None, None);
    let (mut key, mut seal) = (None, None);
    let owned = |decoder: &mut Decoder<'_>| decoder.bytes().map(<[u8]>::to_vec);
    each_field(bytes, |name, decoder| {
        match name {
            "header" => header = Some(owned(decoder)?),
            "payload_hash" => payload_hash = Some(fixed(decoder)?),
            "link" => link = Some(fixed(decoder)?),
            "salt" => salt = optional(decoder, fixed)?,
            "fact" => meta = optional(decoder, owned)?,
            "body" => body = optional(decoder, owned)?,
            "key" => key = optional(decoder, |decoder| decoder.str().map(str::to_owned))?,
            "seal" => seal = optional(decoder, fixed)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let payload = match (salt, meta, body) {
        (Some(salt), Some(meta), Some(body)) => Some(Payload { salt, meta, body }),
        (None, None, None) => None,
        _ => return Err("the payload is not whole".to_owned()),
    };
    let lacking = |name: &str| format!("the event has no `{name}`");
    let header_bytes = header.ok_or_else(|| lacking("header"))?;
    Ok(LoggedEvent {
        header: decode_header(&header_bytes)?,
        header_bytes,
        payload_hash: Hash(payload_hash.ok_or_else(|| lacking("payload_hash"))?),
        link: Hash(link.ok_or_else(|| lacking("link"))?),
        payload,
        key,
        seal,
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

    proptest! {
        /// Arbitrary bytes, and events with some changed bytes, are refused without a panic.
        #[test]
        fn arbitrary_bytes_never_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6),
        ) {
            let _ = decode_event(&bytes);
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
