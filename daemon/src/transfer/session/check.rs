//! Validation of lines: what all kinds share. [`kinds`](super::kinds) checks each payload.

use std::collections::{BTreeSet, HashMap, HashSet};

use lore::protocol::SessionId;

use super::hex;
use super::kinds::{EntityRef, Mention, Payload, PossibleMention};
use super::read::sanitized;
use crate::canonical::Canonical;
use crate::checkpoints::CheckpointKey;
use crate::steps::extract::REGISTERED_MAX;
use crate::steps::normalise;

/// Maximum number of entities that all lines together mention.
const MENTIONS_MAX: usize = 100_000;
/// Maximum number of extractors and field mappings of a session: each is tried on import.
const REGISTRATIONS_MAX: usize = 1000;
/// Maximum length of entity kinds and relation names, in bytes.
const WORD_BYTES_MAX: usize = 64;
/// Maximum length of names, keys and ids of entities, in bytes.
const NAME_BYTES_MAX: usize = 1024;

/// State of the earlier lines.
#[derive(Default)]
pub struct Checker {
    pub(super) messages: HashSet<String>,
    pub(super) executions: HashSet<String>,
    /// The last attempt of each step.
    pub(super) attempts: HashMap<u32, u32>,
    pub(super) checkpoints: HashSet<CheckpointKey>,
    pub(super) marks: BTreeSet<String>,
    /// Names of extractors and mapped fields.
    pub(super) extractors: BTreeSet<String>,
    pub(super) mapped: BTreeSet<String>,
    /// Canonical form of the context, if the current line is a checkpoint.
    pub(super) context: Option<Canonical>,
    mentions: usize,
    registrations: usize,
    has_begun: bool,
}

impl Checker {
    /// Validates event `n`; returns the canonical form of a checkpoint's context.
    pub fn check(&mut self, n: u64, payload: &Payload) -> Result<Option<Canonical>, String> {
        let is_beginning = matches!(payload, Payload::SessionCreated(_));
        if is_beginning != (n == 1) {
            return Err(if is_beginning {
                "a session begins once, with its first event".to_owned()
            } else {
                format!(
                    "the first event is SessionCreated, not {}; its payload may be empty",
                    payload.kind()
                )
            });
        }
        self.has_begun = true;
        payload.check(self)?;
        Ok(self.context.take())
    }

    /// Checks that the session's beginning was read.
    pub fn end(&self) -> Result<(), String> {
        match self.has_begun {
            true => Ok(()),
            false => Err("no events; the first one must be SessionCreated".to_owned()),
        }
    }

    pub(super) fn registration(&mut self) -> Result<(), String> {
        self.registrations += 1;
        if self.registrations > REGISTRATIONS_MAX {
            return Err(format!(
                "a session has at most {REGISTRATIONS_MAX} extractors and field mappings"
            ));
        }
        Ok(())
    }

    pub(super) fn possible(
        &self,
        possible: &[PossibleMention],
        marked: &[String],
    ) -> Result<(), String> {
        if possible.len() > FEW_MAX {
            let count = possible.len();
            return Err(format!(
                "`possible` has {count} items; at most {FEW_MAX} are kept"
            ));
        }
        for one in possible {
            word("kind", &one.kind)?;
            name("key", &one.key)?;
            name("name", &one.name)?;
        }
        few("marked", marked)
    }

    pub(super) fn mentions(&mut self, mentions: &[Mention]) -> Result<(), String> {
        self.mentions += mentions.len();
        if self.mentions > MENTIONS_MAX {
            return Err(format!(
                "the lines up to here mention {} entities; at most {MENTIONS_MAX} are imported at once",
                self.mentions
            ));
        }
        for mention in mentions {
            word("kind", &mention.kind)?;
            name("key", &mention.key)?;
            name("name", &mention.name)?;
            optional("id", mention.id.as_deref())?;
            optional("slug", mention.slug.as_deref())?;
            few("aliases", &mention.aliases)?;
            few("words", &mention.words)?;
            self.mentions += mention.parents.len();
            references("parents", &mention.parents)?;
            if mention.span.is_some_and(|(start, end)| start > end) {
                return Err("a `span` ends before it starts".to_owned());
            }
        }
        Ok(())
    }
}

/// Maximum number of short texts in a list of a mention.
const FEW_MAX: usize = 64;

/// Checks a short list of short texts.
fn few(field: &str, texts: &[String]) -> Result<(), String> {
    if texts.len() > FEW_MAX {
        return Err(format!(
            "`{field}` has {} items; at most {FEW_MAX} are kept",
            texts.len()
        ));
    }
    texts.iter().try_for_each(|text| name(field, text))
}

/// Checks an id against the common alphabet of ids.
pub(super) fn id(field: &str, text: &str) -> Result<(), String> {
    match SessionId::new(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!(
            "`{field}` is {}: {}",
            sanitized(text),
            error.to_string().replace("a session id", "an id")
        )),
    }
}

pub(super) fn references(field: &str, all: &[EntityRef]) -> Result<(), String> {
    all.iter().try_for_each(|one| {
        word(&format!("{field}.kind"), &one.kind)?;
        name(&format!("{field}.key"), &one.key)
    })
}

/// Adds the name of a registration, up to the limit.
pub(super) fn one_more(names: &mut BTreeSet<String>, name: &str, what: &str) -> Result<(), String> {
    names.insert(normalise(name));
    if names.len() > REGISTERED_MAX {
        return Err(format!(
            "a session has at most {REGISTERED_MAX} {what} of different names"
        ));
    }
    Ok(())
}

pub(super) fn word(field: &str, word: &str) -> Result<(), String> {
    let is_word = (1..=WORD_BYTES_MAX).contains(&word.len())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if is_word {
        return Ok(());
    }
    Err(format!(
        "`{field}` is {}; it has 1 to {WORD_BYTES_MAX} lower-case letters, digits and `_`",
        sanitized(word)
    ))
}

pub(super) fn name(field: &str, text: &str) -> Result<(), String> {
    let is_name = (1..=NAME_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control);
    if is_name {
        return Ok(());
    }
    Err(format!(
        "`{field}` is {}; it has 1 to {NAME_BYTES_MAX} bytes and no control characters",
        sanitized(text)
    ))
}

pub(super) fn optional(field: &str, text: Option<&str>) -> Result<(), String> {
    text.map_or(Ok(()), |text| name(field, text))
}

pub(super) fn rules(text: &str) -> Result<(), String> {
    hex::bytes(text).map(drop).ok_or_else(|| {
        format!(
            "`rules` is {}; it has an even number of hexadecimal digits",
            sanitized(text)
        )
    })
}
