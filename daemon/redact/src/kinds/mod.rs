//! The known kinds of secrets: id, description and recognition rule.
//!
//! Based on vendors' and standards' documentation of key formats. An id is a public interface: it stays in redacted
//! text forever.

mod access;
mod cloud_keys;
mod code;
mod models;
mod named;
mod network;
mod services;

use std::collections::BTreeMap;

/// A kind of secret.
#[derive(Debug)]
pub struct Kind {
    /// Id in `[redacted:ID]`, in counts and in the settings.
    pub id: &'static str,
    /// Description for people.
    pub what: &'static str,
    pub(super) how: Recogniser,
}

/// Recognition rule of a kind.
#[derive(Debug)]
pub(super) enum Recogniser {
    /// Recognised by its form, which begins at, or at a known distance before, one of a few keywords.
    Form(&'static SecretForm),
    /// Recognised by its name and its form: the lower-case words that the name contains, without separators, and the
    /// pattern of the whole value.
    Named {
        words: &'static [&'static str],
        pattern: &'static str,
    },
    /// Recognised by the meaning of its name and its randomness: see `assignment`.
    Meant,
    /// Recognised as the password of a URL: see `address`.
    Address,
}

/// The form of a secret.
#[derive(Debug)]
pub(super) struct SecretForm {
    /// Every secret of the kind contains one of these, case-insensitively.
    pub keywords: &'static [&'static str],
    /// Begin of the form, relative to the keyword.
    pub begin: FormStart,
    /// Pattern of the secret, or of its context with the secret as the first group. Matches are anchored at `begin`.
    pub pattern: &'static str,
    /// Required randomness.
    pub entropy: Entropy,
}

/// Begin of a form, relative to its keyword.
#[derive(Clone, Copy, Debug)]
pub(super) enum FormStart {
    /// At the keyword, which no letter, digit or `_` precedes.
    Here,
    /// At the keyword, whatever precedes it.
    Within,
    /// This many bytes before the keyword.
    Before(usize),
    /// At the run of digits before the keyword.
    Digits,
    /// Like [`FormStart::Here`], with the keyword spelled exactly so. If one match fails, so does every other in the same run of
    /// letters, digits, `_` and `-`, because the text after the run is the same for all of them.
    Run(&'static str),
}

/// Required randomness of a secret.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entropy {
    /// Minimum bits per character.
    Bits(f32),
    /// The generic check for random values.
    Random,
    /// The check for passwords in running text.
    Password,
    /// No check, except that variables are excluded.
    Certain,
    /// Like [`Entropy::Certain`] in configuration lines; elsewhere, where people write about the command, the check for
    /// passwords in running text.
    Set,
}

/// All kinds. Kinds with a distinctive form come first, so that they win when several match.
pub(super) const LISTS: &[&[Kind]] = &[
    access::KINDS,
    cloud_keys::KINDS,
    code::KINDS,
    models::KINDS,
    services::KINDS,
    network::KINDS,
    named::KINDS,
];

/// Iterates over all built-in kinds.
pub fn all() -> impl Iterator<Item = &'static Kind> {
    LISTS.iter().copied().flatten()
}

/// Renders the kinds as a table for docs/redaction.md: each once, ordered by id.
#[must_use]
pub fn table() -> String {
    let kinds: BTreeMap<&str, &str> = all().map(|kind| (kind.id, kind.what)).collect();
    let head = "| kind | what it is |\n| --- | --- |\n".to_owned();
    kinds.iter().fold(head, |table, (id, what)| {
        table + &format!("| `{id}` | {what} |\n")
    })
}

/// Creates a kind with a form.
const fn form(id: &'static str, what: &'static str, form: &'static SecretForm) -> Kind {
    let how = Recogniser::Form(form);
    Kind { id, what, how }
}

/// Creates the usual form: it begins with a keyword that is its own prefix.
const fn prefixed(keywords: &'static [&'static str], pattern: &'static str) -> SecretForm {
    SecretForm {
        keywords,
        begin: FormStart::Here,
        pattern,
        entropy: Entropy::Bits(2.5),
    }
}
