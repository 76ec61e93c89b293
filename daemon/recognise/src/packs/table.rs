//! A table of a pack being read: each key is taken once, and what was not taken is unknown.

use super::error::{PackError, Reason};
use super::{NAME_BYTES_MAX, WORDS_MAX};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The file that is read, to say where things are.
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// The line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    pub(super) fn error(&self, at: usize, reason: Reason) -> PackError {
        PackError {
            file: self.file.to_owned(),
            line: self.line(at),
            reason,
        }
    }
}

/// A value and where it stands.
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) at: usize,
}

/// A word of a pack's own choice and a list of texts.
pub(super) type WordList<'t> = (At<&'t str>, Vec<&'t str>);

/// A table whose keys are all known.
pub(super) struct Table<'s, 't> {
    source: &'s Source<'s>,
    table: &'t DeTable<'t>,
    /// Where the table stands.
    pub(super) at: usize,
}

impl<'s, 't> Table<'s, 't> {
    /// A table, refused if it has keys other than `keys`.
    pub(super) fn new(
        source: &'s Source<'s>,
        table: &'t DeTable<'t>,
        span: Range<usize>,
        keys: &[&'static str],
    ) -> Result<Self, PackError> {
        for (key, _) in table {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let reason = Reason::UnknownKey {
                    key: shortened(name),
                    nearest: nearest(name, keys),
                };
                return Err(source.error(key.span().start, reason));
            }
        }
        Ok(Self {
            source,
            table,
            at: span.start,
        })
    }

    fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.get(key)
    }

    pub(super) fn error(&self, at: usize, reason: Reason) -> PackError {
        self.source.error(at, reason)
    }

    pub(super) fn line(&self, at: usize) -> usize {
        self.source.line(at)
    }

    fn wrong(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &'static str) -> PackError {
        let reason = Reason::Type {
            key: key.to_owned(),
            found: value.get_ref().type_str(),
            wanted,
        };
        self.error(value.span().start, reason)
    }

    /// A text of 1 to `most` bytes, if it is there.
    pub(super) fn text(
        &self,
        key: &'static str,
        most: usize,
    ) -> Result<Option<At<&'t str>>, PackError> {
        self.get(key)
            .map(|value| self.text_of(key, value, most))
            .transpose()
    }

    /// A text that has to be there.
    pub(super) fn needed(&self, key: &'static str, most: usize) -> Result<At<&'t str>, PackError> {
        self.text(key, most)?
            .ok_or_else(|| self.error(self.at, Reason::Missing { key }))
    }

    /// A name that has to be there.
    pub(super) fn name(&self, key: &'static str) -> Result<At<&'t str>, PackError> {
        let name = self.needed(key, NAME_BYTES_MAX)?;
        let allowed =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        let is_name = name.value.starts_with(|c: char| c.is_ascii_lowercase())
            && name.value.chars().all(allowed);
        if is_name {
            return Ok(name);
        }
        let value = shortened(name.value);
        Err(self.error(name.at, Reason::Name { key, value }))
    }

    fn text_of(
        &self,
        key: &'static str,
        value: &'t Spanned<DeValue<'t>>,
        most: usize,
    ) -> Result<At<&'t str>, PackError> {
        let Some(text) = value.get_ref().as_str() else {
            return Err(self.wrong(key, value, "a text"));
        };
        let at = value.span().start;
        if text.is_empty() || text.len() > most {
            let bytes = text.len();
            return Err(self.error(at, Reason::Length { key, bytes, most }));
        }
        Ok(At { value: text, at })
    }

    /// One of several words, if it is there.
    pub(super) fn choice(
        &self,
        key: &'static str,
        choices: &[&'static str],
    ) -> Result<Option<&'static str>, PackError> {
        let Some(text) = self.text(key, NAME_BYTES_MAX)? else {
            return Ok(None);
        };
        if let Some(choice) = choices.iter().find(|choice| **choice == text.value) {
            return Ok(Some(choice));
        }
        let reason = Reason::Choice {
            key,
            value: shortened(text.value),
            choices: choices.join(", "),
            nearest: nearest(text.value, choices),
        };
        Err(self.error(text.at, reason))
    }

    /// A list of texts, empty if it is not there.
    pub(super) fn texts(&self, key: &'static str) -> Result<Vec<At<&'t str>>, PackError> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let Some(list) = value.get_ref().as_array() else {
            return Err(self.wrong(key, value, "a list of texts"));
        };
        let count = list.len();
        if count > WORDS_MAX {
            let reason = Reason::TooMany { what: key, count };
            return Err(self.error(value.span().start, reason));
        }
        let item = |value| self.text_of(key, value, NAME_BYTES_MAX);
        list.iter().map(item).collect()
    }

    /// An integer, if it is there.
    pub(super) fn integer(&self, key: &'static str) -> Result<Option<At<i64>>, PackError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let integer = value.get_ref().as_integer();
        let parsed =
            integer.and_then(|value| i64::from_str_radix(value.as_str(), value.radix()).ok());
        let at = value.span().start;
        match parsed {
            Some(value) => Ok(Some(At { value, at })),
            None => Err(self.wrong(key, value, "a whole number")),
        }
    }

    /// A number with or without a point, which has to be there.
    pub(super) fn number(&self, key: &'static str) -> Result<At<f32>, PackError> {
        let Some(value) = self.get(key) else {
            return Err(self.error(self.at, Reason::Missing { key }));
        };
        let inner = value.get_ref();
        let float = inner.as_float().map(|value| value.as_str());
        let text = float.or_else(|| inner.as_integer().map(|value| value.as_str()));
        let at = value.span().start;
        match text.and_then(|text| text.parse().ok()) {
            Some(value) => Ok(At { value, at }),
            None => Err(self.wrong(key, value, "a number")),
        }
    }

    /// A table within, if it is there.
    pub(super) fn table(
        &self,
        key: &'static str,
        keys: &[&'static str],
    ) -> Result<Option<Table<'s, 't>>, PackError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.get_ref().as_table() {
            Some(table) => Table::new(self.source, table, value.span(), keys).map(Some),
            None => Err(self.wrong(key, value, "a table")),
        }
    }

    /// A list of tables, at most `most`; empty if it is not there.
    pub(super) fn tables(
        &self,
        key: &'static str,
        keys: &[&'static str],
        most: usize,
    ) -> Result<Vec<Table<'s, 't>>, PackError> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let wanted = "a list of tables, each begun by its name in double brackets";
        let Some(list) = value.get_ref().as_array() else {
            return Err(self.wrong(key, value, wanted));
        };
        let count = list.len();
        if count > most {
            let reason = Reason::TooMany { what: key, count };
            return Err(self.error(value.span().start, reason));
        }
        let table = |item: &'t Spanned<DeValue<'t>>| match item.get_ref().as_table() {
            Some(table) => Table::new(self.source, table, item.span(), keys),
            None => Err(self.wrong(key, item, wanted)),
        };
        list.iter().map(table).collect()
    }

    /// Words of the pack's own choice, each with a list of texts.
    pub(super) fn word_lists(&self, key: &'static str) -> Result<Vec<WordList<'t>>, PackError> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.wrong(key, value, "a table of words with lists"));
        };
        let count = table.len();
        if count > WORDS_MAX {
            let reason = Reason::TooMany { what: key, count };
            return Err(self.error(value.span().start, reason));
        }
        let mut lists = Vec::with_capacity(count);
        for (word, list) in table {
            let at = word.span().start;
            let Some(items) = list.get_ref().as_array() else {
                return Err(self.wrong(word.get_ref(), list, "a list of texts"));
            };
            let item = |item| Ok(self.text_of(key, item, NAME_BYTES_MAX)?.value);
            let items: Result<Vec<&str>, PackError> =
                items.iter().take(WORDS_MAX).map(item).collect();
            let value: &str = word.get_ref();
            lists.push((At { value, at }, items?));
        }
        Ok(lists)
    }
}

/// The word that looks most like another.
pub(super) fn nearest(word: &str, words: &[&'static str]) -> &'static str {
    let word: String = word.chars().take(NAME_BYTES_MAX).collect();
    let distance = |known: &&&'static str| strsim::damerau_levenshtein(&word, known);
    words
        .iter()
        .min_by_key(distance)
        .copied()
        .unwrap_or_default()
}

fn shortened(text: &str) -> String {
    text.chars().take(NAME_BYTES_MAX).collect()
}
