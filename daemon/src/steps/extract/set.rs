//! Which extractors and field mappings apply to a step: the built-in ones and those that were registered.

use super::{date, id};
use crate::steps::words;
use regex::{Regex, RegexBuilder};
use sha2::{Digest, Sha256};

/// Longest name of an extractor and of a field, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1024;
/// Largest compiled pattern, in bytes.
pub const COMPILED_BYTES_MAX: usize = 1 << 20;
/// Most JSON fields of one extractor, and most aliases of one mapping.
pub const WORDS_MAX: usize = 64;

/// Goes into every hash of a set: raised whenever the built-in extractors find other things than before.
const VERSION: &str = "lored extractors 1";

/// A registered extractor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extractor {
    /// The type name by which variables ask for it.
    pub name: String,
    /// A regex whose matches are values.
    pub pattern: Option<String>,
    /// Which group of the pattern is the value: 0 is all of it. By default its only group, if it has one.
    pub group: Option<u32>,
    /// JSON fields whose values are values of this type.
    pub fields: Vec<String>,
}

/// Registered other names of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMapping {
    /// The name of the list.
    pub field: String,
    /// What else the field may be called, best first.
    pub aliases: Vec<String>,
}

/// Why an extractor or a mapping is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The name cannot be written in a variable.
    #[error(
        "{name:?} is no name: it begins with a letter, goes on with letters, digits, `_` and `-`, and has at most 64 bytes"
    )]
    Name {
        /// The name given.
        name: String,
    },
    /// The name is taken by a built-in extractor or by the grammar of variables.
    #[error("`{name}` has a meaning already: choose another name")]
    Reserved {
        /// The name given.
        name: String,
    },
    /// There is nothing to extract by.
    #[error("extractor `{name}` has neither a pattern nor JSON fields")]
    Empty {
        /// Its name.
        name: String,
    },
    /// The pattern is too long.
    #[error("the pattern has {bytes} bytes; at most {PATTERN_BYTES_MAX} are allowed")]
    PatternTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The pattern is no regex.
    #[error("the pattern is wrong at byte {position} (line {line}, column {column}): {message}")]
    Pattern {
        /// Byte of the pattern where the fault begins, from 0.
        position: usize,
        /// Its line, from 1.
        line: usize,
        /// Its column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The pattern needs too much memory once compiled.
    #[error(
        "the pattern needs more than {COMPILED_BYTES_MAX} bytes once compiled: repeat less, or smaller classes"
    )]
    PatternTooLarge,
    /// The pattern has several groups.
    #[error(
        "the pattern has {groups} capture groups; at most one is allowed: write the others as (?:…)"
    )]
    Groups {
        /// How many it has.
        groups: usize,
    },
    /// The group asked for does not exist.
    #[error("the pattern has no group {group}")]
    NoGroup {
        /// The group asked for.
        group: u32,
    },
    /// Too many fields or aliases.
    #[error("{count} names were given; at most {WORDS_MAX} are allowed")]
    TooMany {
        /// How many were given.
        count: usize,
    },
    /// A mapping without aliases.
    #[error("the mapping of `{field}` has no aliases")]
    NoAliases {
        /// Its field.
        field: String,
    },
}

/// A type of value that variables may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Identifiers.
    Id,
    /// Dates and date-times.
    Date,
    /// Numbers.
    Number,
    /// Objects and arrays.
    Json,
    /// Addresses of pages.
    Url,
    /// Addresses of people.
    Email,
    /// A registered one, by its place in the set.
    Custom(usize),
}

/// The built-in types, in the order in which they are applied.
pub const BUILT_IN: [(&str, Type); 6] = [
    ("id", Type::Id),
    ("date", Type::Date),
    ("number", Type::Number),
    ("json", Type::Json),
    ("url", Type::Url),
    ("email", Type::Email),
];

/// Words that variables use for themselves; no extractor can be called so.
const RESERVED: [&str; 4] = ["result", "last", "previous", "to"];

/// Names one field goes by, best first. The words are normalised.
pub const MAPPINGS: [(&str, &[&str]); 7] = [
    ("id", &["id", "pullrequestid", "requestid", "number"]),
    (
        "date",
        &[
            "date",
            "closeddate",
            "createddate",
            "completedate",
            "completeddate",
            "completiondate",
            "closedate",
            "closedat",
            "mergeddate",
            "mergedat",
            "createdat",
            "creationdate",
            "updatedat",
        ],
    ),
    ("title", &["title", "name", "subject"]),
    ("description", &["description", "desc", "body"]),
    ("status", &["status", "state"]),
    ("author", &["author", "creator", "createdby"]),
    ("branch", &["branch", "sourcebranch", "targetbranch"]),
];

