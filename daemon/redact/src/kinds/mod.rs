//! The kinds of secrets that are known: what each is called, what it is, how it is recognised.
//!
//! Written from what vendors and standards say about the forms of their keys. An id is a public
//! surface: it stands in what was redacted, for good.

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
    /// As it stands in `[redacted:ID]`, in counts and in the settings.
    pub id: &'static str,
    /// What it is, for people.
    pub what: &'static str,
    pub(super) how: Recogniser,
}

/// How a kind is recognised.
#[derive(Debug)]
pub(super) enum Recogniser {
    /// By its own form, which begins at, or at a known distance before, one of a few keywords.
    Form(&'static SecretForm),
    /// By the name it stands under and its own form: the words that the name has, small and without
    /// anything between them, and the pattern of the whole value.
    Named {
        words: &'static [&'static str],
        pattern: &'static str,
    },
    /// By what the name it stands under means, and how random it looks: see `assignment`.
    Meant,
    /// As the password in an address: see `address`.
    Address,
}

/// The form of a secret.
#[derive(Debug)]
pub(super) struct SecretForm {
    /// Every secret of the kind has one of these; letters of any case.
    pub keywords: &'static [&'static str],
    /// Where it begins, seen from the keyword.
    pub begin: FormStart,
    /// The secret, or what stands around it with the secret as its first group. A match begins where
    /// `begin` says, so none is searched for.
    pub pattern: &'static str,
    /// How random it has to look.
    pub entropy: Entropy,
}

/// Where a form begins, seen from its keyword.
#[derive(Clone, Copy, Debug)]
pub(super) enum FormStart {
    /// With the keyword, which no letter, digit or `_` precedes.
    Here,
    /// With the keyword, whatever precedes it.
    Within,
    /// So many bytes before it.
    Before(usize),
    /// With the run of digits before it.
    Digits,
    /// As [`Begin::Here`], with the keyword written so. Where one fails, so does every other in the same
    /// run of letters, digits, `_` and `-`: what follows the run is the same for all of them.
    Run(&'static str),
}

/// How random a secret has to look.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entropy {
    /// So many bits a character, at least.
    Bits(f32),
    /// As one would who knows nothing of it but that it may be a secret.
    Random,
    /// As a password would in running text.
    Password,
    /// It is one whatever it looks like, but for variables.
    Certain,
    /// The same in a line that begins as those of configurations do; elsewhere, where people write of
    /// the command, as a password would in running text.
    Set,
}

/// All kinds: those with a form of their own first, so that they name what several match.
pub(super) const LISTS: &[&[Kind]] = &[
    access::KINDS,
    cloud_keys::KINDS,
    code::KINDS,
    models::KINDS,
    services::KINDS,
    network::KINDS,
    named::KINDS,
];

/// Every kind that is built in.
pub fn all() -> impl Iterator<Item = &'static Kind> {
    LISTS.iter().copied().flatten()
}

/// The kinds as a table for docs/redaction.md: each once, by its id.
#[must_use]
pub fn table() -> String {
    let kinds: BTreeMap<&str, &str> = all().map(|kind| (kind.id, kind.what)).collect();
    let head = "| kind | what it is |\n| --- | --- |\n".to_owned();
    kinds.iter().fold(head, |table, (id, what)| {
        table + &format!("| `{id}` | {what} |\n")
    })
}

/// A kind with a form, that begins with its keyword.
const fn form(id: &'static str, what: &'static str, form: &'static SecretForm) -> Kind {
    let how = Recogniser::Form(form);
    Kind { id, what, how }
}

/// The usual form: begins with a keyword that is its own prefix.
const fn prefixed(keywords: &'static [&'static str], pattern: &'static str) -> SecretForm {
    SecretForm {
        keywords,
        begin: FormStart::Here,
        pattern,
        entropy: Entropy::Bits(2.5),
    }
}
