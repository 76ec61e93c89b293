//! Edits hosts' TOML files and preserves their comments, order and line endings.

use serde_json::Value as Json;
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::edit::EditError;
use super::entry::{Entry, FieldText, NAME};

/// As [`super::edit::find`].
pub fn find(container: &str, text: &str) -> Result<Option<Json>, EditError> {
    let document = parse(container, text)?;
    let servers = document.get(container).and_then(Item::as_table_like);
    let entry = servers.and_then(|servers| servers.get(NAME));
    Ok(entry.map(json))
}

/// As [`super::edit::put`].
pub fn put(container: &str, text: &str, entry: &Entry, whole: bool) -> Result<String, EditError> {
    edit(container, text, |document| {
        let servers = document.entry(container).or_insert_with(|| {
            let mut servers = Table::new();
            // No separate header: the entry's header names it.
            servers.set_implicit(true);
            Item::Table(servers)
        });
        if let Some(present) = servers.get_mut(NAME).and_then(Item::as_table_like_mut) {
            fix(present, entry, whole);
        } else if let Some(servers) = servers.as_table_mut() {
            let mut table = Table::new();
            fix(&mut table, entry, whole);
            servers.insert(NAME, Item::Table(table));
        } else if let Some(servers) = servers.as_inline_table_mut() {
            let mut table = InlineTable::new();
            fix(&mut table, entry, whole);
            servers.insert(NAME, Value::InlineTable(table));
        }
    })
}

/// As [`super::edit::remove`].
pub fn remove(container: &str, text: &str) -> Result<String, EditError> {
    edit(container, text, |document| {
        let servers = document.get_mut(container);
        if let Some(servers) = servers.and_then(Item::as_table_like_mut) {
            servers.remove(NAME);
        }
    })
}

/// Parses a file and checks that it has a place for entries. The parser limits the nesting depth.
fn parse<'t>(container: &str, text: &'t str) -> Result<Document<&'t str>, EditError> {
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        EditError::at(text, at, error.message())
    })?;
    let needs_table = |item: Option<&Item>, name: &str| match item {
        Some(item) if !item.is_table_like() => {
            let at = item.span().map_or(0, |span| span.start);
            Err(EditError::at(
                text,
                at,
                format!("`{name}` should be a table"),
            ))
        }
        Some(_) | None => Ok(()),
    };
    let servers = document.get(container);
    needs_table(servers, container)?;
    let entry = servers.and_then(Item::as_table_like);
    needs_table(
        entry.and_then(|servers| servers.get(NAME)),
        &format!("{container}.{NAME}"),
    )?;
    Ok(document)
}

/// Sets the mandatory fields that differ and adds missing fields. With `whole`, removes all other fields.
fn fix(fields: &mut dyn TableLike, entry: &Entry, whole: bool) {
    if whole {
        fields.clear();
    }
    for field in &entry.0 {
        let value = words(&field.words);
        match fields.get_mut(field.key) {
            None => {
                fields.insert(field.key, Item::Value(value));
            }
            Some(said) if field.is_fixed && json(said) != field.words.json() => {
                replace(said, value);
            }
            Some(_) => {}
        }
    }
}

/// Replaces a value and preserves the text around it on its line.
fn replace(said: &mut Item, mut value: Value) {
    if let Some(old) = said.as_value() {
        *value.decor_mut() = old.decor().clone();
    }
    *said = Item::Value(value);
}

fn words(said: &FieldText) -> Value {
    match said {
        FieldText::One(word) => Value::from(word.as_str()),
        FieldText::Many(words) => Value::Array(words.iter().map(String::as_str).collect::<Array>()),
    }
}

/// Returns the comparable parts of a field or an entry: tables, lists and texts.
fn json(item: &Item) -> Json {
    if let Some(table) = item.as_table_like() {
        let fields = table.iter();
        return fields
            .map(|(key, item)| (key.to_owned(), json(item)))
            .collect();
    }
    let text = |value: &Value| value.as_str().map_or(Json::Null, Json::from);
    match item.as_value() {
        Some(Value::Array(list)) => list.iter().map(text).collect(),
        Some(value) => text(value),
        None => Json::Null,
    }
}

/// Edits a document and transfers the changes to the original text.
fn edit(
    container: &str,
    text: &str,
    change: impl FnOnce(&mut DocumentMut),
) -> Result<String, EditError> {
    let mut document = parse(container, text)?.into_mut();
    let printed = document.to_string();
    change(&mut document);
    let edited = document.to_string();
    graft(text, &printed, &edited).ok_or_else(|| {
        EditError::at(
            text,
            0,
            "this file cannot be edited without changing the rest",
        )
    })
}

/// Transfers to `text` the lines in which `edited` differs from `printed`. A printed document has the lines of
/// its text, but with uniform line endings and a final one. Comments above a removed entry stay. Returns `None`
/// when the lines do not match.
fn graft(text: &str, printed: &str, edited: &str) -> Option<String> {
    let had: Vec<&str> = text.split_inclusive('\n').collect();
    let printed: Vec<&str> = printed.split_inclusive('\n').map(bare).collect();
    let edited: Vec<&str> = edited.split_inclusive('\n').map(bare).collect();
    if !had.iter().copied().map(bare).eq(printed.iter().copied()) {
        return None;
    }
    let end = match had.first().is_some_and(|line| line.ends_with("\r\n")) {
        true => "\r\n",
        false => "\n",
    };
    let common = |one: &mut dyn Iterator<Item = (&&str, &&str)>| {
        one.take_while(|(printed, edited)| printed == edited)
            .count()
    };
    let before = common(&mut printed.iter().zip(&edited));
    let after = common(&mut printed.iter().rev().zip(edited.iter().rev()));
    let after = after.min(printed.len().min(edited.len()) - before);

    let put_in = edited.get(before..edited.len() - after)?;
    let taken_out = had.get(before..had.len() - after)?;
    let mut grafted = had.get(..before)?.concat();
    if put_in.is_empty() {
        grafted.extend(comments_above(taken_out));
    }
    for line in put_in {
        if !grafted.is_empty() && !grafted.ends_with('\n') {
            grafted.push_str(end);
        }
        grafted.push_str(line);
        grafted.push_str(end);
    }
    grafted.extend(had.get(had.len() - after..)?.iter().copied());
    Some(grafted)
}

/// Returns the lines before the first non-comment line, if they contain a comment.
fn comments_above<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let is_comment = |line: &str| line.trim_start().starts_with('#');
    let above: Vec<&str> = lines
        .iter()
        .copied()
        .take_while(|line| line.trim().is_empty() || is_comment(line))
        .collect();
    match above.iter().any(|line| is_comment(line)) {
        true => above,
        false => Vec::new(),
    }
}

/// Returns a line without its line ending.
fn bare(line: &str) -> &str {
    line.strip_suffix('\n')
        .map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
}
