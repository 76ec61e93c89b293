//! Redacts JSON as text: strings are checked unescaped and by their key names; everything else is copied.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::find::FINDER;
use super::value::{NamePath, UsedKeys};
use super::{Rules, SecretCounts};

/// Limit on JSON nesting: parsers refuse deeper JSON.
const DEPTH_MAX: usize = 256;
/// Limit on levels of JSON within JSON strings.
pub(super) const NESTING_MAX: usize = 4;

/// Returns the text without secrets; `None` when it is not JSON.
pub(super) fn redact<'j>(
    rules: &Rules,
    json: &'j str,
    found: &mut SecretCounts,
) -> Option<Cow<'j, str>> {
    nested(rules, json, NESTING_MAX, found)
}

/// Like [`redact`], for text that may come from a JSON string.
fn nested<'j>(
    rules: &Rules,
    json: &'j str,
    nesting: usize,
    found: &mut SecretCounts,
) -> Option<Cow<'j, str>> {
    if !may_hold(rules, json) {
        return Some(Cow::Borrowed(json));
    }
    let mut counted = SecretCounts::default();
    let mut walk = JsonWalker {
        rules,
        json,
        at: 0,
        copied: 0,
        out: String::new(),
        nesting,
        found: &mut counted,
    };
    walk.blanks();
    while walk.at < json.len() {
        walk.value(DEPTH_MAX, NamePath::default())?;
        walk.blanks();
    }
    if walk.copied == 0 {
        return Some(Cow::Borrowed(json));
    }
    let mut out = walk.out;
    out.push_str(json.get(walk.copied..)?);
    // The output is JSON only if the input was.
    is_json(json).then(|| {
        found.add_all(counted);
        Cow::Owned(out)
    })
}

/// Returns whether a text is one or several JSON values.
fn is_json(text: &str) -> bool {
    serde_json::Deserializer::from_str(text)
        .into_iter::<IgnoredAny>()
        .all(|one| one.is_ok())
}

/// Redacts a named string, as nested JSON or as text.
pub(super) fn string<'s>(
    rules: &Rules,
    names: NamePath<'_>,
    text: &'s str,
    nesting: usize,
    found: &mut SecretCounts,
) -> Cow<'s, str> {
    if let Some(nesting) = nesting.checked_sub(1)
        && text.trim_ascii_start().starts_with(['{', '['])
        && let Some(redacted) = nested(rules, text, nesting, found)
    {
        // A password may begin like JSON.
        let is_secret = |name| FINDER.under(name, text).is_some();
        let may_be_one = || names.of_value().is_some_and(is_secret) && !is_json(text);
        if matches!(redacted, Cow::Owned(_)) || !may_be_one() {
            return redacted;
        }
    }
    rules.under(names.of_value(), text, found)
}

/// Returns whether a JSON text may contain a secret; `false` is definite.
fn may_hold(rules: &Rules, json: &str) -> bool {
    FINDER.may_be_in(json) || hides_ascii(json) || rules.own.iter().any(|own| own.may_be_in(json))
}

/// Returns whether an escape encodes a letter, a digit or a slash, which could hide a keyword.
fn hides_ascii(json: &str) -> bool {
    let bytes = json.as_bytes();
    memchr::memchr_iter(b'\\', bytes).any(|at| {
        let rest = bytes.get(at + 1..).unwrap_or_default();
        matches!(
            rest,
            [b'/', ..] | [b'u' | b'U', b'0', b'0', b'2'..=b'7', ..]
        )
    })
}

struct JsonWalker<'w, 'j> {
    rules: &'w Rules,
    json: &'j str,
    at: usize,
    /// End of the input that is copied to `out`.
    copied: usize,
    out: String,
    nesting: usize,
    found: &'w mut SecretCounts,
}

