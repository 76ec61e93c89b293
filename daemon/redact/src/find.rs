//! Finds secrets in a text: one pass for the keywords of all kinds, then a closer check at each occurrence.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

use super::address;
use super::assignment::{self, UnquotedRun};
use super::commands::is_command;
use super::keywords::Keywords;
use super::kinds::{self, Entropy, FormStart, Kind, Recogniser, SecretForm};
use super::names::{NAME_BYTES_MAX, SecretName, has_words, meaning};
use super::rules::MARK;
use super::values::{Setting, entropy, is_known_example, is_password, is_placeholder, is_random};
use super::written::is_variable;

/// Words of names that may have secrets. A name without any of them is not examined further.
const NAME_KEYWORDS: &[&str] = &[
    "pass",
    "pwd",
    "_pw",
    "-pw",
    ".pw",
    ":pw",
    "psk",
    "secret",
    "token",
    "key",
    "jwt",
    "_pat",
    "-pat",
    ".pat",
    ":pat",
    "credential",
    "authorization",
];
/// Placeholder names for communities.
const DEFAULT_COMMUNITIES: &[&str] = &["public", "private", "string", "name", "word"];
/// Limit on a compiled pattern, in bytes.
pub(super) const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Limit on the digits before the keyword of [`FormStart::Digits`].
const DIGITS_MAX: usize = 16;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub range: Range<usize>,
    /// Its kind, as the place of its id in [`BuiltinKinds::ids`].
    pub kind: usize,
}

/// Meaning of a keyword.
#[derive(Clone, Copy)]
enum Keyword {
    /// Perhaps a secret with a form of its own; its place in [`BuiltinKinds::forms`].
    Form(usize),
    Address,
    Name,
}

/// The built-in kinds, prepared for searching.
pub(super) struct BuiltinKinds {
    /// All ids without duplicates, in the order of the lists.
    pub ids: Vec<&'static str>,
    keywords: Keywords,
    /// Meaning of each keyword, by its number.
    targets: Vec<Keyword>,
    forms: Vec<(usize, &'static SecretForm, Pattern)>,
    named: Vec<(usize, &'static [&'static str], Pattern)>,
}

/// A pattern that is compiled at its first use.
struct Pattern {
    text: &'static str,
    regex: OnceLock<Option<Regex>>,
}

/// The built-in kinds, shared by all redactors of the process.
pub(super) static FINDER: LazyLock<BuiltinKinds> = LazyLock::new(BuiltinKinds::new);

impl BuiltinKinds {
    fn new() -> Self {
        let mut finder = Self {
            ids: Vec::new(),
            keywords: Keywords::new(&[]),
            targets: Vec::new(),
            forms: Vec::new(),
            named: Vec::new(),
        };
        let mut words: Vec<&str> = Vec::new();
        for Kind { id, how, .. } in kinds::all() {
            let kind = finder
                .ids
                .iter()
                .position(|known| known == id)
                .unwrap_or_else(|| {
                    finder.ids.push(id);
                    finder.ids.len() - 1
                });
            match how {
                Recogniser::Form(form) => {
                    words.extend(form.keywords);
                    let place = Keyword::Form(finder.forms.len());
                    finder.targets.extend(form.keywords.iter().map(|_| place));
                    finder.forms.push((kind, form, Pattern::new(form.pattern)));
                }
                Recogniser::Named { words, pattern } => {
                    finder.named.push((kind, words, Pattern::new(pattern)))
                }
                Recogniser::Meant | Recogniser::Address => {}
            }
        }
        words.push("://");
        finder.targets.push(Keyword::Address);
        words.extend(NAME_KEYWORDS);
        finder
            .targets
            .extend(NAME_KEYWORDS.iter().map(|_| Keyword::Name));
        finder.keywords = Keywords::new(&words);
        finder
    }

    /// Returns the index of an id.
    pub(super) fn kind(&self, id: &str) -> Option<usize> {
        self.ids.iter().position(|known| *known == id)
    }

    /// Returns whether a JSON text may contain a secret in its strings. `false` is definite.
    pub(super) fn may_be_in(&self, json: &str) -> bool {
        let bytes = json.as_bytes();
        // Whether an escape, at most `\u00e9` long, precedes a name or a form.
        let is_escaped = |at: usize| {
            bytes
                .get(at.saturating_sub(6)..at)
                .is_some_and(|before| before.contains(&b'\\'))
        };
        self.hits(json).any(|(keyword, at)| match keyword {
            Keyword::Form(form) => self.forms.get(form).is_some_and(|(_, form, _)| {
                begin(json, form.begin, at.start).is_some() || is_escaped(at.start)
            }),
            Keyword::Address => address::password(json, at.end).is_some(),
            Keyword::Name => assignment::name_at(json, at.clone()).is_some_and(|name| {
                is_escaped(name.start + 1)
                    || assignment::may_be_in_json(json, &name)
                        && json.get(name).is_some_and(|name| meaning(name).is_some())
                    || string_at(json, at).is_some_and(|name| meaning(name).is_some())
            }),
        })
    }

