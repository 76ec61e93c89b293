//! Lists that are tables: each object is a row, and its first key says what the row is about.
//!
//! `[{"model": "SonoMAE-B", "clean": 78.9}, {"model": "ProtoBat", "clean": 64.1}]` is about two models.

use super::reader::{Document, Value};
use std::collections::HashSet;

/// First keys that do not say what a row is, or whose values are not names.
const NO_ROWS: [&str; 66] = [
    "id",
    "name",
    "title",
    "key",
    "uuid",
    "number",
    "index",
    "rank",
    "position",
    "status",
    "state",
    "level",
    "type",
    "kind",
    "date",
    "time",
    "timestamp",
    "message",
    "text",
    "value",
    "path",
    "url",
    "uri",
    "href",
    "link",
    "label",
    "description",
    "summary",
    "color",
    "colour",
    "size",
    "count",
    "metric",
    "unit",
    "language",
    "locale",
    "currency",
    "method",
    "content",
    "line",
    "source",
    "target",
    "command",
    "query",
    "question",
    "answer",
    "start",
    "end",
    "day",
    "month",
    "year",
    "version",
    "field",
    "column",
    "header",
    "option",
    "category",
    "word",
    "term",
    "reason",
    "hash",
    "code",
    "role",
    "format",
    "encoding",
    "country",
];
/// Limit on the rows that are looked at.
const ROWS_MAX: usize = 32;
/// Limit on the name of a row, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Limit on a key that names a kind, in bytes.
const KEY_BYTES_MAX: usize = 24;

/// Returns the first key of a list's objects if it names them: all objects have it first, each with another proper name.
pub(super) fn row_key(document: &Document, list: usize) -> Option<&str> {
    let mut names: HashSet<&str> = HashSet::new();
    let mut key: Option<&str> = None;
    for (at, node) in document.children(list).take(ROWS_MAX) {
        if !matches!(node.value, Value::Object) {
            return None;
        }
        let (_, first) = document.children(at).next()?;
        let own = first.key.as_deref()?;
        let Value::Text(name) = &first.value else {
            return None;
        };
        if *key.get_or_insert(own) != own || !is_proper(name.text()) || !names.insert(name.text()) {
            return None;
        }
    }
    let is_word = |key: &&str| {
        key.len() > 1
            && key.len() <= KEY_BYTES_MAX
            && key
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            && !key.split('_').any(|part| NO_ROWS.contains(&part))
    };
    key.filter(is_word).filter(|_| names.len() > 1)
}

/// Returns whether a text may be a proper name: at most four words, with a capital, a digit, or one of `-`, `_` and `.`.
pub(super) fn is_proper(text: &str) -> bool {
    let has = |test: fn(char) -> bool| text.chars().any(test);
    text.len() <= NAME_BYTES_MAX
        && text.split_whitespace().count() <= 4
        && has(char::is_alphabetic)
        && (has(char::is_uppercase)
            || has(|c| c.is_ascii_digit())
            || has(|c| matches!(c, '-' | '_' | '.')))
        && !has(|c| matches!(c, '\n' | '/' | ':' | '@' | '{' | '<' | '='))
}

#[cfg(test)]
mod tests {
    use super::super::reader::documents;
    use super::row_key;

    #[test]
    fn the_first_key_of_all_rows_tells_them_apart() {
        for (text, key) in [
            (
                r#"[{"model":"SonoMAE-B","f1":1},{"model":"ProtoBat","f1":2}]"#,
                Some("model"),
            ),
            (
                r#"[{"data_set":"A-1"},{"data_set":"A-2"}]"#,
                Some("data_set"),
            ),
            (r#"[{"model":"SonoMAE-B"}]"#, None),
            (r#"[{"model":"SonoMAE-B"},{"model":"SonoMAE-B"}]"#, None),
            (r#"[{"model":"SonoMAE-B"},{"f1":2}]"#, None),
            (r#"[{"model":"SonoMAE-B"},7]"#, None),
            (r#"[{"status":"Open"},{"status":"Closed"}]"#, None),
            (r#"[{"line":"fn A()"},{"line":"fn B()"}]"#, None),
            (r#"[{"greeting":"hello"},{"greeting":"bye"}]"#, None),
            (r#"[]"#, None),
        ] {
            let found = documents(text, false);
            assert_eq!(found.first().and_then(|one| row_key(one, 0)), key, "{text}");
        }
    }
}
