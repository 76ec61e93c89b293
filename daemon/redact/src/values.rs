//! Classifies values: random, placeholder, plain word.

use super::written::{is_expression, is_filled_in, is_program, is_variable};

/// Examined bytes of a value: its beginning shows whether it is random.
const LOOKED_AT: usize = 256;
/// Minimum length of a random value, in bytes.
const RANDOM_BYTES_MIN: usize = 16;
/// Limit on a password, in bytes.
const PASSWORD_BYTES_MAX: usize = 256;

/// Context of a value: the confidence that it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// Under a parsed data key: any characters belong to the value.
    Key,
    /// Quoted and assigned, or between an element's tags.
    Data,
    /// In running text, where words also follow a colon.
    Prose,
}

/// Returns the entropy of the character frequencies, in bits per character.
pub(super) fn entropy(value: &str) -> f32 {
    let looked_at = value
        .as_bytes()
        .get(..LOOKED_AT)
        .unwrap_or(value.as_bytes());
    let mut counts = [0u16; 256];
    for byte in looked_at {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let all = looked_at.len() as f32;
    let of = |count: &u16| {
        let share = f32::from(*count) / all;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(of).sum()
}

/// Returns whether a value is a placeholder for a secret: a variable, a mask, an example.
pub(super) fn is_placeholder(value: &str) -> bool {
    is_variable(value) || is_mask(value) || is_example(value) || head(value).contains("%s")
}

fn is_example(value: &str) -> bool {
    let looked_at = head(value).to_ascii_lowercase();
    let has = |word: &&str| looked_at.contains(*word);
    EXAMPLES.iter().any(has) || is_of_words_alone(&looked_at, FILLERS)
}

/// Like [`is_placeholder`], for a value with a known form: only the vendor's own examples.
pub(super) fn is_known_example(value: &str) -> bool {
    is_mask(value)
        || [
            "EXAMPLE",
            "xxxxxxxx",
            "XXXXXXXX",
            "0123456789",
            "1234567890",
            "abcdefghij",
            "ABCDEFGHIJ",
        ]
        .iter()
        .any(|word| value.contains(word))
        || ["your_", "your-", "-here", "_here", "yourkey", "yourtoken"]
            .iter()
            .any(|word| head(value).to_ascii_lowercase().contains(word))
        || value.starts_with(EMULATOR_KEY)
}

/// Returns whether a value looks random: long enough, of characters that occur in keys, more than words, and not
/// repetitive.
pub(super) fn is_random(value: &str, setting: Setting) -> bool {
    let least = match setting {
        Setting::Key | Setting::Data => RANDOM_BYTES_MIN - 4,
        Setting::Prose => RANDOM_BYTES_MIN,
    };
    let is_of_keys = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./+=~:@*%^$#".contains(&byte);
    if value.len() < least || !head(value).bytes().all(is_of_keys) || is_placeholder(value) {
        return false;
    }
    let has = |of: fn(&u8) -> bool| head(value).as_bytes().iter().any(of);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        || (value.len() >= 24 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase));
    // In a program, a value assigned to a key is often a name that contains `key`.
    let is_called = setting == Setting::Prose && {
        let lower = head(value).to_ascii_lowercase();
        ["key", "token", "secret", "passw", "credential"]
            .iter()
            .any(|word| lower.contains(word))
    };
    is_mixed && !is_called && !is_path(value) && !is_wordy(value) && entropy(value) >= 3.0
}

/// Returns whether a value may be a password.
pub(super) fn is_password(value: &str, setting: Setting) -> bool {
    let is_short = value.len()
        < match setting {
            Setting::Key | Setting::Data => 4,
            Setting::Prose => 6,
        };
    if is_short
        || value.len() > PASSWORD_BYTES_MAX
        || value.chars().any(|c| c.is_whitespace() || c.is_control())
        || is_mask(value)
        || is_example(value)
        || is_path(value)
    {
        return false;
    }
    let is_written_for_one = match setting {
        Setting::Key => is_filled_in(value) || is_expression(value),
        Setting::Data | Setting::Prose => is_variable(value) || is_program(value),
    };
    if is_written_for_one {
        return false;
    }
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase())
        || is_of_words_alone(&value.to_ascii_lowercase(), FILLERS);
    match setting {
        Setting::Key | Setting::Data => !is_word || (value.len() >= 6 && !STATES.contains(&value)),
        Setting::Prose => !is_word && !is_wordy(value),
    }
}

