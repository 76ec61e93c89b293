//! The kind of a JSON object: by its URL, its field, an enclosing type, or a type of its own.

use super::Flat;
use super::described::{ID_BYTES_MAX, number_of, text_of};
use super::objects::{Read, ValueLocation};
use super::people::{is_person_field, is_person_name};
use super::reader::Document;
use crate::names::UNKNOWN_KIND;
use crate::wording::{singular, snake_case};
use std::sync::Arc;

/// Keys with the URL of an object.
pub(super) const ADDRESS_KEYS: [&str; 4] = ["url", "display_url", "html_url", "web_url"];
/// Keys with the type of the object itself.
const OWN_TYPE_KEYS: [&str; 4] = ["type", "result_type", "resource_type", "entity_type"];
/// Key with the name of an object of Kubernetes.
pub(super) const METADATA_KEY: &str = "metadata";
/// Types of values, messages and files: no kinds of entities.
const NO_KINDS: [&str; 65] = [
    "dir",
    "method",
    "property",
    "field",
    "param",
    "parameter",
    "option",
    "input",
    "output",
    "button",
    "select",
    "checkbox",
    "variable",
    "constant",
    "class",
    "interface",
    "enum",
    "struct",
    "import",
    "export",
    "item",
    "group",
    "choice",
    "text",
    "object",
    "string",
    "number",
    "integer",
    "boolean",
    "array",
    "null",
    "float",
    "image",
    "audio",
    "video",
    "resource",
    "resource_link",
    "tool_use",
    "tool_result",
    "function",
    "message",
    "error",
    "event",
    "query",
    "table",
    "view",
    "column",
    "blob",
    "tree",
    "directory",
    "file",
    "folder",
    "symlink",
    "link",
    "paragraph",
    "heading",
    "section",
    "module",
    "block",
    "node",
    "edge",
    "element",
    "document",
    "result",
    "unknown",
];
/// Keys that identify an object.
const ID_KEYS: [&str; 7] = [
    "id",
    "sku",
    "uuid",
    "key",
    "number",
    "tracking",
    "reference",
];
/// Keys with the name of an object.
const NAME_KEYS: [&str; 5] = ["name", "title", "display_name", "displayName", "subject"];
/// What lists are called that hold things of any kind, or no things.
const ANY_LISTS: [&str; 46] = [
    "results",
    "items",
    "entries",
    "records",
    "rows",
    "values",
    "hits",
    "data",
    "objects",
    "nodes",
    "edges",
    "children",
    "matches",
    "options",
    "fields",
    "columns",
    "params",
    "args",
    "headers",
    "lines",
    "steps",
    "attributes",
    "properties",
    "tags",
    "labels",
    "permissions",
    "settings",
    "messages",
    "logs",
    "details",
    "choices",
    "contents",
    "images",
    "facets",
    "terms",
    "types",
    "categories",
    "statuses",
    "annotations",
    "changes",
    "comments",
    "notes",
    "sections",
    "versions",
    "levels",
    "elements",
];
/// Kinds of words and values: a list such as `types` or `errors` holds something else.
pub(super) const NO_LISTS: [&str; 8] = [
    "symbol",
    "error_code",
    "exception",
    "url",
    "email",
    "environment_variable",
    "host",
    "file_path",
];
/// Limit on a type that names a kind, in bytes.
const TYPE_BYTES_MAX: usize = 24;
/// Limit on the kinds that types name in one text.
const TYPES_MAX: usize = 32;

