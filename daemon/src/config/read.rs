//! Reads settings: a file, whose values are checked with their positions, and variables that override it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use lore::protocol::nearest;
use rustix::fs::OFlags;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::setting::{Setting, ValueType};
use super::{Error, settings};

/// Maximum size of a settings file, in bytes. A file with every setting has a few thousand.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Raw values, checked key by key, before they are interpreted.
#[derive(Clone, Debug, Default)]
pub struct RawValue {
    /// The values of the file and the variables.
    pub table: Table,
    /// The source of each value, by its path of keys.
    pub origins: BTreeMap<Vec<String>, ValueSource>,
}

/// Source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// A file and a line, from 1.
    File(PathBuf, usize),
    /// An environment variable.
    Variable(String),
}

impl fmt::Display for ValueSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => write!(f, "the variable {name}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FilePosition {
    line: usize,
    column: usize,
}

fn spot(text: &str, offset: usize) -> FilePosition {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    FilePosition {
        line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
    }
}

/// Reads the text of a settings file.
///
/// # Errors
/// The system's error; also for a pipe, which would block, a file over the limit, or invalid UTF-8.
pub fn read(path: &Path) -> io::Result<String> {
    let no_blocking = OFlags::NONBLOCK.bits() as i32;
    let file = File::options()
        .read(true)
        .custom_flags(no_blocking)
        .open(path)?;
    if file.metadata()?.file_type().is_fifo() {
        return Err(io::Error::other(
            "it is a pipe; settings are read from a file, again and again",
        ));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let said = format!("it has over {FILE_BYTES_MAX} bytes, too many for settings");
        return Err(io::Error::other(said));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::other(format!("it is not text: byte {at} is not UTF-8"))
    })
}