    /// Finds all secrets in a text, unordered; some may be nested.
    pub(super) fn find(&self, text: &str, spans: &mut Vec<Span>) {
        let mut run = UnquotedRun::default();
        // Position up to which each form was tried, so that repetitions are skipped at once.
        let mut tried: Vec<usize> = Vec::new();
        for (keyword, at) in self.hits(text) {
            match keyword {
                Keyword::Form(form) => {
                    tried.resize(self.forms.len(), 0);
                    if let Some(tried) = tried.get_mut(form) {
                        spans.extend(self.form(form, text, at.start, tried));
                    }
                }
                Keyword::Address => {
                    let kind = self.kind("url-password");
                    let range = address::password(text, at.end);
                    spans.extend(range.zip(kind).map(|(range, kind)| Span { range, kind }));
                }
                Keyword::Name => {
                    if let Some(assigned) = assignment::at(text, at, &mut run) {
                        let value = text.get(assigned.value.clone()).unwrap_or_default();
                        let judged =
                            self.judge(assigned.name, assigned.meaning, value, assigned.setting);
                        spans.extend(judged.map(|span| self.placed(span, &assigned)));
                    }
                }
            }
        }
    }

    /// Finds the secret in a value of a named field.
    pub(super) fn under(&self, name: &str, value: &str) -> Option<Span> {
        let is_one = |(keyword, _)| matches!(keyword, Keyword::Name);
        let meaning =
            meaning(name).filter(|_| !name.contains(MARK) && self.hits(name).any(is_one))?;
        self.judge(name, meaning, value, Setting::Key)
    }

    fn hits<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (Keyword, Range<usize>)> + 't {
        let hits = self.keywords.find(text);
        hits.filter_map(|(number, at)| Some((*self.targets.get(number)?, at)))
    }

    fn placed(&self, span: Span, assigned: &assignment::AssignedValue<'_>) -> Span {
        let offset = assigned.value.start;
        let kind = match assigned.is_connection {
            true => self.kind("connection-password").unwrap_or(span.kind),
            false => span.kind,
        };
        Span {
            range: span.range.start + offset..span.range.end + offset,
            kind,
        }
    }

    /// Finds the secret of a form whose keyword is at `at`, unless that position was `tried`.
    fn form(&self, form: usize, text: &str, at: usize, tried: &mut usize) -> Option<Span> {
        let (kind, form, pattern) = self.forms.get(form)?;
        let begin = begin(text, form.begin, at).filter(|begin| *begin >= *tried)?;
        let Some(range) = pattern.secret(text, begin) else {
            if let FormStart::Run(_) = form.begin {
                *tried = run_end(text, begin);
            }
            return None;
        };
        *tried = range.end;
        let secret = text.get(range.clone())?;
        let is_one = match form.entropy {
            Entropy::Password => is_password(secret, Setting::Prose),
            Entropy::Bits(least) => {
                !is_variable(secret) && !is_known_example(secret) && entropy(secret) >= least
            }
            Entropy::Random => is_random(secret, Setting::Prose),
            Entropy::Certain => is_set(secret),
            Entropy::Set => {
                is_set(secret) && (is_command(text, begin) || is_password(secret, Setting::Prose))
            }
        };
        is_one.then_some(Span { range, kind: *kind })
    }

    /// Decides whether a named value is a secret, and returns the secret part.
    fn judge(
        &self,
        name: &str,
        meaning: SecretName,
        value: &str,
        setting: Setting,
    ) -> Option<Span> {
        let named = self.named.iter().find(|(_, words, pattern)| {
            has_words(name, words) && pattern.is_all(value) && !is_placeholder(value)
        });
        if let Some((kind, ..)) = named {
            return Some(Span {
                range: 0..value.len(),
                kind: *kind,
            });
        }
        let is_one = match meaning {
            // A shell's working folder, in the output of `env`.
            SecretName::Password if matches!(name, "PWD" | "OLDPWD") && value.starts_with('/') => {
                false
            }
            SecretName::Password => is_password(value, setting),
            SecretName::Secret | SecretName::ApiKey | SecretName::Token => {
                is_random(value, setting)
            }
            SecretName::Authorization => return self.authorization(value),
        };
        let kind = self.kind(meaning.kind())?;
        is_one.then_some(Span {
            range: 0..value.len(),
            kind,
        })
    }

    /// Finds the secret in `Bearer …`, `Basic …`, or a bare token.
    fn authorization(&self, value: &str) -> Option<Span> {
        let is_of_secret = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=:".contains(&byte);
        let start = value.find(|c: char| !c.is_whitespace())?;
        let word = |from: usize| {
            let length = value
                .get(from..)?
                .bytes()
                .take_while(|byte| is_of_secret(*byte))
                .count();
            Some((from..from + length, value.get(from..from + length)?))
        };
        let (first, scheme) = word(start)?;
        let blanks = value
            .get(first.end..)?
            .bytes()
            .take_while(|byte| *byte == b' ')
            .count();
        let (second, secret) = word(first.end + blanks)?;
        let (range, id, is_one) = if secret.is_empty() || blanks == 0 {
            (first, "token", is_random(scheme, Setting::Data))
        } else if scheme.eq_ignore_ascii_case("basic") {
            let is_base64 = secret.len() >= 8 && !secret.contains(['.', '~', ':']);
            (
                second,
                "basic-auth",
                is_base64 && !is_variable(secret) && entropy(secret) >= 2.0,
            )
        } else {
            let id = if scheme.eq_ignore_ascii_case("bearer") {
                "bearer-token"
            } else {
                "token"
            };
            (
                second,
                id,
                scheme.len() <= 16 && is_random(secret, Setting::Data),
            )
        };
        let kind = self.kind(id)?;
        is_one.then_some(Span { range, kind })
    }
}

