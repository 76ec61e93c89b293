//! Reads a context that is mostly the one that the session saved last: what is equal is neither redacted, parsed, put into
//! its canonical form nor hashed again (docs/decisions/0020).
//!
//! The received text is compared with the last one, item by item. What is new makes a short JSON text with the same keys
//! around it, which is redacted and read as the whole would be. The canonical text is made from it and the last one.
//! Whenever anything is unusual the context is read whole, so that errors are those of the whole text.

mod assemble;
mod compare;
mod hashing;
mod known;
mod scanner;
#[cfg(test)]
mod tests;
mod units;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use lore::protocol::within_limits;
use lored_redact::{Rules, SecretCounts};

use assemble::{Assembly, Text};
use compare::Comparison;
use scanner::NextItem;
use units::{Kind, plain_key};

use super::edits::Edits;
use crate::budget;
use crate::canonical::{Canonical, Entry};
use crate::operation::{Caller, Context, RawCall};

pub use hashing::TextHash;
pub use known::{KNOWN_BYTES_MIN, KnownContext, KnownPiece, place};
pub use units::Unit;

/// Maximum number of keys and items that a context has when it is not counted, as in [`within_limits`].
const VALUES_MAX: usize = lore::protocol::VALUES_MAX;

/// A context that was read with the help of the last one.
pub struct Reread {
    /// The rules of redaction under which nothing in it was redacted.
    pub rules: Arc<Rules>,
    /// The text as it was received.
    pub raw: Arc<Vec<u8>>,
    /// At least the number of its keys and items.
    pub values_max: usize,
    /// The canonical text.
    pub canonical: Arc<Canonical>,
    units: Vec<Unit>,
    /// The last context.
    pub known: Arc<KnownContext>,
    /// How the canonical text was made from that of the last context.
    pub edits: Edits,
}

impl Reread {
    /// Returns its units, for the next context.
    pub fn units(&mut self) -> OnceLock<Option<Arc<Vec<Unit>>>> {
        OnceLock::from(Some(Arc::new(std::mem::take(&mut self.units))))
    }
}

/// Reads the arguments of a save whose context is mostly known; returns them if they have to be read whole.
///
/// The returned call has an empty context in its arguments, and the [`Reread`] beside them.
///
/// # Errors
/// The arguments.
pub fn read(cx: &Context, caller: &Caller, args: Vec<u8>) -> Result<RawCall, Vec<u8>> {
    match reread(cx, caller, &args) {
        Some((short, context, partial)) => {
            let mut raw = args;
            raw.truncate(context.end);
            raw.drain(..context.start);
            Ok(RawCall {
                args: short,
                warning: None,
                clean_under: Some(Arc::clone(&partial.rules)),
                known: Some(Box::new(Reread {
                    raw: Arc::new(raw),
                    ..partial
                })),
            })
        }
        None => Err(args),
    }
}

fn reread(cx: &Context, caller: &Caller, args: &[u8]) -> Option<(Vec<u8>, Range<usize>, Reread)> {
    if args.len() < KNOWN_BYTES_MIN {
        return None;
    }
    let (start, session) = context_of(args)?;
    let known: Arc<KnownContext> = cx.cache.get(&place(caller, session.as_deref()))?;
    let rules = cx.redactor.rules();
    if !Arc::ptr_eq(&known.rules, &rules) {
        return None;
    }
    let is_clean = |args: &[u8]| {
        let mut found = SecretCounts::default();
        let redacted = cx.redactor.json(args, &mut found);
        matches!(redacted, Cow::Borrowed(_)) && found.is_empty()
    };
    let (before, text) = args.split_at_checked(start)?;
    let (reread, end) = compared(text, &known, |rest, end| {
        let after = text.get(end..).unwrap_or_default();
        let all = [before, rest, after].concat();
        within_limits(&all).is_ok() && str::from_utf8(&all).is_ok() && is_clean(&all)
    })?;
    let short = [before, b"{}", text.get(end..)?].concat();
    Some((short, start..start + end, reread))
}

