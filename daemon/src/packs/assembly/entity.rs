//! The lines that describe an entity, in the wording of the source.

use std::fmt::Write;

use serde_json::Value;

use super::inputs::PackEntity;
use crate::clock::{Micros, format_time};
use crate::sanitize;

/// Fields omitted from a summary, because the lines above it contain them.
const SAID: [&str; 6] = ["id", "name", "slug", "display", "url", "display_url"];
/// Maximum number of fields in a summary.
const FIELDS_MAX: usize = 8;
/// Maximum length of one value in a summary, in bytes.
const VALUE_BYTES_MAX: usize = 60;

/// Formats the lines that identify an entity, each with its line end. The id line is omitted if there is no id.
pub fn lines(entity: &PackEntity) -> String {
    let mut text = format!(
        "- {}: {}\n",
        sanitize::line(&entity.kind),
        sanitize::line(&entity.name)
    );
    if let Some(id) = &entity.id {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  ID: {}", sanitize::line(id));
    }
    let _ = writeln!(text, "  Mentioned {} times", entity.mentions);
    let _ = writeln!(
        text,
        "  Last mentioned: {}",
        iso_millis(entity.last_mentioned)
    );
    text
}

/// Formats the line of an entity's details.
pub fn details(entity: &PackEntity) -> Option<String> {
    let details = entity.details.as_deref()?;
    Some(format!("  Details: {}\n", sanitize::line(details)))
}

/// Formats the line of an entity's relations: the first few, and the number of others.
pub fn relations(entity: &PackEntity) -> Option<String> {
    if entity.relations.is_empty() {
        return None;
    }
    let mut reported: Vec<String> = entity
        .relations
        .iter()
        .map(|relation| {
            format!(
                "{}: {}",
                sanitize::line(&relation.kind),
                sanitize::line(&relation.name)
            )
        })
        .collect();
    if entity.more_relations > 0 {
        reported.push(format!("and {} more", entity.more_relations));
    }
    Some(format!("  Related: {}\n", reported.join(", ")))
}

/// Summarises an entity's data: its first fields that have a plain value or a named object.
///
/// Fields that other lines contain are omitted. `None` if no field remains.
#[must_use]
pub fn summary(data: &Value) -> Option<String> {
    let fields = data.as_object()?.iter();
    let reported: Vec<String> = fields
        .filter(|(field, _)| !SAID.contains(&field.as_str()))
        .filter_map(|(field, value)| Some(format!("{field}: {}", in_short(value)?)))
        .take(FIELDS_MAX)
        .collect();
    (!reported.is_empty()).then(|| reported.join(", "))
}

fn in_short(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null | Value::Array(_) => return None,
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(value) => value.trim().to_owned(),
        Value::Object(fields) => ["name", "display", "label", "value"]
            .iter()
            .find_map(|field| fields.get(*field)?.as_str())?
            .trim()
            .to_owned(),
    };
    if text.is_empty() {
        return None;
    }
    let head = sanitize::head(&text, VALUE_BYTES_MAX);
    if head.len() < text.len() {
        return Some(format!("{}…", head.trim_end()));
    }
    Some(text)
}

/// Formats a time like JavaScript's `toISOString`, which the source uses.
pub fn iso_millis(time: Micros) -> String {
    let micros = format_time(time);
    match micros.split_once('.') {
        Some((seconds, fraction)) => {
            format!("{seconds}.{}Z", fraction.get(..3).unwrap_or("000"))
        }
        None => micros,
    }
}

/// Formats the date of a time: `2026-11-21`.
pub fn iso_date(time: Micros) -> String {
    let micros = format_time(time);
    match micros.split_once('T') {
        Some((date, _)) => date.to_owned(),
        None => micros,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::inputs::Relation;
    use super::super::tests::known;
    use super::*;

    fn switch() -> PackEntity {
        let mut switch = known(42, "device", "switch-nyc-01");
        switch.last_mentioned = 1_763_719_200_123_456;
        switch.relations.push(Relation {
            kind: "mentioned_with".to_owned(),
            name: "router-la-02".to_owned(),
        });
        switch
    }

    #[test]
    fn lines_are_worded_as_in_the_source() {
        let switch = switch();
        assert_eq!(
            lines(&switch),
            "- device: switch-nyc-01\n  ID: 42\n  Mentioned 2 times\n  \
             Last mentioned: 2025-11-21T10:00:00.123Z\n"
        );
        assert_eq!(
            details(&switch).as_deref(),
            Some("  Details: status: Active\n")
        );
        assert_eq!(
            relations(&switch).as_deref(),
            Some("  Related: site: nyc, mentioned_with: router-la-02\n")
        );
    }

    #[test]
    fn what_is_not_known_has_no_line_and_names_stay_in_theirs() {
        let mut switch = switch();
        (switch.id, switch.details) = (None, None);
        switch.name = "a\n- device: b\u{202e}".to_owned();
        assert_eq!(
            lines(&switch),
            "- device: a\\n- device: b\\u{202e}\n  Mentioned 2 times\n  \
             Last mentioned: 2025-11-21T10:00:00.123Z\n"
        );
        assert_eq!(details(&switch), None);
        switch.more_relations = 2;
        assert!(
            relations(&switch)
                .unwrap()
                .ends_with("router-la-02, and 2 more\n")
        );
        switch.relations.clear();
        assert_eq!(relations(&switch), None);
    }

    #[test]
    fn a_summary_has_plain_values_and_names_of_objects() {
        let data = serde_json::json!({
            "id": 42, "url": "http://netbox/42", "name": "switch-nyc-01",
            "status": {"value": "active", "label": "Active"},
            "site": {"id": 1, "name": "nyc"}, "serial": "", "asset_tag": null,
            "position": 12.5, "tags": [], "comments": "x".repeat(80), "custom_fields": {},
        });
        let comments = "x".repeat(60);
        assert_eq!(
            summary(&data),
            Some(format!(
                "status: Active, site: nyc, position: 12.5, comments: {comments}…"
            ))
        );
        assert_eq!(summary(&serde_json::json!({"id": 1, "tags": []})), None);
        assert_eq!(summary(&serde_json::json!([1])), None);
    }
}
