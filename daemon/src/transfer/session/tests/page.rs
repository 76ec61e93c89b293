//! Checks that the format's documentation page and schema match the types.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::schema;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// docs/session-format.schema.json matches the types; `UPDATE_DOCS=1` rewrites it.
#[test]
fn the_schema_is_made_from_the_types() {
    let path = docs().join("session-format.schema.json");
    let made = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == made,
        "run `UPDATE_DOCS=1 cargo test -p lored the_schema_is_made_from_the_types` and commit it"
    );
}

/// The page documents every kind and each of its fields, as the schema does.
#[test]
fn the_page_names_every_field() {
    let page = std::fs::read_to_string(docs().join("session-format.md")).unwrap();
    let mut lacking = Vec::new();
    for line in schema()["anyOf"].as_array().unwrap() {
        let Some(kind) = line["properties"]["kind"]["const"].as_str() else {
            continue;
        };
        let heading = format!("### {kind}\n");
        let Some(at) = page.find(&heading) else {
            lacking.push(kind.to_owned());
            continue;
        };
        let section = &page[at + heading.len()..];
        let section = &section[..section.find("\n## ").unwrap_or(section.len())];
        let section = &section[..section.find("\n### ").unwrap_or(section.len())];
        let payload = &line["properties"]["payload"];
        let required = |name: &str| {
            let required = payload["required"].as_array();
            required.is_some_and(|all| all.contains(&Value::from(name)))
        };
        for (name, _) in payload["properties"].as_object().into_iter().flatten() {
            let need = if required(name) { "yes" } else { "" };
            let row = format!("| `{name}` | {need} |").replace("|  |", "| |");
            if !section.contains(&row) {
                lacking.push(format!("{kind}: {row}"));
            }
        }
    }
    assert!(lacking.is_empty(), "{lacking:#?}");
}