impl Read<'_> {
    /// Returns the kind of an object: by its URL, else by its field, else by an enclosing type.
    pub(super) fn kind_of(
        &mut self,
        document: &Document,
        at: usize,
        place: ValueLocation<'_>,
    ) -> Option<usize> {
        for key in ADDRESS_KEYS {
            let address = text_of(document, at, key).and_then(|text| endpoint(text.text()));
            if let Some((endpoint, is_api)) = address {
                let kind = self.packs.types.get(&endpoint).or_else(|| {
                    // "orderdesk/pull": the last segment alone tells it.
                    self.packs.types.get(endpoint.rsplit('/').next()?)
                });
                let kind = kind.copied();
                if kind.is_some() || is_api {
                    return kind;
                }
            }
        }
        let by_field = place.field.and_then(|field| {
            let packs = self.packs;
            packs
                .fields
                .get(field)
                .or_else(|| packs.object_fields.get(field))
        });
        by_field
            .copied()
            .or_else(|| self.kind_of_person(document, at, place))
            .or(place.reported.filter(|_| place.stands))
            .or_else(|| self.kind_by_type(document, at))
            .or_else(|| self.kind_of_manifest(document, at, place))
            .or_else(|| self.kind_of_list(place))
            .or_else(|| self.kind_of_field(document, at, place))
            .or_else(|| self.own_kind_of_list(document, at, place))
            .or_else(|| {
                let key = place.row_key?;
                let known = self.packs.fields.get(key).copied();
                known.or_else(|| self.own_kind(key))
            })
            .or_else(|| self.kind_of_titled(document, at, place))
    }

    /// Returns the kind "person" for an object whose field says who did something: `"initiatedBy": {"name": ...}`.
    fn kind_of_person(
        &self,
        document: &Document,
        at: usize,
        place: ValueLocation<'_>,
    ) -> Option<usize> {
        place.field.filter(|field| is_person_field(field))?;
        let name = text_of(document, at, "name")?;
        let is_person = is_person_name(name.text()) || text_of(document, at, "login").is_some();
        self.packs.place_of("person").filter(|_| is_person)
    }

    /// Returns the kind of an object by the key of its field: the object in `{"ticket": {"id": 90417}}` is an issue.
    fn kind_of_field(
        &self,
        document: &Document,
        at: usize,
        place: ValueLocation<'_>,
    ) -> Option<usize> {
        let field = place.field.filter(|_| !place.is_listed)?;
        let kind = self.kind_of_noun(field, false)?;
        (!NO_KINDS.contains(&field) && has_id(document, at)).then_some(kind)
    }

    /// Returns the kind that a key is a noun for, in the singular or the plural.
    fn kind_of_noun(&self, key: &str, is_plural: bool) -> Option<usize> {
        let word = self.packs.kind_words.get(&key.replace('_', " "))?;
        let kind = self.packs.kinds.get(word.kind)?;
        let is_noun = word.plural == is_plural && word.parts.is_empty();
        (is_noun && !NO_LISTS.contains(&&*kind.name)).then_some(word.kind)
    }

    /// Returns a kind that no pack has, made of the key of a list: `{"check_runs": [{"id": 7, "name": "miri"}]}` holds a
    /// `check_run`. The object has an id and a name. Keys that any list may have, such as `items`, make no kind.
    fn own_kind_of_list(
        &mut self,
        document: &Document,
        at: usize,
        place: ValueLocation<'_>,
    ) -> Option<usize> {
        let field = place.field.filter(|_| place.is_listed)?;
        let last = field.rsplit('_').next()?;
        let single = singular(field);
        let is_word = field.len() > 4
            && field.len() <= TYPE_BYTES_MAX
            && field
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_word
            || single == field
            || ANY_LISTS.contains(&last)
            || NO_KINDS.contains(&&*singular(last))
            || self.packs.fields.contains_key(field)
        {
            return None;
        }
        let mut names = NAME_KEYS.iter();
        let is_named = names.any(|key| text_of(document, at, key).is_some());
        (is_named && has_id(document, at))
            .then(|| self.own_kind(&single))
            .flatten()
    }

    /// Returns the kind of an object by the key of the list that holds it: `{"tickets": [{"id": "T-1"}]}`.
    fn kind_of_list(&self, place: ValueLocation<'_>) -> Option<usize> {
        let field = place.field.filter(|_| place.is_listed)?;
        self.kind_of_noun(field, true)
    }

    /// Returns the kind "thing" for an object of a list that has an id of letters and digits, and a name or a title.
    fn kind_of_titled(
        &mut self,
        document: &Document,
        at: usize,
        place: ValueLocation<'_>,
    ) -> Option<usize> {
        let mut ids = ["id", "uid", "uuid"].iter();
        let id = ids.find_map(|key| text_of(document, at, key));
        let id = id.filter(|_| place.is_listed && place.within.is_none())?;
        let has = |test: fn(&u8) -> bool| id.text().as_bytes().iter().any(test);
        let is_id = id.text().len() <= ID_BYTES_MAX
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
            && !has(|byte| *byte == b' ');
        let mut titles = NAME_KEYS.iter();
        let is_titled = titles.any(|key| text_of(document, at, key).is_some());
        (is_id && is_titled)
            .then(|| self.own_kind(UNKNOWN_KIND))
            .flatten()
    }

    /// Returns the kind of an object of Kubernetes, `{"kind": "Pod", "metadata": {"name": "web-0"}}`.
    fn kind_of_manifest(
        &mut self,
        document: &Document,
        at: usize,
        place: ValueLocation<'_>,
    ) -> Option<usize> {
        let (metadata, _) = document.member(at, METADATA_KEY)?;
        text_of(document, metadata, "name")?;
        let own = text_of(document, at, "kind").map(Flat::text);
        let kind = own.or(place.items)?;
        let is_kind = kind.len() > 2
            && kind.len() <= TYPE_BYTES_MAX
            && kind.starts_with(|c: char| c.is_ascii_uppercase())
            && kind.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !kind.ends_with("List");
        if !is_kind {
            return None;
        }
        self.own_kind(&snake_case(kind))
    }

    /// Returns the kind that the type of an object names, such as `"type": "paper"`. An object with an id or a
    /// proper name is a thing; without one its type may mean anything, unless it is a person.
    fn kind_by_type(&mut self, document: &Document, at: usize) -> Option<usize> {
        let mut types = OWN_TYPE_KEYS.iter();
        let word = types.find_map(|key| text_of(document, at, key))?.text();
        if let Some(kind) = self.packs.types.get(word) {
            return Some(*kind);
        }
        let is_word = word.len() > 2
            && word.len() <= TYPE_BYTES_MAX
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_word || NO_KINDS.contains(&word) {
            return None;
        }
        let has_id = has_id(document, at) || has_key(document, at, &format!("{word}_id"));
        // "Stuhlwerk" and "db-prod-1" are names; "src" and "default" may be anything.
        let is_named = text_of(document, at, "name").is_some_and(|name| {
            name.text()
                .chars()
                .any(|c| c.is_uppercase() || c.is_numeric())
        });
        let known = self.packs.kind_words.get(&word.replace('_', " "));
        if let Some(known) = known.filter(|known| known.parts.is_empty() && !known.plural) {
            let is_person = self
                .packs
                .kinds
                .get(known.kind)
                .is_some_and(|kind| &*kind.name == "person");
            return (has_id || is_named || is_person).then_some(known.kind);
        }
        if !has_id && !is_named {
            return None;
        }
        self.own_kind(word)
    }

    /// Returns the index of a kind by its name; one that no pack has is added.
    fn own_kind(&mut self, word: &str) -> Option<usize> {
        if let Some(known) = self.packs.place_of(word) {
            return Some(known);
        }
        let own = self.kinds.iter().position(|kind| &**kind == word);
        let own = match own {
            Some(own) => own,
            None if self.kinds.len() == TYPES_MAX => return None,
            None => {
                self.kinds.push(word.into());
                self.kinds.len() - 1
            }
        };
        Some(self.packs.kinds.len() + own)
    }

    /// Returns the name of a kind.
    pub(super) fn kind_name(&self, kind: usize) -> Option<Arc<str>> {
        let own = kind.checked_sub(self.packs.kinds.len());
        match own {
            None => self
                .packs
                .kinds
                .get(kind)
                .map(|kind| Arc::clone(&kind.name)),
            Some(own) => self.kinds.get(own).cloned(),
        }
    }
}

fn has_key(document: &Document, at: usize, key: &str) -> bool {
    text_of(document, at, key).is_some() || number_of(document, at, key).is_some()
}

/// Returns whether an object has a key that identifies it.
fn has_id(document: &Document, at: usize) -> bool {
    ID_KEYS.iter().any(|key| has_key(document, at, key))
}

/// Returns the last two path segments of a URL before an object's number, such as `dcim/devices`. The flag
/// marks API URLs, which allow no other kind.
fn endpoint(address: &str) -> Option<(String, bool)> {
    // The address of a part, such as a comment of an issue, is none of the whole.
    if address.contains('#') {
        return None;
    }
    let path = address.split(['?', '#']).next()?;
    let mut parts = path.split('/').rev().filter(|part| !part.is_empty());
    let id = parts.next()?;
    if !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (endpoint, app) = (parts.next()?, parts.next()?);
    Some((format!("{app}/{endpoint}"), parts.next() == Some("api")))
}
