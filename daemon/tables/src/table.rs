//! One table: keys are checked once, and each value is taken with its place and its limits.

use std::marker::PhantomData;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{FileError, Reason, SHOWN_CHARS_MAX, Source, nearest, shortened};

const TABLES: &str = "a list of tables, each begun by its name in double brackets";

/// A value and the byte where it begins.
#[derive(Clone, Copy, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its first byte in the file.
    pub at: usize,
}

/// A value under a name that the file chooses.
pub type Named<'t, T> = (Located<&'t str>, T);

/// A table whose keys are all known.
#[derive(Debug)]
pub struct Table<'s, 't, R> {
    source: &'s Source<'s>,
    table: &'t DeTable<'t>,
    /// The first byte of the table.
    pub at: usize,
    reason: PhantomData<fn() -> R>,
}

type Value<'t> = Spanned<DeValue<'t>>;

impl<'s, 't, R: From<Reason>> Table<'s, 't, R> {
    pub(super) fn new(
        source: &'s Source<'s>,
        table: &'t DeTable<'t>,
        span: Range<usize>,
        keys: &[&'static str],
    ) -> Result<Self, FileError<R>> {
        for (key, _) in table {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let (key_name, nearest) = (shortened(name), nearest(name, keys));
                let reason = Reason::UnknownKey {
                    key: key_name,
                    nearest,
                };
                return Err(source.error(key.span().start, reason));
            }
        }
        Ok(Self {
            source,
            table,
            at: span.start,
            reason: PhantomData,
        })
    }

    fn within(
        &self,
        key: &str,
        value: &'t Value<'t>,
        keys: &[&'static str],
    ) -> Result<Self, FileError<R>> {
        match value.get_ref().as_table() {
            Some(table) => Self::new(self.source, table, value.span(), keys),
            None => Err(self.wrong(key, value, "a table")),
        }
    }

    fn get(&self, key: &str) -> Option<&'t Value<'t>> {
        self.table.get(key)
    }

    /// Builds the error for a fault at a byte.
    pub fn error(&self, at: usize, reason: impl Into<R>) -> FileError<R> {
        self.source.error(at, reason)
    }

    /// Returns the line of a byte, from 1.
    #[must_use]
    pub fn line(&self, at: usize) -> u32 {
        self.source.line(at)
    }

    /// Returns the first byte of a key's value, or of the table if the key is missing.
    #[must_use]
    pub fn place(&self, key: &str) -> usize {
        self.get(key).map_or(self.at, |value| value.span().start)
    }

    fn wrong(&self, key: &str, value: &Value<'_>, wanted: &'static str) -> FileError<R> {
        let (key, found) = (shortened(key), value.get_ref().type_str());
        self.error(value.span().start, Reason::Type { key, found, wanted })
    }

    fn missing(&self, key: &'static str) -> FileError<R> {
        self.error(self.at, Reason::Missing { key })
    }

    fn bounded(
        &self,
        what: &'static str,
        value: &Value<'_>,
        count: usize,
        most: usize,
    ) -> Result<(), FileError<R>> {
        if count <= most {
            return Ok(());
        }
        Err(self.error(value.span().start, Reason::TooMany { what, count, most }))
    }

    /// Returns a text of 1 to `most` bytes, if the key is set.
    ///
    /// # Errors
    /// [`Reason::Type`], [`Reason::Length`].
    pub fn text(
        &self,
        key: &'static str,
        most: usize,
    ) -> Result<Option<Located<&'t str>>, FileError<R>> {
        self.get(key)
            .map(|value| self.text_of(key, value, most))
            .transpose()
    }

    /// Returns a copy of a text of 1 to `most` bytes, if the key is set.
    ///
    /// # Errors
    /// As [`Table::text`].
    pub fn owned(&self, key: &'static str, most: usize) -> Result<Option<String>, FileError<R>> {
        Ok(self.text(key, most)?.map(|text| text.value.to_owned()))
    }

