//! Validation of a line, alone and in relation to earlier lines: as strict as the operations that
//! record these events.

use std::collections::{BTreeSet, HashMap, HashSet};

use lore::protocol::{RawObject, SessionId};

use super::lines::Payload;
use super::payloads::{
    Checkpoint, Created, Entity, EntityRef, Extractor, FoundIn, Mapping, Mark, Mention, Message,
    Resolved, Source, Step, Tool, Updated,
};
use super::read::sanitized;
use crate::canonical::Canonical;
use crate::checkpoints::{CheckpointKey, Limits, Metadata};
use crate::clock::parse_time;
use crate::log::Hash;
use crate::messages::operations::{TOOL_BYTES_MAX, TOOLS_MAX};
use crate::sessions::operations::{PREFERENCES_BYTES_MAX, check_tags, check_texts};
use crate::steps::extract::{ExtractorSet, FieldMapping, REGISTERED_MAX};
use crate::steps::normalise;
use crate::steps::operations::{PURPOSE_BYTES_MAX, STEP_MAX};

/// Maximum number of entities that all lines together mention.
const MENTIONS_MAX: usize = 100_000;
/// Maximum number of extractors and field mappings of a session: each is tried on import.
const REGISTRATIONS_MAX: usize = 1000;
/// Maximum length of entity kinds and relation names, in bytes.
const WORD_BYTES_MAX: usize = 64;
/// Maximum length of names, keys and ids of entities, in bytes.
const NAME_BYTES_MAX: usize = 1024;
/// Maximum attempt of a step: far below the type's maximum, so that there is always a next one.
const ATTEMPT_MAX: u32 = 1_000_000_000;

/// State of the earlier lines.
#[derive(Default)]
pub struct Checker {
    messages: HashSet<String>,
    executions: HashSet<String>,
    /// The last attempt of each step.
    attempts: HashMap<u32, u32>,
    checkpoints: HashSet<CheckpointKey>,
    marks: BTreeSet<String>,
    mentions: usize,
    registrations: usize,
    /// Names of extractors and mapped fields.
    extractors: BTreeSet<String>,
    mapped: BTreeSet<String>,
    has_begun: bool,
}