/// The extractors and mappings of one scope, ready to use.
#[derive(Clone, Debug)]
pub struct ExtractorSet {
    pub(super) custom: Vec<Custom>,
    mappings: Vec<(String, Vec<String>)>,
    hash: [u8; 32],
}

/// A registered extractor, ready to use.
#[derive(Clone, Debug)]
pub(super) struct Custom {
    pub(super) name: String,
    pub(super) regex: Option<(Regex, usize)>,
    fields: Vec<String>,
}

impl Custom {
    pub(super) fn has_field(&self, key: &str) -> bool {
        self.fields.iter().any(|field| words::same(field, key))
    }
}

impl Default for ExtractorSet {
    fn default() -> Self {
        ExtractorSet {
            custom: Vec::new(),
            mappings: Vec::new(),
            hash: hash(&[], &[]),
        }
    }
}

impl ExtractorSet {
    /// The built-in extractors and those registered, in the order of registering: the later one of a name replaces
    /// the earlier.
    ///
    /// # Errors
    /// The first registration that is not valid.
    pub fn new(extractors: &[Extractor], mappings: &[FieldMapping]) -> Result<Self, Invalid> {
        let mut custom: Vec<Custom> = Vec::new();
        for extractor in extractors {
            let compiled = compile(extractor)?;
            match custom
                .iter_mut()
                .find(|known| words::same(&known.name, &compiled.name))
            {
                Some(known) => *known = compiled,
                None => custom.push(compiled),
            }
        }
        let mut lists: Vec<(String, Vec<String>)> = Vec::new();
        for mapping in mappings {
            let aliases = checked(mapping)?;
            let field = words::normalise(&mapping.field);
            match lists.iter_mut().find(|(known, _)| *known == field) {
                Some((_, known)) => *known = aliases,
                None => lists.push((field, aliases)),
            }
        }
        Ok(ExtractorSet {
            custom,
            mappings: lists,
            hash: hash(extractors, mappings),
        })
    }

    /// SHA-256 over what the set consists of: equal sets extract equal values.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// The types in the order of extraction, with their names.
    pub fn types(&self) -> impl Iterator<Item = (&str, Type)> {
        let custom = self.custom.iter().enumerate();
        let custom = custom.map(|(at, custom)| (custom.name.as_str(), Type::Custom(at)));
        BUILT_IN.into_iter().chain(custom)
    }

    /// The type a word names, in any spelling.
    #[must_use]
    pub fn type_named(&self, word: &str) -> Option<Type> {
        self.types()
            .find(|(name, _)| words::same(name, word))
            .map(|(_, of)| of)
    }

    /// The name of a type.
    #[must_use]
    pub fn name_of(&self, wanted: Type) -> &str {
        self.types()
            .find(|(_, of)| *of == wanted)
            .map_or("", |(name, _)| name)
    }

    /// Whether a JSON field of this name holds values of a type.
    #[must_use]
    pub fn is_field_of(&self, of: Type, key: &str) -> bool {
        match of {
            Type::Id => id::is_field(key),
            Type::Date => date::is_field(key),
            Type::Number | Type::Json | Type::Url | Type::Email => false,
            Type::Custom(at) => self
                .custom
                .get(at)
                .is_some_and(|custom| custom.has_field(key)),
        }
    }

    /// The other names of a field: the lists it belongs to, as their name or as a member; normalised, best first.
    #[must_use]
    pub fn aliases(&self, field: &str) -> Vec<String> {
        let field = words::normalise(field);
        let mut aliases: Vec<String> = Vec::new();
        let built_in = MAPPINGS.iter().map(|(name, list)| {
            (
                *name,
                list.iter().map(|alias| (*alias).to_owned()).collect(),
            )
        });
        let registered = self
            .mappings
            .iter()
            .map(|(name, list)| (name.as_str(), list.clone()));
        let lists: Vec<(&str, Vec<String>)> = built_in.chain(registered).collect();
        // A registered list extends the built-in one of its name.
        let belongs = |name: &str| {
            name == field
                || lists
                    .iter()
                    .any(|(other, list)| *other == name && list.contains(&field))
        };
        for (name, list) in &lists {
            if belongs(name) {
                aliases.extend(
                    list.iter()
                        .filter(|alias| !aliases.contains(alias))
                        .cloned()
                        .collect::<Vec<_>>(),
                );
            }
        }
        aliases
    }
}

