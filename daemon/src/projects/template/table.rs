//! A table of a template being read: its keys are known, each value is taken with its place.

use super::error::{Broken, Reason};
use super::pattern::Pattern;
use super::{NAME_BYTES_MAX, PATTERN_BYTES_MAX, WORDS_MAX};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The file that is read, to say where things are.
pub(super) struct File<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl File<'_> {
    /// The line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        let ends = before.iter().filter(|byte| **byte == b'\n').count();
        u32::try_from(1 + ends).unwrap_or(u32::MAX)
    }

    pub(super) fn broken(&self, at: usize, reason: Reason) -> Broken {
        Broken {
            file: self.name.to_owned(),
            line: self.line(at),
            reason,
        }
    }
}

/// A value and where it stands.
#[derive(Clone, Copy)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) at: usize,
}

/// A name of the template's own choice and its value.
type Named<'t> = (At<&'t str>, &'t Spanned<DeValue<'t>>);

/// A table whose keys are all known.
pub(super) struct Table<'s, 't> {
    file: &'s File<'s>,
    table: &'t DeTable<'t>,
    /// Where the table stands.
    pub(super) at: usize,
}

impl<'s, 't> Table<'s, 't> {
    /// A table, refused if it has keys other than `keys`.
    pub(super) fn new(
        file: &'s File<'s>,
        table: &'t DeTable<'t>,
        span: Range<usize>,
        keys: &[&'static str],
    ) -> Result<Self, Broken> {
        for (key, _) in table {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let reason = Reason::UnknownKey {
                    key: shortened(name),
                    nearest: nearest(name, keys),
                };
                return Err(file.broken(key.span().start, reason));
            }
        }
        Ok(Self {
            file,
            table,
            at: span.start,
        })
    }

    fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.get(key)
    }

    pub(super) fn broken(&self, at: usize, reason: Reason) -> Broken {
        self.file.broken(at, reason)
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        self.file.line(at)
    }

    /// Where the value of a key stands, or else the table.
    pub(super) fn place(&self, key: &str) -> usize {
        self.get(key).map_or(self.at, |value| value.span().start)
    }

    fn wrong(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &'static str) -> Broken {
        let reason = Reason::Type {
            key: shortened(key),
            found: value.get_ref().type_str(),
            wanted,
        };
        self.broken(value.span().start, reason)
    }

    /// A text of 1 to `most` bytes, if it is there.
    pub(super) fn text(
        &self,
        key: &'static str,
        most: usize,
    ) -> Result<Option<At<&'t str>>, Broken> {
        let text = |value| self.text_of(key, value, most);
        self.get(key).map(text).transpose()
    }

    /// The same, as a text of its own.
    pub(super) fn owned(&self, key: &'static str, most: usize) -> Result<Option<String>, Broken> {
        Ok(self.text(key, most)?.map(|text| text.value.to_owned()))
    }

    /// A text that has to be there.
    pub(super) fn needed(&self, key: &'static str, most: usize) -> Result<At<&'t str>, Broken> {
        self.text(key, most)?
            .ok_or_else(|| self.broken(self.at, Reason::Missing { key }))
    }

    fn text_of(
        &self,
        key: &'static str,
        value: &'t Spanned<DeValue<'t>>,
        most: usize,
    ) -> Result<At<&'t str>, Broken> {
        let Some(text) = value.get_ref().as_str() else {
            return Err(self.wrong(key, value, "a text"));
        };
        let at = value.span().start;
        if text.trim().is_empty() || text.len() > most {
            let bytes = text.len();
            return Err(self.broken(at, Reason::Length { key, bytes, most }));
        }
        Ok(At { value: text, at })
    }

    /// A pattern, if it is there.
    pub(super) fn pattern(&self, key: &'static str) -> Result<Option<Pattern>, Broken> {
        // Read at any length, since a pattern says for itself how long it may be.
        let Some(text) = self.text(key, PATTERN_BYTES_MAX << 8)? else {
            return Ok(None);
        };
        let pattern = Pattern::new(text.value).map_err(|reason| self.broken(text.at, reason));
        pattern.map(Some)
    }

    /// One of several words, if it is there.
    pub(super) fn choice(
        &self,
        key: &'static str,
        choices: &[&'static str],
    ) -> Result<Option<&'static str>, Broken> {
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
        Err(self.broken(text.at, reason))
    }

    /// A list of texts, at most [`WORDS_MAX`] of `most` bytes; empty if it is not there.
    pub(super) fn texts(&self, key: &'static str, most: usize) -> Result<Vec<At<&'t str>>, Broken> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let Some(list) = value.get_ref().as_array() else {
            return Err(self.wrong(key, value, "a list of texts"));
        };
        self.bounded(key, value, list.len(), WORDS_MAX)?;
        let item = |value| self.text_of(key, value, most);
        list.iter().map(item).collect()
    }

    /// The same, as texts of their own.
    pub(super) fn words(&self, key: &'static str) -> Result<Vec<String>, Broken> {
        let words = self.texts(key, NAME_BYTES_MAX)?;
        Ok(words
            .into_iter()
            .map(|word| word.value.to_owned())
            .collect())
    }

    fn bounded(
        &self,
        what: &'static str,
        value: &Spanned<DeValue<'_>>,
        count: usize,
        most: usize,
    ) -> Result<(), Broken> {
        if count <= most {
            return Ok(());
        }
        let reason = Reason::TooMany { what, count, most };
        Err(self.broken(value.span().start, reason))
    }

    /// A yes or no, if it is there.
    pub(super) fn flag(&self, key: &'static str) -> Result<Option<bool>, Broken> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.get_ref().as_bool() {
            Some(flag) => Ok(Some(flag)),
            None => Err(self.wrong(key, value, "true or false")),
        }
    }

    /// A whole number from `least` to `most`, if it is there.
    pub(super) fn number(
        &self,
        key: &'static str,
        (least, most): (usize, usize),
    ) -> Result<Option<usize>, Broken> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let integer = value.get_ref().as_integer();
        let parsed =
            integer.and_then(|value| i64::from_str_radix(value.as_str(), value.radix()).ok());
        let Some(number) = parsed else {
            return Err(self.wrong(key, value, "a whole number"));
        };
        match usize::try_from(number) {
            Ok(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ => {
                let reason = Reason::Range {
                    key,
                    value: number,
                    least: i64::try_from(least).unwrap_or(i64::MAX),
                    most: i64::try_from(most).unwrap_or(i64::MAX),
                };
                Err(self.broken(value.span().start, reason))
            }
        }
    }

    /// A table within, if it is there.
    pub(super) fn table(
        &self,
        key: &'static str,
        keys: &[&'static str],
    ) -> Result<Option<Table<'s, 't>>, Broken> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.get_ref().as_table() {
            Some(table) => Table::new(self.file, table, value.span(), keys).map(Some),
            None => Err(self.wrong(key, value, "a table")),
        }
    }

    /// A list of tables, at most `most`; empty if it is not there.
    pub(super) fn tables(
        &self,
        key: &'static str,
        keys: &[&'static str],
        most: usize,
    ) -> Result<Vec<Table<'s, 't>>, Broken> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let wanted = "a list of tables, each begun by its name in double brackets";
        let Some(list) = value.get_ref().as_array() else {
            return Err(self.wrong(key, value, wanted));
        };
        self.bounded(key, value, list.len(), most)?;
        let table = |item: &'t Spanned<DeValue<'t>>| match item.get_ref().as_table() {
            Some(table) => Table::new(self.file, table, item.span(), keys),
            None => Err(self.wrong(key, item, wanted)),
        };
        list.iter().map(table).collect()
    }

    /// Tables by names of the template's own choice, in the order of the file.
    pub(super) fn named_tables(
        &self,
        key: &'static str,
        keys: &[&'static str],
        most: usize,
    ) -> Result<Vec<(At<&'t str>, Table<'s, 't>)>, Broken> {
        let mut tables = Vec::new();
        for (name, value) in self.named(key, most)? {
            match value.get_ref().as_table() {
                Some(table) => {
                    tables.push((name, Table::new(self.file, table, value.span(), keys)?));
                }
                None => return Err(self.wrong(name.value, value, "a table")),
            }
        }
        Ok(tables)
    }

    /// Texts by names of the template's own choice, in the order of the file.
    pub(super) fn named_texts(
        &self,
        key: &'static str,
        (count, bytes): (usize, usize),
    ) -> Result<Vec<(At<&'t str>, &'t str)>, Broken> {
        let mut texts = Vec::new();
        for (name, value) in self.named(key, count)? {
            texts.push((name, self.text_of(key, value, bytes)?.value));
        }
        Ok(texts)
    }

    fn named(&self, key: &'static str, most: usize) -> Result<Vec<Named<'t>>, Broken> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.wrong(key, value, "a table of names"));
        };
        self.bounded(key, value, table.len(), most)?;
        let mut named: Vec<_> = table
            .iter()
            .map(|(name, value)| {
                let (at, name): (usize, &str) = (name.span().start, name.get_ref());
                (At { value: name, at }, value)
            })
            .collect();
        named.sort_by_key(|(name, _)| name.at);
        Ok(named)
    }
}

/// The word that looks most like another.
fn nearest(word: &str, words: &[&'static str]) -> &'static str {
    let word: String = word.chars().take(NAME_BYTES_MAX).collect();
    let distance = |known: &&&'static str| strsim::damerau_levenshtein(&word, known);
    words
        .iter()
        .min_by_key(distance)
        .copied()
        .unwrap_or_default()
}

pub(super) fn shortened(text: &str) -> String {
    text.chars().take(NAME_BYTES_MAX).collect()
}