    /// Returns a required text of 1 to `most` bytes.
    ///
    /// # Errors
    /// [`Reason::Missing`], and those of [`Table::text`].
    pub fn needed(&self, key: &'static str, most: usize) -> Result<Located<&'t str>, FileError<R>> {
        self.text(key, most)?.ok_or_else(|| self.missing(key))
    }

    fn text_of(
        &self,
        key: &'static str,
        value: &'t Value<'t>,
        most: usize,
    ) -> Result<Located<&'t str>, FileError<R>> {
        let Some(text) = value.get_ref().as_str() else {
            return Err(self.wrong(key, value, "a text"));
        };
        let (at, bytes) = (value.span().start, text.len());
        if text.trim().is_empty() || bytes > most {
            return Err(self.error(at, Reason::Length { key, bytes, most }));
        }
        Ok(Located { value: text, at })
    }

    /// Returns one of several words, if the key is set.
    ///
    /// # Errors
    /// [`Reason::Choice`], and those of [`Table::text`].
    pub fn choice(
        &self,
        key: &'static str,
        choices: &[&'static str],
    ) -> Result<Option<&'static str>, FileError<R>> {
        let Some(text) = self.text(key, SHOWN_CHARS_MAX)? else {
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

    /// Returns a list of at most `count` texts of 1 to `most` bytes; empty if the key is missing.
    ///
    /// # Errors
    /// [`Reason::TooMany`], and those of [`Table::text`].
    pub fn texts(
        &self,
        key: &'static str,
        count: usize,
        most: usize,
    ) -> Result<Vec<Located<&'t str>>, FileError<R>> {
        self.get(key).map_or(Ok(Vec::new()), |value| {
            self.texts_of(key, key, value, count, most)
        })
    }

    fn texts_of(
        &self,
        name: &str,
        key: &'static str,
        value: &'t Value<'t>,
        count: usize,
        most: usize,
    ) -> Result<Vec<Located<&'t str>>, FileError<R>> {
        let Some(list) = value.get_ref().as_array() else {
            return Err(self.wrong(name, value, "a list of texts"));
        };
        self.bounded(key, value, list.len(), count)?;
        list.iter()
            .map(|value| self.text_of(key, value, most))
            .collect()
    }