fn compile(extractor: &Extractor) -> Result<Custom, Invalid> {
    let name = &extractor.name;
    check_name(name)?;
    let built_in = BUILT_IN.iter().map(|(name, _)| *name);
    if built_in
        .chain(RESERVED)
        .any(|taken| words::same(taken, name))
    {
        return Err(Invalid::Reserved { name: name.clone() });
    }
    if extractor.pattern.is_none() && extractor.fields.is_empty() {
        return Err(Invalid::Empty { name: name.clone() });
    }
    check_words(&extractor.fields)?;
    let regex = match &extractor.pattern {
        Some(pattern) => Some(compile_pattern(pattern, extractor.group)?),
        None => None,
    };
    Ok(Custom {
        name: name.clone(),
        regex,
        fields: extractor.fields.clone(),
    })
}

fn compile_pattern(pattern: &str, group: Option<u32>) -> Result<(Regex, usize), Invalid> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(Invalid::PatternTooLong {
            bytes: pattern.len(),
        });
    }
    if let Err(error) = regex_syntax::parse(pattern) {
        return Err(fault(&error));
    }
    let built = RegexBuilder::new(pattern)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .build();
    let regex = built.map_err(|_| Invalid::PatternTooLarge)?;
    let groups = regex.captures_len() - 1;
    if groups > 1 {
        return Err(Invalid::Groups { groups });
    }
    match group {
        None => Ok((regex, groups)),
        Some(group) if group as usize <= groups => Ok((regex, group as usize)),
        Some(group) => Err(Invalid::NoGroup { group }),
    }
}

/// Where and why a pattern is no regex.
fn fault(error: &regex_syntax::Error) -> Invalid {
    let (span, message) = match error {
        regex_syntax::Error::Parse(error) => (Some(*error.span()), error.kind().to_string()),
        regex_syntax::Error::Translate(error) => (Some(*error.span()), error.kind().to_string()),
        other => (None, other.to_string()),
    };
    let start = span.map(|span| span.start);
    Invalid::Pattern {
        position: start.map_or(0, |start| start.offset),
        line: start.map_or(1, |start| start.line),
        column: start.map_or(1, |start| start.column),
        message,
    }
}

fn check_name(name: &str) -> Result<(), Invalid> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let valid = name.len() <= NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(allowed);
    if valid {
        Ok(())
    } else {
        Err(Invalid::Name {
            name: words::first_chars(name, NAME_BYTES_MAX).to_owned(),
        })
    }
}

/// Field names come from outside and may have any letters.
fn check_words(names: &[String]) -> Result<(), Invalid> {
    if names.len() > WORDS_MAX {
        return Err(Invalid::TooMany { count: names.len() });
    }
    let valid =
        |name: &str| name.len() <= NAME_BYTES_MAX && words::normal_chars(name).next().is_some();
    match names.iter().find(|name| !valid(name)) {
        Some(name) => Err(Invalid::Name {
            name: words::first_chars(name, NAME_BYTES_MAX).to_owned(),
        }),
        None => Ok(()),
    }
}

/// The aliases of a mapping, normalised.
fn checked(mapping: &FieldMapping) -> Result<Vec<String>, Invalid> {
    check_words(std::slice::from_ref(&mapping.field))?;
    check_words(&mapping.aliases)?;
    if mapping.aliases.is_empty() {
        return Err(Invalid::NoAliases {
            field: mapping.field.clone(),
        });
    }
    Ok(mapping
        .aliases
        .iter()
        .map(|alias| words::normalise(alias))
        .collect())
}

