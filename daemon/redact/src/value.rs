//! Redaction of parsed JSON, and the names that apply to a value.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::json::{self, NESTING_MAX};
use super::{Rules, SecretCounts};

/// Keys of values that are described by the key above them, or by an adjacent name.
const VALUE_KEYS: [&str; 5] = ["value", "Value", "content", "default", "_value"];
/// Keys of names that describe adjacent values.
const NAME_KEYS: [&str; 6] = ["name", "Name", "key", "Key", "variable", "header"];

/// Whether the value under this key may decide what values under adjacent keys are taken for.
#[must_use]
pub fn names_siblings(key: &str) -> bool {
    NAME_KEYS.contains(&key)
}

/// Whether values under adjacent keys may decide what the value under this key is taken for.
#[must_use]
pub fn is_named_by_siblings(key: &str) -> bool {
    VALUE_KEYS.contains(&key)
}

/// The names that apply to a value.
#[derive(Clone, Copy, Default)]
pub(super) struct NamePath<'n> {
    /// Its key, or the key of the list that contains it.
    key: Option<&'n str>,
    /// Its described name: `{"name": "API_KEY", "value": …}`, `{"password": {"value": …}}`.
    called: Option<&'n str>,
}

impl<'n> NamePath<'n> {
    /// Returns the names for a value under a key; `called` is the text of an adjacent `name`.
    pub(super) fn below<'b>(&self, key: &'b str, called: Option<&'b str>) -> NamePath<'b>
    where
        'n: 'b,
    {
        let is_value = is_named_by_siblings(key);
        NamePath {
            key: Some(key),
            called: if is_value { called.or(self.key) } else { None },
        }
    }

    /// Returns the name that decides about a value.
    pub(super) fn of_value(&self) -> Option<&'n str> {
        self.called.or(self.key)
    }

    /// Returns whether a value is the name of an adjacent value.
    pub(super) fn is_a_name(&self) -> bool {
        self.key.is_some_and(names_siblings)
    }
}

/// Replaces the secrets in the strings of a value.
pub(super) fn redact(rules: &Rules, value: &mut Value, found: &mut SecretCounts) {
    below(rules, NamePath::default(), value, found);
}

fn below(rules: &Rules, names: NamePath<'_>, value: &mut Value, found: &mut SecretCounts) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            if let Cow::Owned(redacted) = json::string(rules, names, text, NESTING_MAX, found) {
                *text = redacted;
            }
        }
        Value::Array(items) => {
            for item in items {
                below(rules, names, item, found);
            }
        }
        Value::Object(object) => of_object(rules, names, object, found),
    }
}

fn of_object(
    rules: &Rules,
    above: NamePath<'_>,
    object: &mut Map<String, Value>,
    found: &mut SecretCounts,
) {
    let mut called: Option<String> = None;
    let mut has_secret_keys = false;
    for (key, value) in object.iter_mut() {
        let names = above.below(key, called.as_deref());
        let name = names.is_a_name().then(|| value.as_str().map(str::to_owned));
        below(rules, names, value, found);
        has_secret_keys = has_secret_keys || !rules.findings(key).is_empty();
        if let Some(name) = name {
            called = name;
        }
    }
    if has_secret_keys {
        let mut taken = UsedKeys::default();
        let old = std::mem::take(object);
        object.extend(
            old.into_iter()
                .map(|(key, value)| match rules.under(None, &key, found) {
                    Cow::Borrowed(_) => (key, value),
                    Cow::Owned(redacted) => (taken.free(redacted), value),
                }),
        );
    }
}

/// Redacted keys of an object, numbered to stay distinct.
#[derive(Default)]
pub(super) struct UsedKeys(HashMap<String, usize>);

impl UsedKeys {
    /// Returns a redacted key that is not used in the object yet.
    pub(super) fn free(&mut self, key: String) -> String {
        let count = self.0.entry(key.clone()).or_default();
        *count += 1;
        match *count {
            1 => key,
            count => format!("{key} ({count})"),
        }
    }
}