    /// Returns a flag, if the key is set.
    ///
    /// # Errors
    /// [`Reason::Type`].
    pub fn flag(&self, key: &'static str) -> Result<Option<bool>, FileError<R>> {
        let flag = |value: &Value<'_>| {
            let flag = value.get_ref().as_bool();
            flag.ok_or_else(|| self.wrong(key, value, "true or false"))
        };
        self.get(key).map(flag).transpose()
    }

    /// Returns an integer, if the key is set.
    ///
    /// # Errors
    /// [`Reason::Type`].
    pub fn integer(&self, key: &'static str) -> Result<Option<Located<i64>>, FileError<R>> {
        let integer = |value: &Value<'_>| {
            let integer = value.get_ref().as_integer();
            let parsed =
                integer.and_then(|value| i64::from_str_radix(value.as_str(), value.radix()).ok());
            let at = value.span().start;
            let located = parsed.map(|value| Located { value, at });
            located.ok_or_else(|| self.wrong(key, value, "a whole number"))
        };
        self.get(key).map(integer).transpose()
    }

    /// Returns an integer from `least` to `most`, if the key is set.
    ///
    /// # Errors
    /// [`Reason::Type`], [`Reason::Range`].
    pub fn number(
        &self,
        key: &'static str,
        (least, most): (usize, usize),
    ) -> Result<Option<usize>, FileError<R>> {
        let Some(Located { value, at }) = self.integer(key)? else {
            return Ok(None);
        };
        match usize::try_from(value) {
            Ok(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ => Err(self.error(
                at,
                Reason::Range {
                    key,
                    value,
                    least,
                    most,
                },
            )),
        }
    }

    /// Returns a required number, with or without a decimal point.
    ///
    /// # Errors
    /// [`Reason::Missing`], [`Reason::Type`].
    pub fn decimal(&self, key: &'static str) -> Result<Located<f32>, FileError<R>> {
        let value = self.get(key).ok_or_else(|| self.missing(key))?;
        let inner = value.get_ref();
        let float = inner.as_float().map(|value| value.as_str());
        let text = float.or_else(|| inner.as_integer().map(|value| value.as_str()));
        let at = value.span().start;
        match text.and_then(|text| text.parse().ok()) {
            Some(value) => Ok(Located { value, at }),
            None => Err(self.wrong(key, value, "a number")),
        }
    }

    /// Returns a table within this one, if the key is set.
    ///
    /// # Errors
    /// [`Reason::Type`], [`Reason::UnknownKey`].
    pub fn table(
        &self,
        key: &'static str,
        keys: &[&'static str],
    ) -> Result<Option<Self>, FileError<R>> {
        self.get(key)
            .map(|value| self.within(key, value, keys))
            .transpose()
    }

    /// Returns a list of at most `most` tables; empty if the key is missing.
    ///
    /// # Errors
    /// [`Reason::Type`], [`Reason::TooMany`], [`Reason::UnknownKey`].
    pub fn tables(
        &self,
        key: &'static str,
        keys: &[&'static str],
        most: usize,
    ) -> Result<Vec<Self>, FileError<R>> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let Some(list) = value.get_ref().as_array() else {
            return Err(self.wrong(key, value, TABLES));
        };
        self.bounded(key, value, list.len(), most)?;
        let table = |item: &'t Value<'t>| match item.get_ref().as_table() {
            Some(table) => Self::new(self.source, table, item.span(), keys),
            None => Err(self.wrong(key, item, TABLES)),
        };
        list.iter().map(table).collect()
    }

    /// Returns tables under names that the file chooses, in the order of the file.
    ///
    /// # Errors
    /// As [`Table::tables`].
    pub fn named_tables(
        &self,
        key: &'static str,
        keys: &[&'static str],
        most: usize,
    ) -> Result<Vec<Named<'t, Self>>, FileError<R>> {
        let table = |(name, value): (Located<&'t str>, _)| {
            Ok((name, self.within(name.value, value, keys)?))
        };
        self.named(key, most)?.into_iter().map(table).collect()
    }

    /// Returns at most `count` texts of 1 to `most` bytes under names that the file chooses, in the order of the file.
    ///
    /// # Errors
    /// [`Reason::TooMany`], and those of [`Table::text`].
    pub fn named_texts(
        &self,
        key: &'static str,
        (count, most): (usize, usize),
    ) -> Result<Vec<Named<'t, &'t str>>, FileError<R>> {
        let text = |(name, value)| Ok((name, self.text_of(key, value, most)?.value));
        self.named(key, count)?.into_iter().map(text).collect()
    }

    /// Returns lists of texts under names that the file chooses, in the order of the file; `count` bounds the names
    /// and each list.
    ///
    /// # Errors
    /// As [`Table::texts`].
    pub fn named_lists(
        &self,
        key: &'static str,
        (count, most): (usize, usize),
    ) -> Result<Vec<Named<'t, Vec<&'t str>>>, FileError<R>> {
        let list = |(name, value): (Located<&'t str>, _)| {
            let texts = self.texts_of(name.value, key, value, count, most)?;
            Ok((name, texts.into_iter().map(|text| text.value).collect()))
        };
        self.named(key, count)?.into_iter().map(list).collect()
    }

    fn named(
        &self,
        key: &'static str,
        most: usize,
    ) -> Result<Vec<Named<'t, &'t Value<'t>>>, FileError<R>> {
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.wrong(key, value, "a table of names"));
        };
        self.bounded(key, value, table.len(), most)?;
        let located = table.iter().map(|(name, value)| {
            let (at, name): (usize, &str) = (name.span().start, name.get_ref());
            (Located { value: name, at }, value)
        });
        let mut named: Vec<_> = located.collect();
        named.sort_by_key(|(name, _)| name.at);
        Ok(named)
    }
}
