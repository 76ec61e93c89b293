//! Redaction settings: disabled kinds, allowed values, custom rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex_automata::meta::Regex;

use super::Rules;
use super::find::{FINDER, Span, compile};

/// Limit on custom rules, and on allowed values.
const SETTINGS_MAX: usize = 1000;
/// Limit on a rule's name in bytes, which keeps redaction marks recognisable.
const NAME_BYTES_MAX: usize = 48;

/// Redaction settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether redaction is enabled.
    pub enabled: bool,
    /// Disabled kinds.
    pub off: Vec<String>,
    /// Values that are not redacted: literal, or a pattern of the whole value between slashes.
    pub allow: Vec<String>,
    /// Custom kinds, by name.
    pub rules: BTreeMap<String, OwnRule>,
}

/// A custom kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnRule {
    /// Regular expression.
    pub pattern: String,
    /// Group that is the secret; absent for the whole match.
    pub group: Option<usize>,
    /// Case-insensitive words, one of which occurs in each text with such a secret. Without keywords, every text is searched
    /// with the pattern.
    pub keywords: Vec<String>,
}

/// Reason why settings are invalid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Unknown kind.
    #[error("`off` has {name:?}, which is not a kind of secret{}", near(.nearest.as_ref()))]
    Kind {
        /// Name as given.
        name: String,
        /// Most similar known kind.
        nearest: Option<String>,
    },
    /// Invalid pattern.
    #[error("{of}: {problem}")]
    Pattern {
        /// Setting that contains it.
        of: String,
        /// Problem and remedy.
        problem: String,
    },
    /// Invalid rule name or field.
    #[error("the rule {name:?} {problem}")]
    Rule {
        /// Rule name.
        name: String,
        /// Problem and remedy.
        problem: String,
    },
    /// Too many entries.
    #[error("`{of}` has {count} entries; it has at most {SETTINGS_MAX}")]
    TooMany {
        /// Setting.
        of: &'static str,
        /// Number of entries.
        count: usize,
    },
}

/// A compiled custom rule.
#[derive(Debug)]
pub(super) struct CustomRule {
    regex: Regex,
    group: usize,
    /// Matches any of the keywords.
    keywords: Option<Regex>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            off: Vec::new(),
            allow: Vec::new(),
            rules: BTreeMap::new(),
        }
    }
}

/// Implements [`Rules::new`].
pub(super) fn rules(settings: &Settings) -> Result<Rules, Error> {
    let mut rules = Rules {
        is_enabled: settings.enabled,
        ..Rules::default()
    };
    for (of, count) in [
        ("off", settings.off.len()),
        ("allow", settings.allow.len()),
        ("rules", settings.rules.len()),
    ] {
        if count > SETTINGS_MAX {
            return Err(Error::TooMany { of, count });
        }
    }
    for name in &settings.off {
        match FINDER.kind(name).and_then(|kind| rules.off.get_mut(kind)) {
            Some(off) => *off = true,
            None => {
                return Err(Error::Kind {
                    name: name.clone(),
                    nearest: nearest_kind(name).map(str::to_owned),
                });
            }
        }
    }
    for allowed in &settings.allow {
        match allowed
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'))
        {
            None => drop(rules.allowed.insert(allowed.clone())),
            Some(pattern) => {
                let pattern = usable(pattern, || format!("`allow` has /{pattern}/"))?;
                rules.allowed_patterns.push(pattern);
            }
        }
    }
    for (name, rule) in &settings.rules {
        rules.own.push(CustomRule::new(name, rule)?);
        rules.kinds.push(Arc::from(name.as_str()));
    }
    Ok(rules)
}

impl CustomRule {
    fn new(name: &str, rule: &OwnRule) -> Result<Self, Error> {
        let refused = |problem: String| Error::Rule {
            name: name.to_owned(),
            problem,
        };
        let is_of_name =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_of_name) {
            return Err(refused(format!(
                "has no name that a kind can have: lower-case letters, digits and `-`, at most {NAME_BYTES_MAX}"
            )));
        }
        if FINDER.kind(name).is_some() {
            return Err(refused(
                "has the name of a kind that is built in; give it another".to_owned(),
            ));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:= ".contains(&byte);
        if let Some(word) = rule
            .keywords
            .iter()
            .find(|word| word.is_empty() || !word.bytes().all(is_plain))
        {
            return Err(refused(format!(
                "has the keyword {word:?}; each is of ASCII letters, digits, blanks and -_.:="
            )));
        }
        let regex = usable(&rule.pattern, || format!("the rule {name:?}"))?;
        let (group, groups) = (rule.group.unwrap_or(0), regex.captures_len());
        if group >= groups {
            return Err(refused(format!(
                "has the group {group}, and its pattern has {} of them",
                groups - 1
            )));
        }
        let keywords = match rule.keywords.join("|").replace('.', r"\.") {
            none if none.is_empty() => None,
            words => Some(usable(&format!("(?i:{words})"), || {
                format!("the rule {name:?}")
            })?),
        };
        Ok(Self {
            regex,
            group,
            keywords,
        })
    }

    /// Returns whether a JSON text may contain a match. `false` is definite.
    pub(super) fn may_be_in(&self, json: &str) -> bool {
        self.keywords
            .as_ref()
            .is_none_or(|keywords| keywords.is_match(json))
    }

    /// Finds all matches in a text.
    pub(super) fn find(&self, text: &str, kind: usize, spans: &mut Vec<Span>) {
        if !self.may_be_in(text) {
            return;
        }
        for groups in self.regex.captures_iter(text) {
            if let Some(found) = groups
                .get_group(self.group)
                .filter(|found| !found.is_empty())
            {
                spans.push(Span {
                    range: found.range(),
                    kind,
                });
            }
        }
    }
}

/// Compiles a pattern; refuses invalid and too large patterns, and patterns that match the empty text.
fn usable(pattern: &str, of: impl Fn() -> String) -> Result<Regex, Error> {
    let refused = |problem: String| Error::Pattern { of: of(), problem };
    let unusable = |said| refused(format!("no pattern that can be used: {said}"));
    let regex = compile(pattern).map_err(unusable)?;
    match regex.is_match("") {
        true => Err(refused(
            "the pattern matches the empty text; it would find secrets everywhere".to_owned(),
        )),
        false => Ok(regex),
    }
}

/// Returns the most similar kind: one that contains the name or is contained in it, or differs in at most a third of its
/// letters.
fn nearest_kind(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let is_likely = |id: &str, edits: usize| {
        name.len() >= 3 && id.contains(&name)
            || name.contains(id)
            || edits <= name.len().min(id.len()).div_ceil(3)
    };
    let ids = FINDER.ids.iter().filter(|_| name.len() <= NAME_BYTES_MAX);
    let edits = ids.map(|id| (strsim::osa_distance(&name, id), *id));
    let likely = edits.filter(|(edits, id)| is_likely(id, *edits));
    likely.min().map(|(_, id)| id)
}

fn near(nearest: Option<&String>) -> String {
    nearest.map_or_else(String::new, |name| format!("; the nearest is `{name}`"))
}
