//! `[projects]`: limits for context files, and settings of single projects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::sections::MIB;
use super::setting::{EffectTime, Setting, ValueType};
use super::{Error, set};
use crate::projects::{Configured, Marker, Settings};

/// The table as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectsTable {
    content_bytes_max: Option<u64>,
    attempts_max: Option<u64>,
    attempts_kept_ms: Option<u64>,
    templates: Option<PathBuf>,
    at: BTreeMap<PathBuf, Marker>,
}

impl ProjectsTable {
    /// Every key.
    pub const SETTINGS: &[Setting] = &[
        Setting {
            key: "projects.content_bytes_max",
            description: "Maximum size of a context file, in bytes.",
            takes: ValueType::Whole {
                least: 1024,
                most: 64 * MIB,
            },
            acts: EffectTime::NextStart,
            default: |config| Some(config.projects.limits.content_bytes_max.to_string()),
        },
        Setting {
            key: "projects.attempts_max",
            description: "Number of invalid updates in a row that receive correction guidance.",
            takes: ValueType::Whole {
                least: 1,
                most: 1_000_000_000,
            },
            acts: EffectTime::NextStart,
            default: |config| Some(config.projects.limits.attempts_max.to_string()),
        },
        Setting {
            key: "projects.attempts_kept_ms",
            description: "How long attempts are counted, in milliseconds.",
            takes: ValueType::Whole {
                least: 1000,
                most: 31_536_000_000,
            },
            acts: EffectTime::NextStart,
            default: |config| Some(config.projects.limits.attempts_kept_ms.to_string()),
        },
        Setting::of_own(
            "projects.templates",
            ValueType::Path,
            "Folder of templates for all projects. Defaults to `templates` next to this file.",
        ),
        Setting::of_own(
            "projects.at.PATH.id",
            ValueType::Text,
            "Id of the project with the root PATH. Replaces the id that is derived from the path.",
        ),
        Setting::of_own(
            "projects.at.PATH.name",
            ValueType::Text,
            "Display name of the project.",
        ),
        Setting::of_own(
            "projects.at.PATH.templates",
            ValueType::Text,
            "Folder of the project's templates, relative to its root.",
        ),
        Setting::of_own(
            "projects.at.PATH.exclude",
            ValueType::Texts,
            "Files and folders that are never read, as `.gitignore` patterns.",
        ),
    ];

    /// Returns the settings of the table, with the defaults for missing keys.
    ///
    /// # Errors
    /// When a value is out of range, a path is not absolute, or a project is invalid.
    pub fn settings(self) -> Result<Settings, Error> {
        let mut settings = Settings::default();
        let limits = &mut settings.limits;
        for (into, name, given, least, most) in [
            (
                &mut limits.content_bytes_max,
                "content_bytes_max",
                self.content_bytes_max,
                1024,
                64 * MIB,
            ),
            (
                &mut limits.attempts_max,
                "attempts_max",
                self.attempts_max,
                1,
                1_000_000_000,
            ),
            (
                &mut limits.attempts_kept_ms,
                "attempts_kept_ms",
                self.attempts_kept_ms,
                1000,
                31_536_000_000,
            ),
        ] {
            set(into, name, given, least, most)?;
        }
        if let Some(path) = &self.templates {
            absolute(path, "templates")?;
        }
        settings.templates = self.templates;
        for (path, marker) in self.at {
            absolute(&path, "at")?;
            if let Some(problem) = marker.problem() {
                return Err(Error::Project { path, problem });
            }
            settings.configured.push(Configured {
                // A root that does not exist yet matches later, unless it becomes a symbolic link.
                path: std::fs::canonicalize(&path).unwrap_or(path),
                marker,
            });
        }
        Ok(settings)
    }
}

fn absolute(path: &Path, name: &str) -> Result<(), Error> {
    if path.is_absolute() {
        return Ok(());
    }
    Err(Error::Project {
        path: path.to_path_buf(),
        problem: format!("`projects.{name}` takes absolute paths"),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::config::Config;

    use super::*;

    fn parse(text: &str) -> Result<Settings, Error> {
        Config::parse(text, Path::new("config.toml")).map(|config| config.projects)
    }

    /// Project settings are accepted; relative paths, invalid ids and limits out of range are rejected.
    #[test]
    fn projects_are_set() {
        let settings = parse(
            "[projects]\nattempts_max = 5\ntemplates = \"/etc/lore/templates\"\n\
             [projects.at.\"/srv/shop\"]\nid = \"shop\"\nexclude = [\"target/\"]\n",
        )
        .unwrap();
        assert_eq!(settings.limits.attempts_max, 5);
        assert_eq!(
            settings.templates.unwrap(),
            Path::new("/etc/lore/templates")
        );
        let shop = settings.configured.first().unwrap();
        assert_eq!(shop.path, Path::new("/srv/shop"));
        assert_eq!(shop.marker.id.as_deref(), Some("shop"));
        for (text, reported) in [
            ("[projects]\ntemplates = \"templates\"", "absolute"),
            ("[projects.at.shop]\nid = \"shop\"", "absolute"),
            ("[projects.at.\"/srv\"]\nid = \"../x\"", "../x"),
            ("[projects.at.\"/srv\"]\nidd = \"x\"", "idd"),
            ("[projects]\nattempts_max = 0", "from 1"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(reported), "{text}: {error}");
        }
    }
}
