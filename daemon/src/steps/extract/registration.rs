//! Registered extractors and field mappings: definition, validation and compilation.

use super::set::BUILT_IN;
use crate::steps::words;
use regex::{Regex, RegexBuilder};

/// Maximum length of an extractor name or a field name, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Maximum length of a pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1024;
/// Maximum size of a compiled pattern, in bytes.
pub const COMPILED_BYTES_MAX: usize = 1 << 20;
/// Maximum number of extractors, and of mapped fields, in one scope.
pub const REGISTERED_MAX: usize = 64;
/// Size limits tried in turn when a pattern is compiled, in bytes. The first that fits is the pattern's size.
const COMPILED_BYTES: [usize; 3] = [32 * 1024, 256 * 1024, COMPILED_BYTES_MAX];
/// Minimum size that a pattern's lazy DFA tables may grow to, in bytes.
const TABLES_BYTES_MIN: usize = 64 * 1024;
/// Maximum number of JSON fields of one extractor, and of aliases of one mapping.
pub const WORDS_MAX: usize = 64;

/// Reserved words of the variable grammar. No extractor can have one as its name.
const RESERVED: [&str; 4] = ["result", "last", "previous", "to"];

/// A registered extractor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extractor {
    /// Type name that variables use.
    pub name: String,
    /// Regular expression whose matches are values.
    pub pattern: Option<String>,
    /// Capture group that is the value; 0 is the whole match. By default the only group, if the pattern has one.
    pub group: Option<u32>,
    /// JSON fields that hold values of this type.
    pub fields: Vec<String>,
}

/// Registered aliases of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMapping {
    /// Name of the field.
    pub field: String,
    /// Aliases of the field, best first.
    pub aliases: Vec<String>,
}

/// Reason why an extractor or a mapping is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    /// The name is not valid in a variable.
    #[error(
        "{name:?} is not a name: it begins with a letter, continues with letters, digits, `_` and `-`, and has at most 64 bytes"
    )]
    Name {
        /// The rejected name.
        name: String,
    },
    /// The name belongs to a built-in extractor or to the variable grammar.
    #[error("`{name}` has a meaning already: choose another name")]
    Reserved {
        /// The rejected name.
        name: String,
    },
    /// The extractor has neither a pattern nor JSON fields.
    #[error("extractor `{name}` has neither a pattern nor JSON fields")]
    Empty {
        /// Name of the extractor.
        name: String,
    },
    /// The pattern is too long.
    #[error("the pattern has {bytes} bytes; at most {PATTERN_BYTES_MAX} are allowed")]
    PatternTooLong {
        /// Length of the pattern, in bytes.
        bytes: usize,
    },
    /// The pattern is not a valid regular expression.
    #[error("the pattern is wrong at byte {position} (line {line}, column {column}): {message}")]
    Pattern {
        /// Byte offset of the error in the pattern, from 0.
        position: usize,
        /// Line of the error, from 1.
        line: usize,
        /// Column of the error in characters, from 1.
        column: usize,
        /// Message of the regex parser.
        message: String,
    },
    /// The compiled pattern is too large.
    #[error(
        "the pattern needs more than {COMPILED_BYTES_MAX} bytes once compiled: repeat less, or smaller classes"
    )]
    PatternTooLarge,
    /// The pattern has more than one capture group.
    #[error(
        "the pattern has {groups} capture groups; at most one is allowed: write the others as (?:…)"
    )]
    Groups {
        /// Number of groups.
        groups: usize,
    },
    /// The requested group does not exist.
    #[error("the pattern has no group {group}")]
    NoGroup {
        /// The requested group.
        group: u32,
    },
    /// There are too many fields or aliases.
    #[error("{count} names were given; at most {WORDS_MAX} are allowed")]
    TooMany {
        /// Number of names in the request.
        count: usize,
    },
    /// The mapping has no aliases.
    #[error("the mapping of `{field}` has no aliases")]
    NoAliases {
        /// Name of the field.
        field: String,
    },
}

/// A compiled extractor.
#[derive(Clone, Debug)]
pub(super) struct CustomExtractor {
    pub(super) name: String,
    pub(super) regex: Option<(Regex, usize)>,
    fields: Vec<String>,
    /// Memory it may use, in bytes.
    pub(super) bytes: usize,
}

impl CustomExtractor {
    pub(super) fn has_field(&self, key: &str) -> bool {
        self.fields.iter().any(|field| words::same(field, key))
    }
}

/// Validates and compiles an extractor.
pub(super) fn compile(extractor: &Extractor) -> Result<CustomExtractor, RegistrationError> {
    let name = &extractor.name;
    check_name(name)?;
    let built_in = BUILT_IN.iter().map(|(name, _)| *name);
    if built_in
        .chain(RESERVED)
        .any(|taken| words::same(taken, name))
    {
        return Err(RegistrationError::Reserved { name: name.clone() });
    }
    if extractor.pattern.is_none() && extractor.fields.is_empty() {
        return Err(RegistrationError::Empty { name: name.clone() });
    }
    check_words(&extractor.fields)?;
    let (regex, bytes) = match &extractor.pattern {
        Some(pattern) => {
            let (regex, group, bytes) = compile_pattern(pattern, extractor.group)?;
            (Some((regex, group)), bytes)
        }
        None => (None, 0),
    };
    Ok(CustomExtractor {
        name: name.clone(),
        regex,
        bytes: bytes + extractor.fields.iter().map(String::capacity).sum::<usize>(),
        fields: extractor.fields.clone(),
    })
}

