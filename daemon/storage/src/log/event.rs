//! A stored event: header, payload and chain link. Its form never changes.

use std::fmt;

use sha2::{Digest, Sha256};

use super::{EventKind, Kind, Position, codec};
use crate::clock::Micros;
use crate::store::seal::{EventSeal, SealError, Sealer};

/// A SHA-256 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Hashes these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl std::str::FromStr for Hash {
    type Err = String;

    /// Parses 64 hexadecimal digits.
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
        let digit = |nibble: u8| match nibble {
            0..10 => b'0' + nibble,
            _ => b'a' + (nibble - 10),
        };
        let mut text = [0; 64];
        for (two, byte) in text.chunks_exact_mut(2).zip(self.0) {
            two.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        // Digits are ASCII.
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// The actor that caused an event. The UID is the identity, taken from the socket; the other fields are labels.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Actor {
    /// The agent's own name; empty when it gave none.
    pub agent: String,
    /// UID of the peer.
    pub uid: u32,
    /// The client program, as `name/version`; empty when unknown.
    pub client: String,
}

impl Actor {
    /// Returns the daemon's actor, for events without a caller.
    #[must_use]
    pub fn daemon() -> Self {
        Self {
            agent: String::new(),
            uid: rustix::process::getuid().as_raw(),
            client: concat!("lored/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// Returns whether the actor is the daemon, of any version.
    #[must_use]
    pub fn is_daemon(&self) -> bool {
        self.agent.is_empty() && self.client.starts_with("lored/")
    }
}

/// The part of an event that the hash chain covers in addition to the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Log position: 1 is the first event, without gaps.
    pub position: Position,
    /// Time in microseconds since 1970; never before the previous event's.
    pub time: Micros,
    /// The actor.
    pub actor: Actor,
    /// The session, if any.
    pub session: Option<String>,
    /// The project, if any.
    pub project: Option<String>,
    /// Kind of the event, in the past tense.
    pub kind: Kind,
    /// Hashes of its idempotency key; they stay when the key's text is forgotten.
    pub key: Option<KeyMark>,
    /// Original time and actor of an imported event.
    pub origin: Option<ImportOrigin>,
}

/// The time and actor at which an imported event was first recorded, in another log.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ImportOrigin {
    /// Time in microseconds since 1970, as stated by the export and no more reliable.
    pub at: Micros,
    /// The agent's own name; empty when it gave none.
    pub agent: String,
}

impl Header {
    /// Returns the displayed time: the time in the log that recorded the event first. Order, expiry and `as_of` use
    /// [`Self::time`].
    #[must_use]
    pub fn happened_at(&self) -> Micros {
        self.origin.as_ref().map_or(self.time, |origin| origin.at)
    }

    /// Returns the stream of the event.
    #[must_use]
    pub fn scope(&self) -> EventScope<'_> {
        match (&self.session, &self.project) {
            (Some(session), _) => EventScope::Session(session),
            (None, Some(project)) => EventScope::Project(project),
            (None, None) => EventScope::Global,
        }
    }

    /// Returns the displayed agent, which recorded the event first; empty when it gave no name.
    #[must_use]
    pub fn author(&self) -> &str {
        match &self.origin {
            Some(origin) => &origin.agent,
            None => &self.actor.agent,
        }
    }
}

/// The hashes of an idempotency key that the chain covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyMark {
    /// SHA-256 of UID, agent and key.
    pub hash: Hash,
    /// SHA-256 of the operation name and its canonical arguments.
    pub body: Hash,
}

impl Payload {
    /// Returns the size of the content, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.meta.len() + self.body.len()) as u64
    }
}

/// The prepared part of a payload: encoded, salted and hashed before the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The encoded CBOR map.
    pub bytes: Vec<u8>,
    /// SHA-256 of `bytes`.
    pub digest: Hash,
    /// Random bytes, so that the hash of a forgotten payload cannot be guessed.
    pub salt: [u8; 16],
}

impl Body {
    /// Creates a body and hashes its bytes once.
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

/// An encoded event, before it has a log position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedEvent {
    /// Kind of the event.
    pub kind: EventKind,
    /// Session of the event.
    pub session: Option<String>,
    /// Project of the event.
    pub project: Option<String>,
    /// The metadata that the decision added, as a CBOR map.
    pub meta: Vec<u8>,
    /// The caller's content.
    pub body: Body,
    /// Original time and actor of an imported event.
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
    /// The store's code of this event ([`crate::store::seal`]); not part of the chain. `None` for events that a release
    /// without seals recorded.
    pub seal: Option<EventSeal>,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Random bytes, part of the payload hash.
    pub salt: [u8; 16],
    /// CBOR map: the metadata that the decision added. Stored as `fact`.
    pub meta: Vec<u8>,
    /// CBOR map: the caller's content.
    pub body: Vec<u8>,
}

