//! Parameters with variables in them: what a call is made of once each variable is replaced by what it stands for.
//!
//! Nothing fails: what cannot be resolved stays as it is and is listed. What a tool returned is never read as a
//! template itself: variables and placeholders are those of the caller's text alone.

mod calls;
mod template;
#[cfg(test)]
mod tests;

use super::names;
use super::resolve::{History, Reason, Resolution, Resolver};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Most calls that one set of parameters is expanded to.
pub const CALLS_MAX: usize = 10_000;
/// Largest reply, in bytes of its values.
pub const REPLY_BYTES_MAX: usize = 64 << 20;
/// Deepest nesting of parameters in which variables are replaced; what lies deeper stays as it is.
pub const DEPTH_MAX: usize = 128;

/// Parameters with their variables replaced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResolvedParameters {
    /// The parameters of one call.
    pub parameters: Value,
    /// The parameters of each call, when a control key asks for several; an empty list gives none.
    pub calls: Option<Vec<Value>>,
    /// Whether there would have been more calls than [`CALLS_MAX`], or larger ones than [`REPLY_BYTES_MAX`] in all.
    pub calls_cut: bool,
    /// Why the call is to be skipped, if it is.
    pub skip: Option<String>,
    /// Keys that were removed without effect.
    pub dropped: Vec<String>,
    /// Names without a value, each once.
    pub unresolved: Vec<UnresolvedName>,
    /// What each name stands for, in the order of first appearance.
    pub resolutions: Vec<Resolution>,
}

/// A name without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedName {
    /// The name as written.
    pub name: String,
    /// Why.
    pub reason: Reason,
    /// Why, as a sentence.
    pub message: String,
}

/// Replaces the variables in `parameters`. `defaults` has values for names that have none.
///
/// # Errors
/// When the history cannot be read.
pub fn resolve_parameters<H: History>(
    resolver: &Resolver<'_, H>,
    parameters: &Value,
    defaults: &Map<String, Value>,
) -> Result<ResolvedParameters, H::Error> {
    let mut lookup = NameLookup::new(resolver, defaults);
    let mut reply = ResolvedParameters::default();
    let template = match parameters {
        Value::Object(members) => calls::expand(members, &mut lookup, &mut reply)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            parameters.clone()
        }
    };
    reply.parameters = template::fill(&template, &template::Bindings::default(), &mut lookup)?;
    reply.unresolved = lookup.unresolved;
    reply.resolutions = lookup.resolutions;
    Ok(reply)
}

/// Looks names up, each once, and keeps account of what was found and how much was handed out.
struct NameLookup<'a, H> {
    resolver: &'a Resolver<'a, H>,
    defaults: HashMap<String, &'a Value>,
    /// Where the resolution of a name is, by its spelling and whether a list was wanted.
    known: HashMap<(String, bool), usize>,
    resolutions: Vec<Resolution>,
    unresolved: Vec<UnresolvedName>,
    missed: HashSet<String>,
    bytes_left: usize,
}

/// What a name is replaced by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replacement {
    Value,
    List,
}

impl<'a, H: History> NameLookup<'a, H> {
    fn new(resolver: &'a Resolver<'a, H>, defaults: &'a Map<String, Value>) -> Self {
        let defaults = defaults.iter().map(|(name, value)| (spelling(name), value));
        NameLookup {
            resolver,
            defaults: defaults.collect(),
            known: HashMap::new(),
            resolutions: Vec::new(),
            unresolved: Vec::new(),
            missed: HashSet::new(),
            bytes_left: REPLY_BYTES_MAX,
        }
    }

    /// The value of a name, else its default; what has neither is listed.
    fn value(&mut self, name: &str, wanted: Replacement) -> Result<Option<Value>, H::Error> {
        let resolution = self.resolution(name, wanted)?;
        if let (Some(reason), Some(message)) = (resolution.reason, resolution.message) {
            self.miss(name, reason, message);
            return Ok(self
                .defaults
                .get(&spelling(name))
                .map(|value| (*value).clone()));
        }
        if self.spend(size(&resolution.value)) {
            return Ok(Some(resolution.value));
        }
        self.miss(
            name,
            Reason::TooLarge,
            format!("the reply would be larger than {REPLY_BYTES_MAX} bytes"),
        );
        Ok(None)
    }

    /// What a name stands for, without listing it when it stands for nothing.
    fn resolution(&mut self, name: &str, wanted: Replacement) -> Result<Resolution, H::Error> {
        let key = (spelling(name), wanted == Replacement::List);
        if let Some(known) = self
            .known
            .get(&key)
            .and_then(|at| self.resolutions.get(*at))
        {
            return Ok(known.clone());
        }
        let resolution = match wanted {
            Replacement::Value => self.resolver.resolve(name)?,
            Replacement::List => self.resolver.resolve_list(name)?,
        };
        self.known.insert(key, self.resolutions.len());
        self.resolutions.push(resolution.clone());
        Ok(resolution)
    }

    fn miss(&mut self, name: &str, reason: Reason, message: String) {
        if !self.missed.insert(spelling(name)) {
            return;
        }
        tracing::warn!(reason = reason.name(), "'{name}' stays as it is: {message}");
        self.unresolved.push(UnresolvedName {
            name: name.to_owned(),
            reason,
            message,
        });
    }

    /// Takes bytes from what the reply may hold; false when it would be too many.
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.unwrap_or(self.bytes_left);
        left.is_some()
    }
}

/// The spelling by which names are the same.
fn spelling(name: &str) -> String {
    names::bare(name).to_ascii_uppercase()
}

/// About how many bytes a value has as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(number) => number.as_str().len(),
        Value::String(text) => text.len() + 2,
        Value::Array(values) => values.iter().map(|value| size(value) + 1).sum::<usize>() + 2,
        Value::Object(members) => {
            members
                .iter()
                .map(|(key, value)| key.len() + size(value) + 4)
                .sum::<usize>()
                + 2
        }
    }
}
