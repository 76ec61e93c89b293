//! Classifies names: whether a name announces a secret, and of which sort.

/// Sort of secret that a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretName {
    /// A password: may be short, and a word.
    Password,
    /// A random shared secret.
    Secret,
    /// An API key or an encryption key.
    ApiKey,
    /// A random token that was issued.
    Token,
    /// A scheme with credentials, as in the HTTP header.
    Authorization,
}

impl SecretName {
    /// Returns the default kind of a value with such a name.
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
            Self::ApiKey => "api-key",
            Self::Token | Self::Authorization => "token",
        }
    }
}

/// Limit on the examined bytes of a name, counted from its end.
pub(super) const NAME_BYTES_MAX: usize = 128;
/// Limit on the examined words of a name, counted from its end.
const WORDS_MAX: usize = 8;

/// Suffix words that are ignored: `password1`, `token_old`, `SECRET_BASE64`.
const MODIFIERS: &[&str] = &[
    "old",
    "new",
    "prod",
    "production",
    "dev",
    "development",
    "test",
    "testing",
    "staging",
    "stage",
    "live",
    "value",
    "plain",
    "plaintext",
    "text",
    "raw",
    "string",
    "str",
    "base",
    "b",
    "current",
    "default",
    "primary",
    "secondary",
    "backup",
    "encoded",
    "env",
    "var",
];
/// Words that end the name of a password, also when joined to the preceding word.
const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "passwort", "passcode"];
/// Like [`PASSWORDS`], only as separate words after another one.
const SHORT_PASSWORDS: &[&str] = &["pwd", "pass", "pw", "psk"];
/// Words before `key` that make it a secret key.
const KEYS: &[&str] = &[
    "api",
    "access",
    "private",
    "secret",
    "auth",
    "encryption",
    "decryption",
    "signing",
    "master",
    "account",
    "storage",
    "shared",
    "service",
    "app",
    "application",
    "server",
    "role",
    "subscription",
    "cipher",
    "hmac",
    "aes",
    "jwt",
    "session",
    "consumer",
    "user",
    "admin",
    "license",
    "developer",
    "write",
    "ingest",
    "authentication",
    "authorization",
    "pre",
    "preshared",
    "host",
    "ssh",
    "deploy",
    "tacacs",
    "radius",
];
/// Key names written as one word.
const GROWN_KEYS: &[&str] = &[
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "masterkey",
    "accountkey",
    "encryptionkey",
    "signingkey",
    "appkey",
    "presharedkey",
    "sharedkey",
];
/// Names of secrets and tokens written as one word.
const GROWN_SECRETS: &[&str] = &[
    "clientsecret",
    "appsecret",
    "sharedsecret",
    "apisecret",
    "secretaccesskey",
];
const GROWN_TOKENS: &[&str] = &[
    "accesstoken",
    "authtoken",
    "refreshtoken",
    "apitoken",
    "bearertoken",
    "sessiontoken",
    "idtoken",
    "usertoken",
    "bottoken",
    "authorizationtoken",
    "privatetoken",
];
/// Words before `token` and `secret` that make it harmless: list positions, text parts, names.
const NO_TOKENS: &[&str] = &[
    "next",
    "page",
    "continuation",
    "continue",
    "sync",
    "resume",
    "delta",
    "cursor",
    "start",
    "end",
    "stop",
    "eos",
    "bos",
    "pad",
    "unk",
    "cls",
    "sep",
    "mask",
    "cancel",
    "cancellation",
    "idempotency",
    "client",
    "request",
    "dedup",
    "progress",
    "last",
    "first",
    "previous",
    "prev",
    "current",
    "special",
    "lookahead",
    "punct",
    "syntax",
    "fence",
    "position",
    "skip",
    "scroll",
    "change",
    "etag",
    "revision",
    "watch",
    "per",
    "input",
    "output",
    "prompt",
    "completion",
    "total",
    "max",
    "min",
    "each",
    "unexpected",
    "expected",
    "is",
    "has",
    "show",
    "hide",
    "forgot",
    "reset",
    "no",
    "invalid",
    "use",
    "with",
    "pagination",
];

