//! Effective settings of a directory's project: from its `.lore.toml` and from the settings file.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Value;

use super::effective::EffectiveValue;
use super::{Config, RawValue, ValueSource};
use crate::projects::{ProjectLocation, marker_lines, marker_path};

/// Returns the four values of a project, and the error if `.lore.toml` is invalid. Returns no values if the
/// directory does not exist. Reads the file system.
///
/// Only a daemon can check whether another folder already has the id.
#[must_use]
pub fn of_project(
    given: &RawValue,
    config: &Config,
    dir: &Path,
) -> (Vec<EffectiveValue>, Option<String>) {
    let Some(place) = ProjectLocation::of(dir, &config.projects.configured) else {
        return (Vec::new(), None);
    };
    let own = said_of(given, &place);
    let marker = match &place.marker_fault {
        Some(_) => BTreeMap::new(),
        None => marker_lines(&place.root),
    };
    let of_marker = |name: &str| {
        let line = *marker.get(name)?;
        Some(ValueSource::File(marker_path(&place.root), line))
    };
    let text = |text: &str| Value::from(text).to_string();
    let values = [
        ("id", text(&place.project)),
        ("name", text(&place.name)),
        ("templates", text(place.marker.templates())),
        (
            "exclude",
            Value::from(place.marker.exclude.clone()).to_string(),
        ),
    ];
    let in_force = values.map(|(name, value)| {
        let mut origins: Vec<ValueSource> = own.get(name).cloned().into_iter().collect();
        // Exclusion patterns of both sources apply; other keys have one effective source.
        if name == "exclude" || origins.is_empty() {
            origins.extend(of_marker(name));
        }
        EffectiveValue {
            key: format!("project.{name}"),
            value,
            origins,
        }
    });
    (in_force.into(), place.marker_fault)
}

/// Finds the source of each of the project's values in the settings file, by key.
fn said_of(given: &RawValue, place: &ProjectLocation) -> BTreeMap<String, ValueSource> {
    let mut said = BTreeMap::new();
    for (keys, origin) in &given.origins {
        let [projects, at, path, name] = keys.as_slice() else {
            continue;
        };
        if projects != "projects" || at != "at" {
            continue;
        }
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        if real == place.root || real == place.path {
            said.insert(name.clone(), origin.clone());
        }
    }
    said
}