/// Returns the payload hash in the chain: SHA-256 over the salt, the length of the metadata (u64, big-endian), the
/// metadata, and the SHA-256 of the body.
#[must_use]
pub fn payload_hash(salt: &[u8; 16], meta: &[u8], body_digest: &Hash) -> Hash {
    let mut hash = Sha256::new();
    hash.update(salt);
    hash.update((meta.len() as u64).to_be_bytes());
    hash.update(meta);
    hash.update(body_digest.0);
    Hash(hash.finalize().into())
}

/// Returns the hash of an idempotency key: SHA-256 over UID, agent and key, separated by zeros.
#[must_use]
pub fn key_hash(key: &str, actor: &Actor) -> Hash {
    let mut bytes = actor.uid.to_be_bytes().to_vec();
    bytes.push(0);
    bytes.extend(actor.agent.as_bytes());
    bytes.push(0);
    bytes.extend(key.as_bytes());
    Hash::of(&bytes)
}

/// Returns the next link: SHA-256 over the previous link, the header's bytes and the payload hash.
#[must_use]
pub fn link(previous: &Hash, header: &[u8], payload: &Hash) -> Hash {
    let mut hash = Sha256::new();
    hash.update(previous.0);
    hash.update(header);
    hash.update(payload.0);
    Hash(hash.finalize().into())
}

/// The stream of an event: its session, else its project, else global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventScope<'e> {
    /// Events of one session.
    Session(&'e str),
    /// Events of one project, outside sessions.
    Project(&'e str),
    /// Events without a session or project.
    Global,
}

/// The reason why an event does not fit the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// The position is not the next one.
    #[error("the position is {found}, expected {expected}")]
    Position {
        /// The stored position.
        found: Position,
        /// The previous event's position plus one.
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
    /// The store's key did not make the event.
    #[error(transparent)]
    Seal(SealError),
}

impl LoggedEvent {
    /// Appends a new event to the chain: after `previous`, at `position` and `time`.
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
            seal: None,
        }
    }

    /// Adds the store's code.
    pub fn seal_with(&mut self, sealer: &Sealer) {
        let code = sealer.seal(&self.header_bytes, &self.payload_hash.0, &self.link.0);
        self.seal = Some(code);
    }

    /// Checks this event against the previous link.
    ///
    /// # Errors
    /// [`ChainError`] with the first mismatch.
    pub fn check(&self, previous: &Hash, expected: Position) -> Result<(), ChainError> {
        if self.header.position != expected {
            return Err(ChainError::Position {
                found: self.header.position,
                expected,
            });
        }
        self.check_content()?;
        if link(previous, &self.header_bytes, &self.payload_hash) != self.link {
            return Err(ChainError::Link);
        }
        Ok(())
    }

    /// Checks what is left of the content against the hashes that the chain covers.
    fn check_content(&self) -> Result<(), ChainError> {
        if let Some(payload) = &self.payload {
            let digest = Hash::of(&payload.body);
            if payload_hash(&payload.salt, &payload.meta, &digest) != self.payload_hash {
                return Err(ChainError::Payload);
            }
        }
        match &self.key {
            Some(key)
                if self.header.key.map(|mark| mark.hash)
                    != Some(key_hash(key, &self.header.actor)) =>
            {
                Err(ChainError::Key)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that this event is what the store recorded: its content and, if the store has a key, its code. This needs
    /// no other event, unlike [`Self::check`].
    ///
    /// # Errors
    /// [`ChainError`] with the first mismatch.
    pub fn check_genuine(&self, sealer: Option<&Sealer>) -> Result<(), ChainError> {
        self.check_content()?;
        let Some(sealer) = sealer else {
            return Ok(());
        };
        let (position, payload, link) = (self.position().0, &self.payload_hash.0, &self.link.0);
        sealer
            .check(
                position,
                &self.header_bytes,
                payload,
                link,
                self.seal.as_ref(),
            )
            .map_err(ChainError::Seal)
    }

    /// Returns the stream of the event.
    #[must_use]
    pub fn scope(&self) -> EventScope<'_> {
        self.header.scope()
    }

    /// Returns the event without its content: header, hashes and link, as the chain needs them.
    #[must_use]
    pub fn without_content(&self) -> Self {
        Self {
            header: self.header.clone(),
            header_bytes: self.header_bytes.clone(),
            payload_hash: self.payload_hash,
            link: self.link,
            payload: None,
            key: None,
            seal: self.seal,
        }
    }

    /// Returns the log position.
    #[must_use]
    pub fn position(&self) -> Position {
        self.header.position
    }
}