/// Classifies a name; `None` when it does not announce a secret.
pub(super) fn meaning(name: &str) -> Option<SecretName> {
    let tail = name.as_bytes();
    let tail = tail.get(tail.len().saturating_sub(NAME_BYTES_MAX)..)?;
    let mut words = NameWords(tail)
        .take(WORDS_MAX)
        .skip_while(|word| word.iter().all(u8::is_ascii_digit) || is_one_of(word, MODIFIERS));
    let (last, before) = (words.next()?, words.next());
    if PASSWORDS.iter().any(|known| ends_with(last, known)) {
        return (!before.is_some_and(|word| {
            is_one_of(
                word,
                &[
                    "no", "has", "is", "show", "hide", "forgot", "reset", "invalid", "use",
                ],
            )
        }))
        .then_some(SecretName::Password);
    }
    if is_one_of(last, SHORT_PASSWORDS) {
        let alone = is_one_of(last, &["pwd"]);
        return (alone || before.is_some()).then_some(SecretName::Password);
    }
    if is_one_of(last, &["authorization"]) {
        return Some(SecretName::Authorization);
    }
    if is_one_of(last, GROWN_KEYS) {
        return Some(SecretName::ApiKey);
    }
    if is_one_of(last, GROWN_SECRETS) {
        return Some(SecretName::Secret);
    }
    if is_one_of(last, GROWN_TOKENS) {
        return Some(SecretName::Token);
    }
    let of = match last {
        word if is_one_of(word, &["secret", "credential", "credentials"]) => SecretName::Secret,
        word if is_one_of(word, &["token", "jwt", "pat"]) => SecretName::Token,
        word if is_one_of(word, &["key"]) => {
            return before
                .filter(|word| is_one_of(word, KEYS))
                .map(|_| SecretName::ApiKey);
        }
        _ => return None,
    };
    let is_none = before.is_some_and(|word| is_one_of(word, NO_TOKENS));
    // A `client_secret` is a secret, a `client_token` is not.
    let is_none = is_none
        && !(of == SecretName::Secret && before.is_some_and(|word| is_one_of(word, &["client"])));
    (!is_none).then_some(of)
}

/// Returns whether a name contains all given words, with any separators.
pub(super) fn has_words(name: &str, wanted: &[&str]) -> bool {
    let mut grown = String::with_capacity(name.len().min(NAME_BYTES_MAX));
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    grown.extend(
        letters
            .take(NAME_BYTES_MAX)
            .map(|byte| char::from(byte.to_ascii_lowercase())),
    );
    wanted.iter().all(|word| grown.contains(word))
}

fn is_one_of(word: &[u8], known: &[&str]) -> bool {
    known
        .iter()
        .any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

fn ends_with(word: &[u8], end: &str) -> bool {
    word.len() >= end.len()
        && word
            .get(word.len() - end.len()..)
            .is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
}

/// Iterates over a name's words, last first: split at non-alphanumeric characters, between letters and digits, and at
/// camel case boundaries.
struct NameWords<'a>(&'a [u8]);

impl<'a> Iterator for NameWords<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().rposition(u8::is_ascii_alphanumeric)? + 1;
        let rest = self.0.get(..end)?;
        let mut start = end - 1;
        while let Some(at) = start.checked_sub(1) {
            let (before, here) = (*rest.get(at)?, *rest.get(start)?);
            let behind = rest.get(start + 1).copied().unwrap_or_default();
            let is_cut = !before.is_ascii_alphanumeric()
                || before.is_ascii_digit() != here.is_ascii_digit()
                || (before.is_ascii_lowercase() && here.is_ascii_uppercase())
                || (before.is_ascii_uppercase()
                    && here.is_ascii_uppercase()
                    && behind.is_ascii_lowercase());
            if is_cut {
                break;
            }
            start = at;
        }
        self.0 = rest.get(..start)?;
        rest.get(start..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_stands_under_them() {
        for (name, wanted) in [
            ("password", Some(SecretName::Password)),
            ("DB_PASSWORD", Some(SecretName::Password)),
            ("dbPassword2", Some(SecretName::Password)),
            ("rootpassword", Some(SecretName::Password)),
            ("smtp_pass", Some(SecretName::Password)),
            ("pass", None),
            ("Pwd", Some(SecretName::Password)),
            ("reset_password", None),
            ("password_file", None),
            ("clientSecret", Some(SecretName::Secret)),
            ("secret_name", None),
            ("aws_secret_access_key", Some(SecretName::ApiKey)),
            ("X-Api-Key", Some(SecretName::ApiKey)),
            ("APIKey", Some(SecretName::ApiKey)),
            ("apikey", Some(SecretName::ApiKey)),
            ("key", None),
            ("public_key", None),
            ("primary_key", None),
            ("access_token", Some(SecretName::Token)),
            ("oauth2Token", Some(SecretName::Token)),
            ("next_page_token", None),
            ("max_tokens", None),
            ("clientToken", None),
            ("client_secret", Some(SecretName::Secret)),
            ("token_type", None),
            ("Authorization", Some(SecretName::Authorization)),
            ("", None),
            ("_", None),
            ("monkey", None),
        ] {
            assert_eq!(meaning(name), wanted, "{name}");
        }
        assert!(has_words("DD_API_KEY", &["ddapikey"]));
        assert!(!has_words("DD_APP_KEY", &["ddapikey"]));
    }
}
