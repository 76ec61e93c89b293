//! What is recorded and added in a folder: by the settings, and by `.lore.toml` of its project.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use lored_hosts::{Observation, Observed, Outcome, ToolCall};
use serde_json::Value;

use crate::projects::{CaptureTable, Coordination, ProjectLocation};

/// Characters that separate the words of a command line.
const SEPARATORS: &[char] = &[
    ' ', '\t', '\n', '\'', '"', '`', '=', ':', '<', '>', ';', '|', '&', '(', ')', ',',
];
/// Words of a command line that are compared with patterns.
const WORDS_MAX: usize = 200;
/// What stands for the middle of a result.
const CUT: &str = "\n…\n";

/// What is recorded and added in a folder.
#[derive(Debug)]
pub struct CaptureRules {
    /// The project of the folder.
    pub project: Option<String>,
    table: CaptureTable,
    root: PathBuf,
    /// Patterns of the settings: for all paths.
    everywhere: Gitignore,
    /// Patterns of the project: for paths below its root.
    of_project: Gitignore,
}

impl CaptureRules {
    /// Returns what holds in the folder of a place.
    #[must_use]
    pub fn new(settings: &CaptureTable, place: Option<&ProjectLocation>) -> Self {
        let root = place.map_or_else(|| PathBuf::from("/"), |place| place.root.clone());
        let own = place.map(|place| &place.marker);
        let patterns = own.into_iter().flat_map(|marker| {
            let excluded = marker.exclude.iter();
            excluded.chain(&marker.capture.exclude)
        });
        Self {
            project: place
                .filter(|place| place.is_identified())
                .map(|place| place.project.clone()),
            of_project: matcher(&root, patterns),
            everywhere: matcher(Path::new("/"), settings.exclude.iter()),
            table: match own {
                Some(marker) => settings.clone().and(&marker.capture),
                None => settings.clone(),
            },
            root,
        }
    }

    /// Whether text is added to contexts.
    #[must_use]
    pub fn adds(&self) -> bool {
        self.table.add.unwrap_or(true)
    }

    /// What is said of others that work on the same files.
    #[must_use]
    pub fn coordination(&self) -> Coordination {
        self.table.coordination.unwrap_or_default()
    }

    /// Whether an observation is recorded. Reports of what is not recorded leave no trace.
    #[must_use]
    pub fn records(&self, observation: &Observation) -> bool {
        let dir = observation.source.cwd.as_deref();
        let table = &self.table;
        match &observation.what {
            Observed::Prompt { .. } | Observed::Reply { .. } => table.prompts.unwrap_or(true),
            Observed::Answer { .. } | Observed::Question { .. } => table.answers.unwrap_or(true),
            Observed::SubagentEnded { answer, .. } => {
                answer.is_none() || table.answers.unwrap_or(true)
            }
            Observed::ToolStarted(call)
            | Observed::ToolDone(call, _)
            | Observed::ToolFailed(call, _)
            | Observed::PermissionAsked { call } => {
                table.tools.unwrap_or(true) && !self.is_about_excluded(call, dir)
            }
            // Plans are made by calls.
            Observed::Plan { .. } => table.tools.unwrap_or(true),
            Observed::FileChanged { path } => !self.excludes(path, dir),
            _ => true,
        }
    }

    /// Takes the middle out of a result that is too long.
    pub fn limit(&self, what: &mut Observed) {
        let (Some(bytes_max), Observed::ToolDone(_, outcome) | Observed::ToolFailed(_, outcome)) =
            (self.table.result_bytes_max, what)
        else {
            return;
        };
        limit(outcome, usize::try_from(bytes_max).unwrap_or(usize::MAX));
    }

    /// Whether a call reads or changes a file that is left out, or names one in its command line.
    fn is_about_excluded(&self, call: &ToolCall, dir: Option<&str>) -> bool {
        if self.everywhere.is_empty() && self.of_project.is_empty() {
            return false;
        }
        let edits = call.edits.iter().map(|edit| edit.path.as_str());
        let words = call.command.as_deref().unwrap_or_default();
        let words = words.split(SEPARATORS).filter(|word| !word.is_empty());
        let mut paths = edits
            .chain(call.reads.iter().map(String::as_str))
            .chain(words.take(WORDS_MAX));
        paths.any(|path| self.excludes(path, dir))
    }

    fn excludes(&self, path: &str, dir: Option<&str>) -> bool {
        let path = Path::new(dir.unwrap_or("/")).join(path);
        let within = path.strip_prefix(&self.root).ok();
        within.is_some_and(|path| is_ignored(&self.of_project, path))
            || path
                .strip_prefix("/")
                .is_ok_and(|path| is_ignored(&self.everywhere, path))
    }
}

