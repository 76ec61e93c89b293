//! One event as it is kept for ever: header, payload, and its place in the chain.

use std::fmt;

use sha2::{Digest, Sha256};

use super::{EventKind, Kind, Position, codec};
use crate::clock::Micros;

/// A SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl std::str::FromStr for Hash {
    type Err = String;

    /// Reads 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut hash = [0; 32];
        let digits = text.as_bytes().as_chunks::<2>().0;
        let is_hash = text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        for (byte, two) in hash.iter_mut().zip(digits) {
            let two = std::str::from_utf8(two).map_err(|error| error.to_string())?;
            *byte = u8::from_str_radix(two, 16).unwrap_or_default();
        }
        match is_hash {
            true => Ok(Self(hash)),
            false => Err("a SHA-256 has 64 hexadecimal digits".to_owned()),
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |nibble: u8| {
            DIGITS
                .get(usize::from(nibble))
                .map_or('0', |d| char::from(*d))
        };
        let text: String = self
            .0
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
            .collect();
        f.write_str(&text)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// Who caused an event. The uid is the identity, taken from the socket; the rest are labels.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Actor {
    /// The agent's name for itself; empty when it gave none.
    pub agent: String,
    /// The peer's user id.
    pub uid: u32,
    /// The program that spoke, as `name/version`; empty when unknown.
    pub client: String,
}

impl Actor {
    /// The daemon itself: who appends what nobody asked for.
    #[must_use]
    pub fn daemon() -> Self {
        Self {
            agent: String::new(),
            uid: rustix::process::getuid().as_raw(),
            client: concat!("lored/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// Whether it is the daemon, of any version.
    #[must_use]
    pub fn is_daemon(&self) -> bool {
        self.agent.is_empty() && self.client.starts_with("lored/")
    }
}

/// What the chain covers besides the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Where in the log: 1 is the first event, no gaps.
    pub position: Position,
    /// When, in microseconds since 1970; never before the previous event's.
    pub time: Micros,
    /// By whom.
    pub actor: Actor,
    /// The session concerned, if one is.
    pub session: Option<String>,
    /// The project concerned, if one is.
    pub project: Option<String>,
    /// What happened, in the past tense.
    pub kind: Kind,
    /// The idempotency key it was recorded under; stays when the key's text is forgotten.
    pub key: Option<KeyMark>,
    /// When and by whom it was first recorded, when it was imported from elsewhere.
    pub origin: Option<ImportOrigin>,
}

/// When and by whom an imported event was first recorded, in another log.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ImportOrigin {
    /// When, in microseconds since 1970; what an export says, and no more reliable than that.
    pub at: Micros,
    /// The agent's name for itself; empty when it gave none.
    pub agent: String,
}

impl Header {
    /// When it happened, as it is shown: in the log that it was first recorded in. Order, expiry and
    /// `as_of` go by [`Self::time`].
    #[must_use]
    pub fn happened_at(&self) -> Micros {
        self.origin.as_ref().map_or(self.time, |origin| origin.at)
    }

    /// The stream of the event.
    #[must_use]
    pub fn scope(&self) -> EventScope<'_> {
        match (&self.session, &self.project) {
            (Some(session), _) => EventScope::Session(session),
            (None, Some(project)) => EventScope::Project(project),
            (None, None) => EventScope::Global,
        }
    }

    /// The agent that recorded it first, as it is shown; empty when it gave no name.
    #[must_use]
    pub fn author(&self) -> &str {
        match &self.origin {
            Some(origin) => &origin.agent,
            None => &self.actor.agent,
        }
    }
}

/// An idempotency key as the chain covers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyMark {
    /// SHA-256 of uid, agent and key.
    pub hash: Hash,
    /// SHA-256 of the operation's name and its canonical arguments.
    pub body: Hash,
}

impl Payload {
    /// What it holds, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.meta.len() + self.body.len()) as u64
    }
}

/// The prepared part of a payload: encoded, salted and hashed before the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// CBOR map.
    pub bytes: Vec<u8>,
    /// SHA-256 of `bytes`.
    pub digest: Hash,
    /// Random, so that the hash of a forgotten payload cannot be guessed.
    pub salt: [u8; 16],
}

impl Body {
    /// Hashes the bytes, once.
    #[must_use]
    pub fn new(bytes: Vec<u8>, salt: [u8; 16]) -> Self {
        let digest = Hash::of(&bytes);
        Self {
            bytes,
            digest,
            salt,
        }
    }
}

/// An event as bytes, before it has a place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedEvent {
    /// What happened.
    pub kind: EventKind,
    /// The session concerned.
    pub session: Option<String>,
    /// The project concerned.
    pub project: Option<String>,
    /// The metadata, as a CBOR map: what the decision added.
    pub meta: Vec<u8>,
    /// What the caller brought.
    pub body: Body,
    /// When and by whom it was first recorded, when it is imported.
    pub origin: Option<ImportOrigin>,
}