impl Checker {
    /// Validates event `n`; returns the canonical form of a checkpoint's context.
    ///
    /// # Errors
    /// The fault and the expected value.
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
        match payload {
            Payload::SessionCreated(created) => begun(created)?,
            Payload::SessionUpdated(updated) => set(updated)?,
            Payload::SessionClosed(closed) => texts([("reason", closed.reason.as_ref())])?,
            Payload::MessageRecorded(message) => self.message(message)?,
            Payload::ToolRecorded(tool) => self.tool(tool)?,
            Payload::StepRecorded(step) => self.step(step)?,
            Payload::ExtractorRegistered(extractor) => self.extractor(extractor)?,
            Payload::FieldMappingRegistered(mapping) => self.mapping(mapping)?,
            Payload::EntitiesFound(found) => {
                rules(&found.rules)?;
                found.found.iter().try_for_each(|one| self.found(one))?;
            }
            Payload::EntitiesRelated(related) => {
                word("relation", &related.relation)?;
                entity(&related.from)?;
                entity(&related.to)?;
            }
            Payload::EntityResolved(resolved) => self.resolved(resolved)?,
            Payload::CheckpointSaved(checkpoint) => return self.checkpoint(checkpoint).map(Some),
            Payload::KeyMarked(mark) => self.mark(mark)?,
            Payload::ContextPruned(pruned) => {
                let mut messages = pruned.messages.iter();
                messages.try_for_each(|one| id("messages", one))?;
                references("entities", &pruned.entities)?;
            }
            Payload::ContextUnpruned(_) => {}
        }
        Ok(None)
    }

    /// Checks that the session's beginning was read.
    ///
    /// # Errors
    /// When it is missing.
    pub fn end(&self) -> Result<(), String> {
        match self.has_begun {
            true => Ok(()),
            false => Err("there is no event; the first one is SessionCreated".to_owned()),
        }
    }

    fn message(&mut self, message: &Message) -> Result<(), String> {
        id("message", &message.message)?;
        if message.tools.len() > TOOLS_MAX {
            let count = message.tools.len();
            return Err(format!(
                "`tools` has {count} items; a message names at most {TOOLS_MAX}"
            ));
        }
        message
            .tools
            .iter()
            .try_for_each(|tool| named(&tool.name))?;
        texts([("pack", message.pack.as_ref())])?;
        let bytes = message.content.len() as u64;
        let is_within = |span: &(u32, u32)| span.0 <= span.1 && u64::from(span.1) <= bytes;
        if let Some(span) = message.quoted.iter().find(|span| !is_within(span)) {
            return Err(format!(
                "`quoted` has {span:?}; `content` has {bytes} bytes, and a start must come before its end"
            ));
        }
        rules(&message.rules)?;
        self.mentions(&message.mentions)?;
        if self.messages.insert(message.message.clone()) {
            return Ok(());
        }
        Err(format!(
            "the message `{}` is on an earlier line; each id occurs once",
            message.message
        ))
    }

    fn tool(&mut self, tool: &Tool) -> Result<(), String> {
        id("execution", &tool.execution)?;
        named(&tool.tool)?;
        rules(&tool.rules)?;
        self.mentions(&tool.mentions)?;
        self.executions.insert(tool.execution.clone());
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        if step.step == 0 || step.step > STEP_MAX {
            return Err(format!(
                "`step` is {}; step numbers go from 1 to {STEP_MAX}",
                step.step
            ));
        }
        if step.tool.trim().is_empty() || step.tool.len() > TOOL_BYTES_MAX {
            return Err(format!(
                "`tool` is the name of a tool, 1 to {TOOL_BYTES_MAX} bytes"
            ));
        }
        let purpose = step.purpose.as_ref().map_or(0, String::len);
        if purpose > PURPOSE_BYTES_MAX {
            return Err(format!(
                "`purpose` has {purpose} bytes; at most {PURPOSE_BYTES_MAX} are kept"
            ));
        }
        if step.result.is_none() && step.error.is_none() {
            return Err("a step has a `result`, or an `error` that says why not".to_owned());
        }
        // If attempts were forgotten, later ones keep their numbers.
        let least = self.attempts.get(&step.step).map_or(1, |before| before + 1);
        if !(least..=ATTEMPT_MAX).contains(&step.attempt) {
            return Err(format!(
                "`attempt` of step {} is {} where {least} comes next, or a greater one up to {ATTEMPT_MAX}",
                step.step, step.attempt
            ));
        }
        self.attempts.insert(step.step, step.attempt);
        Ok(())
    }

    fn extractor(&mut self, extractor: &Extractor) -> Result<(), String> {
        self.registration()?;
        let tried = crate::steps::extract::Extractor {
            name: extractor.name.clone(),
            pattern: extractor.pattern.clone(),
            group: extractor.group,
            fields: extractor.fields.clone(),
        };
        let set = ExtractorSet::new(&[tried], &[]);
        set.map_err(|invalid| invalid.to_string())?;
        one_more(&mut self.extractors, &extractor.name, "extractors")
    }

    fn mapping(&mut self, mapping: &Mapping) -> Result<(), String> {
        self.registration()?;
        let tried = FieldMapping {
            field: mapping.field.clone(),
            aliases: mapping.aliases.clone(),
        };
        let set = ExtractorSet::new(&[], &[tried]);
        set.map_err(|invalid| invalid.to_string())?;
        one_more(&mut self.mapped, &mapping.field, "field mappings")
    }

    fn registration(&mut self) -> Result<(), String> {
        self.registrations += 1;
        if self.registrations > REGISTRATIONS_MAX {
            return Err(format!(
                "a session has at most {REGISTRATIONS_MAX} extractors and field mappings"
            ));
        }
        Ok(())
    }

    fn found(&mut self, one: &FoundIn) -> Result<(), String> {
        let (is_there, what) = match &one.source {
            Source::Message(message) => (
                self.messages.contains(message),
                format!("message {}", sanitized(message)),
            ),
            Source::Tool(execution) => (
                self.executions.contains(execution),
                format!("execution {}", sanitized(execution)),
            ),
            Source::Step { step, attempt } => (
                self.attempts.get(step).is_some_and(|last| attempt <= last),
                format!("attempt {attempt} of step {step}"),
            ),
        };
        if !is_there {
            return Err(format!(
                "`source` names no earlier line: there is no {what}"
            ));
        }
        self.mentions(&one.mentions)
    }

    fn resolved(&mut self, resolved: &Resolved) -> Result<(), String> {
        entity(&resolved.entity)?;
        name("resolver", &resolved.resolver)?;
        optional("id", resolved.id.as_deref())?;
        optional("slug", resolved.slug.as_deref())?;
        parse_time(&resolved.expires).ok_or_else(|| {
            format!(
                "`expires` is not an RFC 3339 time: {}",
                sanitized(&resolved.expires)
            )
        })?;
        references("parents", &resolved.parents)?;
        self.mentions(&resolved.around)
    }

    fn mentions(&mut self, mentions: &[Mention]) -> Result<(), String> {
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
            self.mentions += mention.parents.len();
            references("parents", &mention.parents)?;
            if mention.span.is_some_and(|(start, end)| start > end) {
                return Err("a `span` ends before it starts".to_owned());
            }
        }
        Ok(())
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<Canonical, String> {
        let key = checkpoint_key("checkpoint", &checkpoint.checkpoint)?;
        if let Some(from) = &checkpoint.forked_from {
            checkpoint_key("forked_from", from)?;
        }
        let context = Canonical::of(checkpoint.context.as_str())
            .map_err(|malformed| format!("`context` cannot be kept: {malformed}"))?;
        if let Some(hash) = &checkpoint.hash {
            let is = Hash::of(context.text.as_bytes()).to_string();
            if *hash != is {
                return Err(format!(
                    "`hash` is {}, and that of `context` is {is}: one of them was changed",
                    sanitized(hash)
                ));
            }
        }
        if let Some(metadata) = &checkpoint.metadata {
            let map = serde_json::from_str(metadata.as_str())
                .map_err(|error| format!("`metadata` is not an object: {error}"))?;
            Metadata::of(Some(map)).map_err(|refusal| refusal.message)?;
        }
        if !self.checkpoints.insert(key) {
            return Err(format!(
                "the checkpoint `{key}` is on an earlier line; each id occurs once"
            ));
        }
        Ok(context)
    }

    fn mark(&mut self, mark: &Mark) -> Result<(), String> {
        let (bytes, max) = (mark.key.len(), Limits::MARK_BYTES_MAX);
        if bytes > max {
            return Err(format!(
                "`key` has {bytes} bytes; keys of up to {max} can be marked"
            ));
        }
        if mark.unmarked {
            self.marks.remove(&mark.key);
        } else {
            self.marks.insert(mark.key.clone());
        }
        if self.marks.len() > Limits::MARKS_MAX {
            return Err(format!(
                "a session has at most {} critical keys",
                Limits::MARKS_MAX
            ));
        }
        Ok(())
    }
}