fn is_ignored(patterns: &Gitignore, path: &Path) -> bool {
    // The crate wants a path below its root, without steps upwards.
    let is_plain = path
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    is_plain
        && patterns
            .matched_path_or_any_parents(path, false)
            .is_ignore()
}

fn matcher<'p>(root: &Path, patterns: impl Iterator<Item = &'p String>) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root);
    for pattern in patterns {
        if let Err(error) = builder.add_line(None, pattern) {
            tracing::warn!(pattern, %error, "a pattern of what is not recorded is invalid");
        }
    }
    builder.build().unwrap_or_else(|error| {
        tracing::warn!(%error, "the patterns of what is not recorded are too large");
        Gitignore::empty()
    })
}

/// Takes the middle out of what a call returned.
fn limit(outcome: &mut Outcome, bytes_max: usize) {
    if outcome.text.is_empty() {
        let text = match std::mem::take(&mut outcome.result) {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        outcome.text = text;
    }
    outcome.text = ends(std::mem::take(&mut outcome.text), bytes_max);
    if bytes_max == 0 {
        outcome.result = Value::Null;
    }
    let error = outcome.error.take();
    outcome.error = error.map(|error| ends(error, bytes_max));
}

/// Returns the beginning and the end of a text that is too long, half of `bytes_max` each.
fn ends(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let head = text.floor_char_boundary(bytes_max / 2);
    let tail = text.ceil_char_boundary(text.len() - bytes_max / 2);
    match (text.get(..head), text.get(tail..)) {
        (Some(""), _) | (_, Some("") | None) | (None, _) => String::new(),
        (Some(head), Some(tail)) => format!("{head}{CUT}{tail}"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn rules(settings: CaptureTable) -> CaptureRules {
        CaptureRules::new(&settings, None)
    }

    #[test]
    fn files_are_left_out_by_path_and_by_name() {
        let table = CaptureTable {
            exclude: vec![
                ".env".to_owned(),
                "/srv/keys/".to_owned(),
                "*.pem".to_owned(),
            ],
            ..CaptureTable::default()
        };
        let rules = rules(table);
        for (path, is_excluded) in [
            (".env", true),
            ("/home/ada/shop/.env", true),
            ("/srv/keys/a/b.txt", true),
            ("deep/server.pem", true),
            ("server.pem.md", false),
            ("environment", false),
            ("../.env", false),
            ("", false),
        ] {
            let found = rules.excludes(path, Some("/home/ada/shop"));
            assert_eq!(found, is_excluded, "{path}");
        }
        let command = |line: &str| ToolCall {
            command: Some(line.to_owned()),
            ..ToolCall::default()
        };
        for (line, is_excluded) in [
            ("cat .env", true),
            ("docker run --env-file=.env app", true),
            ("cat <config/.env | grep KEY", true),
            ("make environment", false),
        ] {
            let found = rules.is_about_excluded(&command(line), Some("/home/ada/shop"));
            assert_eq!(found, is_excluded, "{line}");
        }
    }

    #[test]
    fn the_stricter_value_holds() {
        let user = CaptureTable {
            prompts: Some(false),
            result_bytes_max: Some(100),
            exclude: vec!["a".to_owned()],
            ..CaptureTable::default()
        };
        let project = CaptureTable {
            prompts: Some(true),
            tools: Some(false),
            result_bytes_max: Some(50),
            exclude: vec!["b".to_owned()],
            ..CaptureTable::default()
        };
        let both = user.and(&project);
        assert_eq!(
            (both.prompts, both.tools, both.answers),
            (Some(false), Some(false), None)
        );
        assert_eq!(both.result_bytes_max, Some(50));
        assert_eq!(both.exclude, ["b", "a"]);
    }

    #[test]
    fn long_results_lose_their_middle() {
        for (text, bytes_max, left) in [
            ("short", 10, "short"),
            ("0123456789", 4, "01\n…\n89"),
            ("0123456789", 0, ""),
            ("ääää", 4, "ä\n…\nä"),
            ("ää", 1, ""),
        ] {
            assert_eq!(ends(text.to_owned(), bytes_max), left, "{text}");
        }
        let mut outcome = Outcome {
            result: serde_json::json!({"a": "x".repeat(100)}),
            ..Outcome::default()
        };
        limit(&mut outcome, 20);
        assert!(outcome.text.len() < 30, "{}", outcome.text);
    }
}