impl RawValue {
    /// Reads and checks a file, then applies the environment. A missing file has no values.
    ///
    /// # Errors
    /// [`Error`], naming file, line and column, or the variable.
    pub fn load(
        path: &Path,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<Self, Error> {
        let mut given = match read(path) {
            Ok(text) => Self::of_text(&text, path)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::default(),
            Err(source) => {
                let path = path.to_path_buf();
                return Err(Error::Read { path, source });
            }
        };
        let readable = |(name, value): (OsString, OsString)| {
            let name = name.into_string().ok()?;
            Some((name, value.to_string_lossy().into_owned()))
        };
        given.put_over(variables.filter_map(readable))?;
        Ok(given)
    }

    /// Parses and checks the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// [`Error::At`]: the first fault, with its line and column.
    pub fn of_text(text: &str, path: &Path) -> Result<Self, Error> {
        let at = |offset: usize, error: Error| {
            let FilePosition { line, column } = spot(text, offset);
            Error::At {
                path: path.to_path_buf(),
                line,
                column,
                error: Box::new(error),
            }
        };
        let syntax = |error: &toml::de::Error| {
            let offset = error.span().map_or(0, |span| span.start);
            at(offset, Error::Syntax(error.message().to_owned()))
        };
        let spanned = DeTable::parse(text).map_err(|error| syntax(&error))?;
        let mut given = Self {
            table: toml::from_str(text).map_err(|error| syntax(&error))?,
            origins: BTreeMap::new(),
        };
        let mut keys = Vec::new();
        let mut line_of = |offset: usize, keys: &[String]| {
            let origin = ValueSource::File(path.to_path_buf(), spot(text, offset).line);
            given.origins.insert(keys.to_vec(), origin);
        };
        walk(spanned.get_ref(), &mut keys, &mut line_of)
            .map_err(|(offset, error)| at(offset, error))?;
        Ok(given)
    }

    /// Applies environment variables. Unknown variables are ignored unless their prefix names a section:
    /// they are probably misspelled.
    ///
    /// # Errors
    /// [`Error::Variable`].
    pub fn put_over(
        &mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<(), Error> {
        let mut named: BTreeMap<String, &Setting> = BTreeMap::new();
        for setting in settings() {
            if let Some(variable) = setting.variable() {
                named.insert(variable, setting);
            }
        }
        for (name, text) in variables {
            let refused = |problem: String| Error::Variable {
                name: name.clone(),
                problem,
            };
            let Some(setting) = named.get(&name) else {
                if is_meant(&name) {
                    let known: Vec<String> = named.keys().map(|name| name.to_lowercase()).collect();
                    let near = nearest(&name, known.iter().map(String::as_str));
                    let near = near.map_or(String::new(), |near| {
                        format!("; did you mean {}?", near.to_uppercase())
                    });
                    return Err(refused(format!("unknown setting{near}")));
                }
                continue;
            };
            let value = parse(setting.takes, &text).ok_or_else(|| {
                refused(format!(
                    "got {text:?}, expected {}",
                    setting.takes.describe()
                ))
            })?;
            if let Err(problem) = check(setting, &Plain(&value)) {
                return Err(refused(problem.to_string()));
            }
            let keys: Vec<String> = setting.key.split('.').map(str::to_owned).collect();
            insert(&mut self.table, &keys, value);
            self.origins.insert(keys, ValueSource::Variable(name));
        }
        Ok(())
    }

    /// Returns the source of a value, or of the first value below it.
    #[must_use]
    pub fn origin(&self, keys: &[String]) -> Option<&ValueSource> {
        self.origins
            .range(keys.to_vec()..)
            .next()
            .filter(|(path, _)| path.starts_with(keys))
            .map(|(_, origin)| origin)
    }

    /// Returns a value by its path of keys.
    #[must_use]
    pub fn value(&self, keys: &[String]) -> Option<&Value> {
        let (last, above) = keys.split_last()?;
        let mut table = &self.table;
        for name in above {
            table = table.get(name)?.as_table()?;
        }
        table.get(last)
    }
}

/// Returns whether a variable's prefix names a section of the settings.
fn is_meant(variable: &str) -> bool {
    let Some(rest) = variable.strip_prefix("LORE_") else {
        return false;
    };
    settings().iter().any(|setting| {
        let section = setting.section();
        !section.is_empty()
            && rest
                .strip_prefix(&section.to_uppercase())
                .is_some_and(|rest| rest.starts_with('_'))
    })
}

fn parse(takes: ValueType, text: &str) -> Option<Value> {
    Some(match takes {
        ValueType::Whole { .. } => Value::Integer(text.trim().parse().ok()?),
        ValueType::Flag => Value::Boolean(text.trim().parse().ok()?),
        ValueType::Text | ValueType::OneOf(_) | ValueType::Path => Value::String(text.to_owned()),
        ValueType::Texts => {
            let texts = text
                .split(',')
                .map(str::trim)
                .filter(|text| !text.is_empty());
            Value::Array(texts.map(|text| Value::String(text.to_owned())).collect())
        }
        ValueType::Secrets | ValueType::Table => return None,
    })
}

fn insert(table: &mut Table, keys: &[String], value: Value) {
    match keys {
        [] => {}
        [last] => {
            table.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let below = table
                .entry(first.clone())
                .or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(below) = below {
                insert(below, rest, value);
            }
        }
    }
}

/// A value as needed for the check, from a file or a variable.
trait ValueCheck {
    fn kind(&self) -> &'static str;
    fn whole(&self) -> Option<u64>;
    fn text(&self) -> Option<&str>;
    /// Returns whether all elements are strings; `None` when this is not a list.
    fn texts(&self) -> Option<bool>;
}

struct Plain<'v>(&'v Value);

impl ValueCheck for Plain<'_> {
    fn kind(&self) -> &'static str {
        self.0.type_str()
    }

    fn whole(&self) -> Option<u64> {
        self.0
            .as_integer()
            .and_then(|whole| u64::try_from(whole).ok())
    }

    fn text(&self) -> Option<&str> {
        self.0.as_str()
    }

    fn texts(&self) -> Option<bool> {
        Some(self.0.as_array()?.iter().all(Value::is_str))
    }
}

struct FileValue<'v, 'i>(&'v DeValue<'i>);

