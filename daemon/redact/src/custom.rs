//! What the settings say: kinds that are off, what is never redacted, rules of the user's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex_automata::meta::Regex;

use super::Rules;
use super::find::{FINDER, Span, compile};

/// Most rules, and most values that are never redacted.
const SETTINGS_MAX: usize = 1000;
/// Longest name of a rule, in bytes: with it a mark is recognised as one.
const NAME_BYTES_MAX: usize = 48;

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether anything is redacted.
    pub enabled: bool,
    /// Kinds that are not.
    pub off: Vec<String>,
    /// Values that are not: as they are written, or between slashes a pattern of the whole value.
    pub allow: Vec<String>,
    /// Further kinds, by their names.
    pub rules: BTreeMap<String, OwnRule>,
}

/// A kind of the user's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnRule {
    /// A regular expression.
    pub pattern: String,
    /// Which group of it is the secret; absent: all that it matches.
    pub group: Option<usize>,
    /// Words of any case of which each text with such a secret has one; without any, each text is
    /// searched with the pattern.
    pub keywords: Vec<String>,
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// A kind is none.
    #[error("`off` has {name:?}, which is not a kind of secret{}", near(.nearest.as_ref()))]
    Kind {
        /// As given.
        name: String,
        /// The nearest that there is.
        nearest: Option<String>,
    },
    /// A pattern cannot be used.
    #[error("{of}: {problem}")]
    Pattern {
        /// What has it.
        of: String,
        /// What is wrong, and what is wanted.
        problem: String,
    },
    /// A rule cannot be what it is called, or has what no rule can have.
    #[error("the rule {name:?} {problem}")]
    Rule {
        /// Its name.
        name: String,
        /// What is wrong, and what is wanted.
        problem: String,
    },
    /// There are too many of something.
    #[error("`{of}` has {count} entries; it has at most {SETTINGS_MAX}")]
    TooMany {
        /// Of what.
        of: &'static str,
        /// How many.
        count: usize,
    },
}

/// A rule, ready to be looked for.
#[derive(Debug)]
pub(super) struct CustomRule {
    regex: Regex,
    group: usize,
    /// Any of the keywords.
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

/// What [`Rules::new`] does.
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

    /// Whether a JSON text may hold what is looked for. `false` is certain.
    pub(super) fn may_be_in(&self, json: &str) -> bool {
        self.keywords
            .as_ref()
            .is_none_or(|keywords| keywords.is_match(json))
    }

    /// Every find in a text.
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

/// A pattern, unless it is faulty, too large, or finds nothing in nothing.
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

/// The kind that was most likely meant: one that holds the name or is held by it, or differs in at most a
/// third of the letters.
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