/// Texts that occur in examples.
const EXAMPLES: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "changethis",
    "change_this",
    "replace",
    "your_",
    "your-",
    "yourpass",
    "yourkey",
    "yourtoken",
    "yoursecret",
    "yourapi",
    "insert",
    "dummy",
    "redacted",
    "xxxx",
    "todo",
    "fixme",
    "notset",
    "not-set",
    "not_set",
    "-here",
    "_here",
    "0123456789",
    "1234567890",
    "123456789",
    "abcdefgh",
    "deadbeef",
    "lorem",
    "anon",
];
/// Words that examples consist of.
const FILLERS: &[&str] = &[
    "my",
    "the",
    "a",
    "an",
    "some",
    "secret",
    "secrets",
    "password",
    "passwd",
    "pass",
    "pwd",
    "passphrase",
    "token",
    "key",
    "api",
    "test",
    "tests",
    "testing",
    "user",
    "username",
    "db",
    "database",
    "super",
    "random",
    "very",
    "foo",
    "bar",
    "baz",
    "qux",
    "fake",
    "mock",
    "sample",
    "demo",
    "default",
    "value",
    "string",
    "client",
    "access",
    "auth",
    "private",
    "strong",
    "secure",
    "new",
    "old",
    "good",
    "bad",
    "wrong",
    "invalid",
    "valid",
    "hidden",
    "masked",
    "mypassword",
    "mysecret",
    "mytoken",
    "supersecret",
    "hunter",
    "id",
    "app",
    "name",
    "text",
    "dev",
    "admin",
    "for",
    "of",
    "to",
    "in",
    "is",
    "this",
    "that",
    "and",
    "or",
    "not",
    "no",
    "with",
    "use",
    "using",
    "same",
    "shared",
    "bearer",
    "basic",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "empty",
    "required",
    "optional",
    "unknown",
];
/// Words that describe the state of a password.
const STATES: &[&str] = &[
    "required",
    "optional",
    "string",
    "hidden",
    "masked",
    "missing",
    "invalid",
    "incorrect",
    "expired",
    "changed",
    "unchanged",
    "disabled",
    "enabled",
    "ignored",
    "prompt",
    "unknown",
    "default",
    "plaintext",
    "encrypted",
    "hashed",
    "bcrypt",
    "boolean",
    "number",
    "object",
    "integer",
    "undefined",
    "password",
    "secret",
    "private",
    "public",
    "rejected",
    "accepted",
    "provided",
    "removed",
    "stored",
    "external",
    "ldap",
    "saml",
    "kerberos",
    "keyring",
    "keychain",
    "environment",
    "manual",
    "auto",
    "strong",
    "always",
    "never",
    "filled",
    "sensitive",
    "confidential",
    "protected",
    "credentials",
    "authentication",
];
/// Beginning of the public key of Azure's storage emulator.
const EMULATOR_KEY: &str = "Eby8vdM02xNOcqFl";

fn head(value: &str) -> &str {
    let mut end = value.len().min(LOOKED_AT);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    value.get(..end).unwrap_or_default()
}

/// `****`, `xxxx-xxxx`, `0000`: only one or two different characters.
fn is_mask(value: &str) -> bool {
    if value.contains("***") {
        return true;
    }
    let mut seen = [None; 2];
    for byte in head(value).bytes() {
        if seen.contains(&Some(byte)) {
            continue;
        }
        match seen.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => *slot = Some(byte),
            None => return false,
        }
    }
    true
}

/// Returns whether a text consists only of these words and separators.
fn is_of_words_alone(lower: &str, words: &[&str]) -> bool {
    lower
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .all(|word| words.contains(&word))
        && lower
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_. !:".contains(&byte))
        && lower.bytes().filter(u8::is_ascii_digit).count() <= 3
}

/// Returns whether a text is a file name or a URL.
fn is_path(value: &str) -> bool {
    value.starts_with("./")
        || value.starts_with("../")
        || value.starts_with("~/")
        || value.contains("://")
        || (value.starts_with('/')
            && value.bytes().filter(|byte| *byte == b'/').count() > 1
            && is_wordy(value))
        || value.contains("/run/")
        || value.starts_with("/etc/")
        || value.starts_with("/home/")
        || value.starts_with("arn:")
}

/// Returns whether a text consists of words and short numbers with separators: `prod-db-1`, `config.auth.key2`.
pub(super) fn is_wordy(value: &str) -> bool {
    head(value)
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .all(|part| {
            let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = part.len() - letters.len();
            let is_number = letters.is_empty() && digits <= 4;
            let is_word = letters.bytes().all(|byte| byte.is_ascii_alphabetic())
                && digits <= 2
                && is_cased_as_words(letters);
            is_number || (is_word && !letters.is_empty())
        })
}

/// Returns whether the capitals are placed as in `camelCase`, `Word` or `WORD`: few relative to the letters.
fn is_cased_as_words(letters: &str) -> bool {
    let turns = letters.as_bytes().windows(2).filter(|pair| match pair {
        [one, other] => one.is_ascii_lowercase() && other.is_ascii_uppercase(),
        _ => false,
    });
    turns.count() * 4 <= letters.len()
}