impl Pattern {
    const fn new(text: &'static str) -> Self {
        Self {
            text,
            regex: OnceLock::new(),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        // A test checks that all patterns compile.
        self.regex.get_or_init(|| compile(self.text).ok()).as_ref()
    }

    /// Returns the secret of a match that begins at `at` and does not end within a word.
    fn secret(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let regex = self.regex()?;
        let mut groups = regex.create_captures();
        regex.search_captures(
            &Input::new(text).range(at..).anchored(Anchored::Yes),
            &mut groups,
        );
        let all = groups.get_match()?.range();
        let secret = (1..groups.group_len()).find_map(|group| groups.get_group(group));
        let secret = secret.map_or(all, |span| span.range());
        let is_cut = text
            .as_bytes()
            .get(secret.end)
            .is_some_and(u8::is_ascii_alphanumeric)
            && text
                .as_bytes()
                .get(secret.end - 1)
                .is_some_and(u8::is_ascii_alphanumeric);
        (!is_cut).then_some(secret)
    }

    fn is_all(&self, value: &str) -> bool {
        let input = Input::new(value).anchored(Anchored::Yes);
        self.regex()
            .and_then(|regex| regex.search(&input))
            .is_some_and(|found| found.end() == value.len())
    }
}

/// Compiles a pattern within the size limit.
///
/// # Errors
/// A description of the pattern's problem.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    let built = Regex::builder()
        .configure(
            Regex::config()
                .nfa_size_limit(Some(PATTERN_BYTES_MAX))
                .hybrid_cache_capacity(PATTERN_BYTES_MAX),
        )
        .syntax(syntax::Config::new().nest_limit(64))
        .build(pattern);
    built.map_err(|error| match error.syntax_error() {
        Some(fault) => fault.to_string(),
        None => error.to_string(),
    })
}

/// Returns the raw JSON string that contains a keyword, if it is short enough for a name.
fn string_at(json: &str, keyword: Range<usize>) -> Option<&str> {
    let bytes = json.as_bytes();
    let is_quote = |byte: &u8| *byte == b'"';
    let before = bytes.get(..keyword.start)?.iter().rev();
    let start = keyword.start
        - before
            .take(NAME_BYTES_MAX)
            .take_while(|byte| !is_quote(byte))
            .count();
    let end = keyword.end
        + bytes
            .get(keyword.end..)?
            .iter()
            .take(NAME_BYTES_MAX)
            .position(is_quote)?;
    let start = (start..keyword.start)
        .find(|at| json.is_char_boundary(*at))
        .unwrap_or(keyword.start);
    json.get(start..end)
}

/// Returns whether a command argument is a secret rather than a variable or a placeholder.
fn is_set(secret: &str) -> bool {
    !is_variable(secret) && !DEFAULT_COMMUNITIES.contains(&secret.to_ascii_lowercase().as_str())
}

/// Returns the end of the run of URL-safe base64 characters at `at`.
fn run_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let is_of_run = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    at + rest.iter().take_while(is_of_run).count()
}

/// Returns where a form begins whose keyword is at `at`, if it can begin there.
fn begin(text: &str, begin: FormStart, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let start = match begin {
        FormStart::Within => return Some(at),
        FormStart::Here => at,
        FormStart::Run(word) => text.get(at..)?.starts_with(word).then_some(at)?,
        FormStart::Before(count) => at.checked_sub(count)?,
        FormStart::Digits => {
            let before = bytes.get(..at)?.iter().rev().take(DIGITS_MAX);
            at - before.take_while(|byte| byte.is_ascii_digit()).count()
        }
    };
    let Some(before) = start.checked_sub(1).and_then(|before| bytes.get(before)) else {
        return Some(start);
    };
    let is_word = before.is_ascii_alphanumeric() || *before == b'_';
    // An escaped line end or blank is not a letter.
    let is_escape = b"nrtbf".contains(before)
        && start.checked_sub(2).and_then(|at| bytes.get(at)) == Some(&b'\\');
    ((!is_word || is_escape) && text.is_char_boundary(start)).then_some(start)
}