fn hash(extractors: &[Extractor], mappings: &[FieldMapping]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let mut add = |text: &str| {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    add(VERSION);
    for extractor in extractors {
        add("extractor");
        add(&extractor.name);
        add(&format!(
            "{:?} {:?}",
            extractor.pattern.is_some(),
            extractor.group
        ));
        add(extractor.pattern.as_deref().unwrap_or_default());
        add(&extractor.fields.len().to_string());
        extractor.fields.iter().for_each(|field| add(field));
    }
    for mapping in mappings {
        add("mapping");
        add(&mapping.field);
        add(&mapping.aliases.len().to_string());
        mapping.aliases.iter().for_each(|alias| add(alias));
    }
    hasher.finalize().into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn extractor(name: &str, pattern: &str) -> Extractor {
        Extractor {
            name: name.into(),
            pattern: Some(pattern.into()),
            ..Extractor::default()
        }
    }

    fn refused(extractor: Extractor) -> Invalid {
        ExtractorSet::new(&[extractor], &[]).unwrap_err()
    }

    #[test]
    fn a_wrong_pattern_is_refused_with_the_position_of_its_fault() {
        let fault = refused(extractor("ticket", "INC(\\d+"));
        assert!(
            matches!(
                &fault,
                Invalid::Pattern {
                    position: 3,
                    line: 1,
                    column: 4,
                    ..
                }
            ),
            "{fault:?}"
        );
        assert!(fault.to_string().contains("unclosed group"), "{fault}");
        assert!(matches!(
            refused(extractor("t", "é[z-a]")),
            Invalid::Pattern {
                position: 3,
                column: 3,
                ..
            }
        ));
    }

    #[test]
    fn patterns_have_limits() {
        assert_eq!(
            refused(extractor("t", &"a".repeat(1025))),
            Invalid::PatternTooLong { bytes: 1025 }
        );
        assert_eq!(
            refused(extractor("t", "(?:\\w{100}){100}")),
            Invalid::PatternTooLarge
        );
        assert_eq!(
            refused(extractor("t", "(a)(b)")),
            Invalid::Groups { groups: 2 }
        );
        let with_group = Extractor {
            group: Some(1),
            ..extractor("t", "a")
        };
        assert_eq!(refused(with_group), Invalid::NoGroup { group: 1 });
    }

    #[test]
    fn names_are_checked() {
        assert!(matches!(refused(extractor("", "a")), Invalid::Name { .. }));
        assert!(matches!(
            refused(extractor("1a", "a")),
            Invalid::Name { .. }
        ));
        assert!(matches!(
            refused(extractor("a b", "a")),
            Invalid::Name { .. }
        ));
        assert!(matches!(
            refused(extractor(&"a".repeat(65), "a")),
            Invalid::Name { .. }
        ));
        assert!(matches!(
            refused(extractor("E-Mail", "a")),
            Invalid::Reserved { .. }
        ));
        assert!(matches!(
            refused(extractor("result", "a")),
            Invalid::Reserved { .. }
        ));
        let nothing = Extractor {
            name: "x".into(),
            ..Extractor::default()
        };
        assert!(matches!(refused(nothing), Invalid::Empty { .. }));
        let mapping = FieldMapping {
            field: "ticket".into(),
            aliases: vec![],
        };
        assert!(matches!(
            ExtractorSet::new(&[], &[mapping]),
            Err(Invalid::NoAliases { .. })
        ));
    }

    #[test]
    fn the_hash_tells_sets_apart_and_is_stable() {
        let one = ExtractorSet::new(&[extractor("a", "bc")], &[]).unwrap();
        let other = ExtractorSet::new(&[extractor("ab", "c")], &[]).unwrap();
        let again = ExtractorSet::new(&[extractor("a", "bc")], &[]).unwrap();
        assert_ne!(one.hash(), other.hash());
        assert_eq!(one.hash(), again.hash());
        assert_ne!(one.hash(), ExtractorSet::default().hash());
        assert_eq!(
            ExtractorSet::new(&[], &[]).unwrap().hash(),
            ExtractorSet::default().hash()
        );
    }

    #[test]
    fn a_field_goes_by_the_names_of_its_lists() {
        let mapping = FieldMapping {
            field: "status".into(),
            aliases: vec!["Phase".into(), "life_cycle".into()],
        };
        let set = ExtractorSet::new(&[], &[mapping]).unwrap();
        assert_eq!(
            set.aliases("STATE"),
            ["status", "state", "phase", "lifecycle"]
        );
        assert_eq!(set.aliases("PHASE"), set.aliases("STATUS"));
        assert_eq!(
            set.aliases("COMPLETION_DATE").first().map(String::as_str),
            Some("date")
        );
        assert!(set.aliases("SERIAL").is_empty());
    }
}
