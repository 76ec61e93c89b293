//! Renders the settings: the documentation page, the commented file of defaults, and the values in force
//! with their origin.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::read::{RawValue, ValueSource};
use super::setting::{Setting, ValueType};
use super::{Config, settings};

/// Maximum width of a comment line, in characters.
const WIDTH: usize = 96;

const PAGE_HEAD: &str = "\
<!-- Made from the declaration of the settings: UPDATE_DOCS=1 cargo test -p tests --test docs -->
# Configuration

This page is for everyone who changes a setting. All settings have defaults, so the file is optional.

The settings file is `~/.config/lore/config.toml` (or `$XDG_CONFIG_HOME/lore/config.toml`, or
`$LORE_HOME/config.toml`; `/etc/lore/config.toml` for the system-wide daemon). For one run, set an environment
variable instead. `lored config default --write` writes a file with every setting and its default, commented
out; [config.default.toml](config.default.toml) is that file.

- `lore config show --origin` shows the settings in force, each with its file and line or its variable.
- `lored config check FILE` reports the first error of a file with its line and column.
- A running daemon reads the file again when it changes, or on SIGHUP. A file with an error changes nothing:
  the daemon reports the error in its log and in `lore status`, and keeps its settings. Both also list the
  settings that take effect only at the next start.

**Precedence**: a command-line flag (`--socket`, `--config`), then a variable, then the project's `.lore.toml`
(`id`, `name`, `templates` and `exclude` only), then this file, then the default. `[projects.at.\"PATH\"]` goes
before the `.lore.toml` of that project.

Sizes and times are whole numbers in the unit that the name ends with. A part of a key in capitals stands for
a name that you choose. In a variable, commas separate the elements of a list.
";

/// Renders docs/configuration.md.
#[must_use]
pub fn page() -> String {
    let defaults = Config::new();
    let mut page = PAGE_HEAD.to_owned();
    let mut section = None;
    for setting in settings() {
        if section != Some(setting.section()) {
            section = Some(setting.section());
            let title = match setting.section() {
                "" => "Outside of sections".to_owned(),
                name => format!("`[{name}]`"),
            };
            let _ = write!(
                page,
                "\n## {title}\n\n| key | default | takes | acts | variable |\n| --- | --- | --- | --- | --- |\n"
            );
        }
        let default =
            (setting.default)(&defaults).map_or(String::new(), |text| format!("`{text}`"));
        let variable = setting
            .variable()
            .map_or(String::new(), |name| format!("`{name}`"));
        let _ = writeln!(
            page,
            "| `{}`<br>{} | {default} | {} | {} | {variable} |",
            setting.key,
            setting.description.trim(),
            setting.takes.describe(),
            setting.acts.describe(),
        );
    }
    page
}

/// Renders the commented file of defaults.
#[must_use]
pub fn default_file() -> String {
    let defaults = Config::new();
    let mut file = "\
# The settings of lored, each with its default. To change a setting, remove the `#` before its line and
# before the line of its section. `lored config check FILE` checks the file.
"
    .to_owned();
    let mut section = "";
    for setting in settings() {
        if setting.section() != section {
            section = setting.section();
            let _ = write!(file, "\n# [{section}]\n");
        }
        file.push('\n');
        for line in wrapped(&comment(setting)) {
            let _ = writeln!(file, "## {line}");
        }
        let _ = writeln!(file, "# {}", example(setting, &defaults));
    }
    file
}

fn comment(setting: &Setting) -> String {
    format!(
        "{} Takes {}; acts {}.",
        setting.description.trim(),
        setting.takes.describe(),
        setting.acts.describe()
    )
}

/// Renders a setting's line in a file, below the header of its section.
fn example(setting: &Setting, defaults: &Config) -> String {
    let name = setting
        .key
        .split_once('.')
        .map_or(setting.key, |(_, rest)| rest);
    // A path contains slashes and dots, so it must be quoted.
    let name = name.replace("PATH", "\"PATH\"");
    match (setting.default)(defaults) {
        Some(default) => format!("{name} = {default}"),
        None => format!("{name} = …"),
    }
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { break };
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// An effective value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveValue {
    /// Key, with user-defined names filled in.
    pub key: String,
    /// The value in TOML syntax; secrets are hidden.
    pub value: String,
    /// Sources of the value: none for the default, several when values are merged.
    pub origins: Vec<ValueSource>,
}

impl EffectiveValue {
    fn origin(&self) -> String {
        match self.origins.as_slice() {
            [] => "default".to_owned(),
            origins => {
                let reported: Vec<String> = origins.iter().map(ValueSource::to_string).collect();
                reported.join(" and ")
            }
        }
    }
}

/// Lists every effective value in the order of the documentation page.
#[must_use]
pub fn in_force(given: &RawValue) -> Vec<EffectiveValue> {
    let defaults = Config::new();
    let mut all = Vec::new();
    for setting in settings() {
        let mut set: Vec<&Vec<String>> = given
            .origins
            .keys()
            .filter(|keys| setting.is_at(keys))
            .collect();
        set.sort();
        let is_set = !set.is_empty();
        for keys in set {
            let value = match (setting.takes, given.value(keys)) {
                (_, None) => continue,
                (ValueType::Secrets, Some(_)) => "{…}".to_owned(),
                (_, Some(value)) => value.to_string(),
            };
            all.push(EffectiveValue {
                key: dotted(keys),
                value,
                origins: given.origins.get(keys).cloned().into_iter().collect(),
            });
        }
        if let (false, Some(value)) = (is_set, (setting.default)(&defaults)) {
            all.push(EffectiveValue {
                key: setting.key.to_owned(),
                value,
                origins: Vec::new(),
            });
        }
    }
    all
}

/// Renders the values as TOML lines with full keys, with their sources if requested.
#[must_use]
pub fn text(in_force: &[EffectiveValue], origin: bool) -> String {
    let mut lines = String::new();
    for one in in_force {
        let EffectiveValue { key, value, .. } = one;
        let _ = match origin {
            false => writeln!(lines, "{key} = {value}"),
            true => writeln!(lines, "{key} = {value}  # {}", one.origin()),
        };
    }
    lines
}

/// Renders the values as one JSON object in the structure of the file.
#[must_use]
pub fn json(in_force: &[EffectiveValue]) -> Value {
    let settings: Map<String, Value> = in_force
        .iter()
        .map(|one| {
            let reported = json!({"value": one.value, "origin": one.origin()});
            (one.key.clone(), reported)
        })
        .collect();
    json!({"schema_version": 1, "settings": settings})
}

/// Renders a path of keys in TOML syntax.
fn dotted(keys: &[String]) -> String {
    let is_bare = |key: &str| {
        !key.is_empty()
            && key
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    let parts: Vec<String> = keys
        .iter()
        .map(|key| match is_bare(key) {
            true => key.clone(),
            false => format!("{key:?}"),
        })
        .collect();
    parts.join(".")
}