impl<'j> JsonWalker<'_, 'j> {
    fn blanks(&mut self) {
        let rest = self.json.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
    }

    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    /// Consumes this byte if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize, names: NamePath<'_>) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(names),
            b'{' => self.object(depth.checked_sub(1)?, names),
            b'[' => self.array(depth.checked_sub(1)?, names),
            _ => {
                let rest = self.json.as_bytes().get(self.at..)?;
                let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                let length = rest.iter().take_while(is_of_word).count();
                self.at += length;
                (length > 0).then_some(())
            }
        }
    }

    fn array(&mut self, depth: usize, names: NamePath<'_>) -> Option<()> {
        self.at += 1;
        self.blanks();
        if self.take(b']') {
            return Some(());
        }
        loop {
            self.value(depth, names)?;
            self.blanks();
            if self.take(b']') {
                return Some(());
            }
            self.take(b',').then_some(())?;
            self.blanks();
        }
    }

    fn object(&mut self, depth: usize, above: NamePath<'_>) -> Option<()> {
        self.at += 1;
        self.blanks();
        if self.take(b'}') {
            return Some(());
        }
        let mut called: Option<String> = None;
        let mut taken = UsedKeys::default();
        loop {
            (self.peek()? == b'"').then_some(())?;
            let key = self.key(&mut taken)?;
            self.blanks();
            self.take(b':').then_some(())?;
            self.blanks();
            let names = above.below(&key, called.as_deref());
            let (start, is_name) = (self.at, names.is_a_name());
            self.value(depth, names)?;
            if is_name {
                called = self
                    .json
                    .get(start..self.at)
                    .and_then(|raw| serde_json::from_str(raw).ok());
            }
            self.blanks();
            if self.take(b'}') {
                return Some(());
            }
            self.take(b',').then_some(())?;
            self.blanks();
        }
    }

    /// Consumes a string value, and rewrites it if it contains a secret.
    fn string(&mut self, names: NamePath<'_>) -> Option<()> {
        let start = self.at;
        let text = self.read()?;
        match string(self.rules, names, &text, self.nesting, self.found) {
            Cow::Owned(redacted) => self.write(start, &redacted),
            Cow::Borrowed(_) => Some(()),
        }
    }

    /// Consumes a key and redacts it; returns the original key.
    fn key(&mut self, taken: &mut UsedKeys) -> Option<Cow<'j, str>> {
        let start = self.at;
        let key = self.read()?;
        if let Cow::Owned(redacted) = self.rules.under(None, &key, self.found) {
            self.write(start, &taken.free(redacted))?;
        }
        Some(key)
    }

    /// Writes a replacement for the consumed string that began at `start`.
    fn write(&mut self, start: usize, text: &str) -> Option<()> {
        self.out.push_str(self.json.get(self.copied..start)?);
        self.out.push_str(&serde_json::to_string(text).ok()?);
        self.copied = self.at;
        Some(())
    }

    /// Consumes a string and returns its unescaped text.
    fn read(&mut self) -> Option<Cow<'j, str>> {
        let (inner, is_plain) = self.raw()?;
        Some(if is_plain {
            Cow::Borrowed(inner)
        } else {
            Cow::Owned(unescaped(inner)?)
        })
    }

    /// Consumes a string; returns its raw contents and whether they have no escape.
    fn raw(&mut self) -> Option<(&'j str, bool)> {
        let start = self.at + 1;
        let bytes = self.json.as_bytes();
        let (mut at, mut is_plain) = (start, true);
        loop {
            at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
            if bytes.get(at) == Some(&b'"') {
                self.at = at + 1;
                return Some((self.json.get(start..at)?, is_plain));
            }
            is_plain = false;
            at += 2;
        }
    }
}

/// Unescapes a string. Lone surrogates, which some parsers accept, become U+FFFD; `None` for invalid escapes.
fn unescaped(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(rest.get(..at)?);
        let escape = *rest.as_bytes().get(at + 1)?;
        rest = rest.get(at + 2..)?;
        text.push(match escape {
            b'"' | b'\\' | b'/' => char::from(escape),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = unit(rest)?;
                rest = rest.get(4..)?;
                let low = rest.strip_prefix("\\u").and_then(unit_of_low);
                match (char::from_u32(unit), low) {
                    (Some(character), _) => character,
                    (None, Some(low)) if unit < 0xdc00 => {
                        rest = rest.get(6..)?;
                        char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))?
                    }
                    (None, _) => char::REPLACEMENT_CHARACTER,
                }
            }
            _ => return None,
        });
    }
    text.push_str(rest);
    Some(text)
}

fn unit(digits: &str) -> Option<u32> {
    let digits = digits.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}

fn unit_of_low(digits: &str) -> Option<u32> {
    unit(digits).filter(|unit| (0xdc00..0xe000).contains(unit))
}