/// Returns the compiled pattern, its value group and the bytes that it may use.
fn compile_pattern(
    pattern: &str,
    group: Option<u32>,
) -> Result<(Regex, usize, usize), RegistrationError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(RegistrationError::PatternTooLong {
            bytes: pattern.len(),
        });
    }
    if let Err(error) = regex_syntax::parse(pattern) {
        return Err(fault(&error));
    }
    let mut sizes = COMPILED_BYTES.into_iter();
    let built = sizes.find_map(|size| {
        let tables = size.max(TABLES_BYTES_MIN);
        let built = RegexBuilder::new(pattern)
            .size_limit(size)
            .dfa_size_limit(tables)
            .build();
        built.ok().map(|regex| (regex, size + tables))
    });
    let (regex, bytes) = built.ok_or(RegistrationError::PatternTooLarge)?;
    let groups = regex.captures_len() - 1;
    if groups > 1 {
        return Err(RegistrationError::Groups { groups });
    }
    match group {
        None => Ok((regex, groups, bytes)),
        Some(group) if group as usize <= groups => Ok((regex, group as usize, bytes)),
        Some(group) => Err(RegistrationError::NoGroup { group }),
    }
}

/// Converts a regex syntax error to its position and message.
fn fault(error: &regex_syntax::Error) -> RegistrationError {
    let (span, message) = match error {
        regex_syntax::Error::Parse(error) => (Some(*error.span()), error.kind().to_string()),
        regex_syntax::Error::Translate(error) => (Some(*error.span()), error.kind().to_string()),
        other => (None, other.to_string()),
    };
    let start = span.map(|span| span.start);
    RegistrationError::Pattern {
        position: start.map_or(0, |start| start.offset),
        line: start.map_or(1, |start| start.line),
        column: start.map_or(1, |start| start.column),
        message,
    }
}

fn check_name(name: &str) -> Result<(), RegistrationError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let valid = name.len() <= NAME_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(allowed);
    if valid {
        Ok(())
    } else {
        Err(RegistrationError::Name {
            name: words::first_chars(name, NAME_BYTES_MAX).to_owned(),
        })
    }
}

/// Checks field names. They come from other systems, so any letters are allowed.
fn check_words(names: &[String]) -> Result<(), RegistrationError> {
    if names.len() > WORDS_MAX {
        return Err(RegistrationError::TooMany { count: names.len() });
    }
    let valid =
        |name: &str| name.len() <= NAME_BYTES_MAX && words::normal_chars(name).next().is_some();
    match names.iter().find(|name| !valid(name)) {
        Some(name) => Err(RegistrationError::Name {
            name: words::first_chars(name, NAME_BYTES_MAX).to_owned(),
        }),
        None => Ok(()),
    }
}

/// Validates a mapping and returns its normalised aliases.
pub(super) fn checked(mapping: &FieldMapping) -> Result<Vec<String>, RegistrationError> {
    check_words(std::slice::from_ref(&mapping.field))?;
    check_words(&mapping.aliases)?;
    if mapping.aliases.is_empty() {
        return Err(RegistrationError::NoAliases {
            field: mapping.field.clone(),
        });
    }
    Ok(mapping
        .aliases
        .iter()
        .map(|alias| words::normalise(alias))
        .collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::ExtractorSet;
    use super::*;

    fn extractor(name: &str, pattern: &str) -> Extractor {
        Extractor {
            name: name.into(),
            pattern: Some(pattern.into()),
            ..Extractor::default()
        }
    }

    fn refused(extractor: Extractor) -> RegistrationError {
        ExtractorSet::new(&[extractor], &[]).unwrap_err()
    }

    #[test]
    fn a_wrong_pattern_is_refused_with_the_position_of_its_fault() {
        let fault = refused(extractor("ticket", "INC(\\d+"));
        assert!(
            matches!(
                &fault,
                RegistrationError::Pattern {
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
            RegistrationError::Pattern {
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
            RegistrationError::PatternTooLong { bytes: 1025 }
        );
        assert_eq!(
            refused(extractor("t", "(?:\\w{100}){100}")),
            RegistrationError::PatternTooLarge
        );
        assert_eq!(
            refused(extractor("t", "(a)(b)")),
            RegistrationError::Groups { groups: 2 }
        );
        let with_group = Extractor {
            group: Some(1),
            ..extractor("t", "a")
        };
        assert_eq!(refused(with_group), RegistrationError::NoGroup { group: 1 });
    }

    #[test]
    fn names_are_checked() {
        for name in ["", "1a", "a b", &"a".repeat(65)] {
            let error = refused(extractor(name, "a"));
            assert!(matches!(error, RegistrationError::Name { .. }), "{name:?}");
        }
        for name in ["E-Mail", "result"] {
            let error = refused(extractor(name, "a"));
            let is_reserved = matches!(error, RegistrationError::Reserved { .. });
            assert!(is_reserved, "{name}");
        }
        let nothing = Extractor {
            name: "x".into(),
            ..Extractor::default()
        };
        assert!(matches!(refused(nothing), RegistrationError::Empty { .. }));
        let mapping = FieldMapping {
            field: "ticket".into(),
            aliases: vec![],
        };
        assert!(matches!(
            ExtractorSet::new(&[], &[mapping]),
            Err(RegistrationError::NoAliases { .. })
        ));
    }
}