impl ValueCheck for FileValue<'_, '_> {
    fn kind(&self) -> &'static str {
        self.0.type_str()
    }

    fn whole(&self) -> Option<u64> {
        let whole = self.0.as_integer()?;
        u64::from_str_radix(whole.as_str(), whole.radix()).ok()
    }

    fn text(&self) -> Option<&str> {
        self.0.as_str()
    }

    fn texts(&self) -> Option<bool> {
        Some(
            self.0
                .as_array()?
                .iter()
                .all(|value| value.get_ref().is_str()),
        )
    }
}

/// Checks that a value has the type and range of its setting.
fn check(setting: &Setting, value: &impl ValueCheck) -> Result<(), Error> {
    let fits = match setting.takes {
        ValueType::Whole { least, most } => match value.whole() {
            Some(whole) if (least..=most).contains(&whole) => true,
            Some(whole) => {
                return Err(Error::Value {
                    name: setting.key,
                    value: whole,
                    wanted: format!("from {least} to {most}"),
                });
            }
            None => false,
        },
        ValueType::Flag => value.kind() == "boolean",
        ValueType::Text => value.text().is_some(),
        ValueType::OneOf(names) => value.text().is_some_and(|text| names.contains(&text)),
        ValueType::Path => match value.text() {
            Some(text) if !Path::new(text).is_absolute() => {
                return Err(Error::Relative {
                    name: setting.key,
                    path: text.into(),
                });
            }
            Some(_) => true,
            None => false,
        },
        ValueType::Texts => value.texts() == Some(true),
        ValueType::Secrets | ValueType::Table => value.kind() == "table",
    };
    if fits {
        return Ok(());
    }
    let found = match (value.text(), value.whole()) {
        (Some(text), _) => format!("{text:?}"),
        (None, Some(whole)) => whole.to_string(),
        (None, None) => format!("of the type {}", value.kind()),
    };
    Err(Error::Type {
        name: setting.key,
        found,
        wanted: setting.takes.describe(),
    })
}

/// Walks a table: every key must be a setting or contain one. An error has its offset.
fn walk(
    table: &DeTable<'_>,
    keys: &mut Vec<String>,
    seen: &mut impl FnMut(usize, &[String]),
) -> Result<(), (usize, Error)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        let offset = key.span().start;
        keys.push(key.get_ref().to_string());
        let setting = settings().iter().find(|setting| setting.is_at(keys));
        if let Some(setting) = setting {
            check(setting, &FileValue(value.get_ref()))
                .map_err(|error| (value_start(value), error))?;
            seen(offset, keys);
        } else if settings()
            .iter()
            .any(|setting| setting.is_above_or_at(keys))
        {
            let Some(below) = value.get_ref().as_table() else {
                let name = keys.join(".");
                let found = value.get_ref().type_str();
                return Err((offset, Error::NoTable { name, found }));
            };
            walk(below, keys, seen)?;
        } else {
            return Err((offset, unknown(keys)));
        }
        keys.pop();
    }
    Ok(())
}

fn value_start(value: &Spanned<DeValue<'_>>) -> usize {
    value.span().start
}

/// Builds the error of an unknown key, with the nearest key of its table, or of all tables.
fn unknown(keys: &[String]) -> Error {
    let name = keys.join(".");
    let (last, above) = match keys.split_last() {
        Some((last, above)) => (last.as_str(), above),
        None => ("", keys),
    };
    let mut of_table: Vec<&str> = settings()
        .iter()
        .filter(|setting| setting.is_above_or_at(above))
        .filter_map(|setting| setting.key.split('.').nth(above.len()))
        .collect();
    of_table.dedup();
    let elsewhere = || {
        let same = |setting: &&Setting| {
            setting.key.rsplit('.').next() == Some(last) && setting.variable().is_some()
        };
        settings().iter().find(same).map(|setting| setting.key)
    };
    let begins_alike = || {
        let first = |name: &str| name.split('_').next().unwrap_or_default().to_owned();
        let wanted = first(last);
        of_table
            .iter()
            .copied()
            .find(|known| first(known) == wanted)
    };
    let near = nearest(last, of_table.iter().copied())
        .or_else(elsewhere)
        .or_else(begins_alike);
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", of_table.join(", ")),
    };
    Error::Unknown { name, help }
}