/// Compares the context at the beginning of a text with a known one, and makes its canonical text. `may_read` gets what is
/// new in it as JSON, and its end. Returns the end, too.
fn compared(
    text: &[u8],
    known: &Arc<KnownContext>,
    may_read: impl FnOnce(&[u8], usize) -> bool,
) -> Option<(Reread, usize)> {
    let units = known.units()?;
    let (comparison, end) = Comparison::of(text, &known.raw, units)?;
    let raw = text.get(..end)?;
    // What is mostly new is read faster whole.
    if comparison.rest.len() > raw.len() / 2 {
        return None;
    }
    let values_max = known.values_max.checked_add(comparison.rest.len())?;
    if values_max > VALUES_MAX || !may_read(&comparison.rest, end) {
        return None;
    }
    budget::reserve(raw.len() + units.len() * size_of::<Unit>()).ok()?;
    let rest = Canonical::of_bytes(&comparison.rest).ok()?;
    let known_text = Text {
        canonical: known.canonical.text.as_bytes(),
        units,
    };
    let steps = &comparison.steps;
    let assembly = Assembly::of(raw, known_text, rest.text.as_bytes(), steps)?;
    let (units, edits) = (assembly.units, assembly.edits);
    let text = String::from_utf8(assembly.canonical).ok()?;
    let entries = entries(&text, &units)?;
    let reread = Reread {
        rules: Arc::clone(&known.rules),
        raw: Arc::default(),
        values_max,
        canonical: Arc::new(Canonical { text, entries }),
        units,
        known: Arc::clone(known),
        edits,
    };
    Some((reread, end))
}

/// Lists the top-level keys of a canonical text from its units.
fn entries(text: &str, units: &[Unit]) -> Option<Vec<Entry>> {
    let root = units.first()?;
    let mut entries = Vec::new();
    let mut number = 1;
    while number < root.next {
        let unit = units.get(number as usize)?;
        let key = text.as_bytes().get(unit.canonical_key())?;
        let member = unit.canonical();
        entries.push(Entry {
            key: plain_key(key)?.to_owned(),
            value: member.start + unit.canonical_value as usize..member.end,
            member,
        });
        number = unit.next;
    }
    if root.kind != (Kind::Object { is_ordered: true }) {
        entries.sort_unstable_by_key(|entry| entry.member.start);
    }
    Some(entries)
}

/// Returns a bound of the number of keys and items of a JSON text.
#[must_use]
pub fn values_max(text: &str) -> usize {
    if text.len() <= VALUES_MAX {
        return text.len();
    }
    let begins_one = |byte: &u8| matches!(byte, b',' | b':' | b'[' | b'{');
    text.as_bytes()
        .iter()
        .filter(|byte| begins_one(byte))
        .count()
}

/// Finds the beginning of the context in the arguments of a save, and the session.
fn context_of(args: &[u8]) -> Option<(usize, Option<String>)> {
    let start = scanner::blank(args, 0);
    if args.get(start) != Some(&b'{') {
        return None;
    }
    let (mut context, mut session) = (None, None);
    let mut next = scanner::first_item(args, start, b'}');
    while let NextItem::Item(at) = next {
        let member = scanner::member(args, at)?;
        let key = plain_key(args.get(at..member.key_end)?)?;
        if key == "context" {
            context = Some(member.value).filter(|at| args.get(*at) == Some(&b'{'));
            context?;
        }
        // A session mostly comes first, and then the end of the context is found as it is compared.
        if context.is_some() && session.is_some() {
            break;
        }
        let end = scanner::value_end(args, member.value)?;
        if matches!(key, "sessionId" | "session_id" | "session") {
            let text = plain_key(args.get(member.value..end)?);
            session = text.map(str::to_owned);
        }
        next = scanner::next_item(args, end, b'}')?;
    }
    Some((context?, session))
}
