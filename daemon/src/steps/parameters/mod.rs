//! Parameters with variables: each variable of a call is replaced by its value.
//!
//! Resolution never fails: an unresolved name stays unchanged and is listed. A tool's output is never treated as a
//! template: variables and placeholders come only from the caller's text.

mod calls;
mod template;
#[cfg(test)]
mod tests;

use super::names;
use super::resolve::{History, Reason, Resolution, Resolver};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Maximum number of calls that one set of parameters expands to.
pub const CALLS_MAX: usize = 10_000;
/// Maximum size of a reply, in bytes of its values.
pub const REPLY_BYTES_MAX: usize = 64 << 20;
/// Maximum nesting depth at which variables are replaced. Deeper values stay unchanged.
pub const DEPTH_MAX: usize = 128;

/// Parameters with resolved variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResolvedParameters {
    /// Parameters of a single call.
    pub parameters: Value,
    /// Parameters of each call, if a control key requests several. An empty list gives no calls.
    pub calls: Option<Vec<Value>>,
    /// Whether calls were cut because of [`CALLS_MAX`] or [`REPLY_BYTES_MAX`].
    pub calls_cut: bool,
    /// Reason to skip the call, if a condition does not hold.
    pub skip: Option<String>,
    /// Unknown control keys that were removed.
    pub dropped: Vec<String>,
    /// Distinct names without a value.
    pub unresolved: Vec<UnresolvedName>,
    /// Resolutions of all names, in the order of first appearance.
    pub resolutions: Vec<Resolution>,
}

/// A name without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedName {
    /// Name, as written.
    pub name: String,
    /// Reason code.
    pub reason: Reason,
    /// Reason as a sentence.
    pub message: String,
}

/// Replaces the variables in `parameters`. `defaults` supplies values for unresolved names.
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

/// Resolves each name once. Collects the resolutions and limits the size of the reply.
struct NameLookup<'a, H> {
    resolver: &'a Resolver<'a, H>,
    defaults: HashMap<String, &'a Value>,
    /// Index of a name's resolution, by its spelling and whether a list is required.
    known: HashMap<(String, bool), usize>,
    resolutions: Vec<Resolution>,
    unresolved: Vec<UnresolvedName>,
    missed: HashSet<String>,
    bytes_left: usize,
}

/// Whether a name is replaced by one value or by a list.
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

    /// Returns the value of a name or its default. A name without a value is listed as unresolved.
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

    /// Returns the resolution of a name without listing it as unresolved.
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
        self.unresolved.push(UnresolvedName {
            name: name.to_owned(),
            reason,
            message,
        });
    }

    /// Charges bytes to the reply; false if they exceed its limit.
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.unwrap_or(self.bytes_left);
        left.is_some()
    }
}

/// Normalises a name, so that different spellings compare equal.
fn spelling(name: &str) -> String {
    names::bare(name).to_ascii_uppercase()
}

/// Estimates the size of a value as JSON, in bytes.
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
