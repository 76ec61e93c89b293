//! Edits hosts' JSON files and preserves their comments, order and indentation.

pub mod hooks;

use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::edit::{EditError, JsonShape};
use super::entry::{Entry, FieldText, NAME};

/// As [`super::edit::find`].
pub fn find(shape: JsonShape, text: &str) -> Result<Option<Value>, EditError> {
    let file = File::parse(shape, text)?;
    let Some(servers) = file.servers()? else {
        return Ok(None);
    };
    let entry = file.member(&servers, NAME)?;
    Ok(entry.map(|entry| value_of(&entry)))
}

/// As [`super::edit::put`].
pub fn put(shape: JsonShape, text: &str, entry: &Entry, whole: bool) -> Result<String, EditError> {
    let file = File::parse(shape, text)?;
    let servers = match file.servers()? {
        Some(servers) => servers,
        None => file
            .root
            .object_value_or_set()
            .object_value_or_set(shape.container),
    };
    match file.member(&servers, NAME)? {
        None => {
            servers.append(NAME, written(entry));
        }
        Some(present) => match present.object_value().filter(|_| !whole) {
            Some(fields) => file.fix(&fields, entry)?,
            None => present.set_value(written(entry)),
        },
    }
    Ok(file.root.to_string())
}

/// As [`super::edit::remove`].
pub fn remove(shape: JsonShape, text: &str) -> Result<String, EditError> {
    let file = File::parse(shape, text)?;
    if let Some(servers) = file.servers()?
        && let Some(entry) = file.member(&servers, NAME)?
    {
        entry.remove();
    }
    Ok(file.root.to_string())
}

struct File<'t> {
    shape: JsonShape,
    text: &'t str,
    root: CstRootNode,
}

impl<'t> File<'t> {
    /// Parses a file. The parser limits the nesting depth.
    fn parse(shape: JsonShape, text: &'t str) -> Result<Self, EditError> {
        let options = ParseOptions {
            allow_comments: shape.comments,
            allow_trailing_commas: shape.trailing_commas,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let fault =
            |error: ParseError| EditError::at(text, error.range().start, error.kind().to_string());
        if !shape.comments {
            // The tree accepts comments whatever the options are; only this call refuses them.
            parse_to_ast(text, &CollectOptions::default(), &options).map_err(fault)?;
        }
        let root = CstRootNode::parse(text, &options).map_err(fault)?;
        Ok(Self { shape, text, root })
    }

    /// Returns the object that holds the entries, if it exists.
    fn servers(&self) -> Result<Option<CstObject>, EditError> {
        let Some(top) = self.root.value() else {
            return Ok(None);
        };
        let Some(top) = top.as_object() else {
            return Err(self.fault(&top, "an object should stand here"));
        };
        let Some(servers) = self.member(&top, self.shape.container)? else {
            return Ok(None);
        };
        let Some(servers) = servers.object_value() else {
            let message = format!("`{}` should be an object", self.shape.container);
            return Err(self.fault(&servers.into(), message));
        };
        Ok(Some(self.inner(&servers)?.unwrap_or(servers)))
    }

    /// Returns the object in `servers` that holds the entries instead, if it exists. It counts only if it is not an
    /// entry of that name and our entry is not next to it.
    fn inner(&self, servers: &CstObject) -> Result<Option<CstObject>, EditError> {
        let Some(name) = self.shape.inner else {
            return Ok(None);
        };
        if self.member(servers, NAME)?.is_some() {
            return Ok(None);
        }
        let inner = self.member(servers, name)?;
        let is_entry = |inner: &CstObject| {
            inner
                .get("type")
                .is_some_and(|kind| value_of(&kind).is_string())
        };
        Ok(inner
            .and_then(|inner| inner.object_value())
            .filter(|inner| !is_entry(inner)))
    }

    /// Returns a member by name. A duplicate is refused, because hosts disagree on which one counts.
    fn member(&self, object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, EditError> {
        let is_named = |member: &CstObjectProp| member.decoded_name().as_deref() == Some(name);
        let mut members = object.properties().into_iter().filter(is_named);
        let first = members.next();
        match members.next() {
            None => Ok(first),
            Some(second) => Err(self.fault(
                &second.into(),
                format!("`{name}` is defined a second time here"),
            )),
        }
    }

    /// Changes the mandatory fields that differ and adds missing fields.
    fn fix(&self, fields: &CstObject, entry: &Entry) -> Result<(), EditError> {
        for field in &entry.0 {
            match self.member(fields, field.key)? {
                None => {
                    fields.append(field.key, words(&field.words));
                }
                Some(said) if field.is_fixed && value_of(&said) != field.words.json() => {
                    said.set_value(words(&field.words));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Creates a fault at the start of a node.
    fn fault(&self, node: &CstNode, message: impl Into<String>) -> EditError {
        EditError::at(self.text, offset(node), message)
    }
}

/// Returns the byte offset of a node; valid only before any edit.
fn offset(node: &CstNode) -> usize {
    let before = node.previous_siblings().map(|node| node.to_string().len());
    let within: usize = before.sum();
    node.parent()
        .map_or(within, |parent| within + offset(&parent.into()))
}

fn value_of(member: &CstObjectProp) -> Value {
    let value = member.value().and_then(|value| value.to_serde_value());
    value.unwrap_or_default()
}

fn written(entry: &Entry) -> CstInputValue {
    let fields = entry.0.iter();
    let pairs = fields.map(|field| (field.key.to_owned(), words(&field.words)));
    CstInputValue::Object(pairs.collect())
}

fn words(said: &FieldText) -> CstInputValue {
    match said {
        FieldText::One(word) => CstInputValue::from(word.as_str()),
        FieldText::Many(words) => {
            let words = words.iter().map(|word| CstInputValue::from(word.as_str()));
            CstInputValue::Array(words.collect())
        }
    }
}