fn begun(created: &Created) -> Result<(), String> {
    texts([
        ("title", created.title.as_ref()),
        ("user", created.user.as_ref()),
        ("topic", created.topic.as_ref()),
    ])?;
    tags(&created.tags)?;
    preferences(created.preferences.as_ref())
}

fn set(updated: &Updated) -> Result<(), String> {
    texts([
        ("title", updated.title.as_ref()),
        ("topic", updated.topic.as_ref()),
    ])?;
    let all = updated.tags.as_deref().unwrap_or_default();
    [all, &updated.add_tags, &updated.remove_tags]
        .into_iter()
        .try_for_each(tags)?;
    preferences(updated.preferences.as_ref())
}

fn texts<'t>(
    texts: impl IntoIterator<Item = (&'static str, Option<&'t String>)>,
) -> Result<(), String> {
    check_texts(texts).map_err(|refusal| refusal.message)
}

fn tags(tags: &[String]) -> Result<(), String> {
    check_tags(tags).map_err(|refusal| refusal.message)
}

fn preferences(preferences: Option<&RawObject>) -> Result<(), String> {
    let bytes = preferences.map_or(0, |preferences| preferences.as_str().len());
    if bytes > PREFERENCES_BYTES_MAX {
        return Err(format!(
            "`preferences` have {bytes} bytes; at most {PREFERENCES_BYTES_MAX} are kept"
        ));
    }
    Ok(())
}

/// Checks an id against the common alphabet of ids.
fn id(field: &str, text: &str) -> Result<(), String> {
    match SessionId::new(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!(
            "`{field}` is {}: {}",
            sanitized(text),
            error.to_string().replace("a session id", "an id")
        )),
    }
}

fn checkpoint_key(field: &str, text: &str) -> Result<CheckpointKey, String> {
    CheckpointKey::parse(text).ok_or_else(|| {
        format!(
            "`{field}` is {}; the id of a checkpoint is a UUID such as \
             0900eb95-fa02-4c89-b5dc-9be41f83ef66",
            sanitized(text)
        )
    })
}

/// Checks the name of a tool.
fn named(tool: &str) -> Result<(), String> {
    let is_name = !tool.trim().is_empty()
        && tool.len() <= TOOL_BYTES_MAX
        && !tool.chars().any(char::is_control);
    if is_name {
        return Ok(());
    }
    Err(format!(
        "the name of a tool has 1 to {TOOL_BYTES_MAX} bytes and no control characters"
    ))
}

fn entity(one: &Entity) -> Result<(), String> {
    word("kind", &one.kind)?;
    name("key", &one.key)?;
    name("name", &one.name)
}

fn references(field: &str, all: &[EntityRef]) -> Result<(), String> {
    all.iter().try_for_each(|one| {
        word(&format!("{field}.kind"), &one.kind)?;
        name(&format!("{field}.key"), &one.key)
    })
}

/// Adds the name of a registration, up to the limit.
fn one_more(names: &mut BTreeSet<String>, name: &str, what: &str) -> Result<(), String> {
    names.insert(normalise(name));
    if names.len() > REGISTERED_MAX {
        return Err(format!(
            "a session has at most {REGISTERED_MAX} {what} of different names"
        ));
    }
    Ok(())
}

fn word(field: &str, word: &str) -> Result<(), String> {
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

fn name(field: &str, text: &str) -> Result<(), String> {
    let is_name = (1..=NAME_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control);
    if is_name {
        return Ok(());
    }
    Err(format!(
        "`{field}` is {}; it has 1 to {NAME_BYTES_MAX} bytes and no control characters",
        sanitized(text)
    ))
}

fn optional(field: &str, text: Option<&str>) -> Result<(), String> {
    text.map_or(Ok(()), |text| name(field, text))
}

fn rules(text: &str) -> Result<(), String> {
    super::hex::bytes(text).map(drop).ok_or_else(|| {
        format!(
            "`rules` is {}; it has an even number of hexadecimal digits",
            sanitized(text)
        )
    })
}