/// An event in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    /// Position, time, actor and the like.
    pub header: Header,
    /// The header's bytes, as the chain covers them.
    pub header_bytes: Vec<u8>,
    /// Hash of salt, metadata and body; stays when they are forgotten.
    pub payload_hash: Hash,
    /// Hash of the previous link, the header and the payload hash.
    pub link: Hash,
    /// Salt, metadata and body; `None` when forgotten on purpose.
    pub payload: Option<Payload>,
    /// The idempotency key's text.
    pub key: Option<String>,
}

/// What an event says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Random, part of the payload hash.
    pub salt: [u8; 16],
    /// CBOR map: the metadata, what the decision added. Stored as `fact`.
    pub meta: Vec<u8>,
    /// CBOR map: what the caller brought.
    pub body: Vec<u8>,
}

/// The hash that stands for a payload in the chain: SHA-256 over the salt, the length of the
/// metadata (u64, big-endian), the metadata, and the SHA-256 of the body.
#[must_use]
pub fn payload_hash(salt: &[u8; 16], meta: &[u8], body_digest: &Hash) -> Hash {
    let mut hash = Sha256::new();
    hash.update(salt);
    hash.update((meta.len() as u64).to_be_bytes());
    hash.update(meta);
    hash.update(body_digest.0);
    Hash(hash.finalize().into())
}

/// The hash that stands for an idempotency key: SHA-256 over uid, agent and key, with zeros between.
#[must_use]
pub fn key_hash(key: &str, actor: &Actor) -> Hash {
    let mut bytes = actor.uid.to_be_bytes().to_vec();
    bytes.push(0);
    bytes.extend(actor.agent.as_bytes());
    bytes.push(0);
    bytes.extend(key.as_bytes());
    Hash::of(&bytes)
}

/// The next link: SHA-256 over the previous link, the header's bytes and the payload hash.
#[must_use]
pub fn link(previous: &Hash, header: &[u8], payload: &Hash) -> Hash {
    let mut hash = Sha256::new();
    hash.update(previous.0);
    hash.update(header);
    hash.update(payload.0);
    Hash(hash.finalize().into())
}

/// Where an event's stream is: its session, else its project, else everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventScope<'e> {
    /// Events of one session.
    Session(&'e str),
    /// Events of one project, outside sessions.
    Project(&'e str),
    /// Events of neither.
    Global,
}

/// Why an event does not fit the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// The position is not the next one.
    #[error("the position is {found}, expected {expected}")]
    Position {
        /// As stored.
        found: Position,
        /// One more than the event before.
        expected: Position,
    },
    /// The payload does not match its hash.
    #[error("the payload does not match its hash")]
    Payload,
    /// The key's text does not match its hash.
    #[error("the idempotency key does not match its hash")]
    Key,
    /// The link does not follow from the previous one.
    #[error("the link does not follow from the event before")]
    Link,
}

impl LoggedEvent {
    /// Gives a new event its place: after `previous`, at `position` and `time`.
    #[must_use]
    pub fn stamp(
        new: EncodedEvent,
        previous: &Hash,
        position: Position,
        time: Micros,
        actor: &Actor,
        key: Option<(String, KeyMark)>,
    ) -> Self {
        let (key, mark) = key.unzip();
        let header = Header {
            position,
            time,
            actor: actor.clone(),
            session: new.session,
            project: new.project,
            kind: Kind::Known(new.kind),
            key: mark,
            origin: new.origin,
        };
        let header_bytes = codec::encode_header(&header);
        let payload_hash = payload_hash(&new.body.salt, &new.meta, &new.body.digest);
        Self {
            link: link(previous, &header_bytes, &payload_hash),
            header,
            header_bytes,
            payload_hash,
            payload: Some(Payload {
                salt: new.body.salt,
                meta: new.meta,
                body: new.body.bytes,
            }),
            key,
        }
    }

    /// Checks this event against the link before it.
    ///
    /// # Errors
    /// [`ChainError`]: the first thing that does not fit.
    pub fn check(&self, previous: &Hash, expected: Position) -> Result<(), ChainError> {
        if self.header.position != expected {
            return Err(ChainError::Position {
                found: self.header.position,
                expected,
            });
        }
        if let Some(payload) = &self.payload {
            let digest = Hash::of(&payload.body);
            if payload_hash(&payload.salt, &payload.meta, &digest) != self.payload_hash {
                return Err(ChainError::Payload);
            }
        }
        if let Some(key) = &self.key
            && self.header.key.map(|mark| mark.hash) != Some(key_hash(key, &self.header.actor))
        {
            return Err(ChainError::Key);
        }
        if link(previous, &self.header_bytes, &self.payload_hash) != self.link {
            return Err(ChainError::Link);
        }
        Ok(())
    }

    /// The stream this event belongs to.
    #[must_use]
    pub fn scope(&self) -> EventScope<'_> {
        self.header.scope()
    }

    /// The event without what it said: header, hashes and link, as the chain needs them.
    #[must_use]
    pub fn without_content(&self) -> Self {
        Self {
            header: self.header.clone(),
            header_bytes: self.header_bytes.clone(),
            payload_hash: self.payload_hash,
            link: self.link,
            payload: None,
            key: None,
        }
    }

    /// Where in the log.
    #[must_use]
    pub fn position(&self) -> Position {
        self.header.position
    }
}
