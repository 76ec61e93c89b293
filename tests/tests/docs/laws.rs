//! The laws of docs/architecture.md that the source can show: dependencies between modules, file lengths, and
//! module headers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

const MODULES: &str = include_str!("modules.txt");
const OUTSIDERS: &str = include_str!("outsiders.txt");

/// Feature modules: one per capability.
const CAPABILITIES: &str = "checkpoints steps sessions messages entities packs transfer projects \
    documents search log_admin forgetting backup";

/// Wire types with arguments and replies, and the only modules in the daemon that name them.
const WIRE_FAMILIES: &str = "steps sessions messages entities projects documents search log status";
const WIRE_PLACES: &str = "daemon/src/api/ daemon/src/log_admin/ daemon/src/admin.rs \
    daemon/src/admin/doctor/serving.rs daemon/src/admin/files.rs";

/// Crates that the client must not depend on.
const NOT_IN_THE_CLIENT: &[&str] = &[
    "tokio", "fjall", "rmcp", "hyper", "tantivy", "ratatui", "lore-top",
];

/// Maximum length of a file in lines; tests are lists of cases and may be longer.
const LINES_MAX: usize = 500;
const TEST_LINES_MAX: usize = 700;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_path_buf()
}

/// A source file: its path from the root of the workspace, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Returns the source without tests, comments and string literals.
    fn program(&self) -> String {
        if self.is_test() {
            return String::new();
        }
        let text = match self.text.find("#[cfg(test)]") {
            Some(end) => &self.text[..end],
            None => &self.text,
        };
        without_comments_and_texts(text)
    }

    fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }

    /// Returns the daemon's module that contains the file.
    fn module(&self) -> Option<&str> {
        let inner = self.path.strip_prefix("daemon/src/")?;
        let name = inner.split('/').next()?;
        Some(name.strip_suffix(".rs").unwrap_or(name))
    }
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["client", "daemon", "tests"]
        .iter()
        .map(|member| root().join(member))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root()).unwrap();
                let path = path.to_str().unwrap().to_owned();
                found.push(Source { path, text });
            }
        }
    }
    assert!(found.len() > 100, "only {} sources found", found.len());
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Replaces line comments, string literals and quotes in char literals by blanks.
fn without_comments_and_texts(text: &str) -> String {
    static SKIPPED: LazyLock<Regex> = LazyLock::new(|| {
        let skipped = r##"//[^\n]*|r#"(?s:.*?)"#|"(?s:[^"\\]|\\.)*"|'\\?"'"##;
        Regex::new(skipped).unwrap()
    });
    SKIPPED.replace_all(text, " ").into_owned()
}

/// Returns the lines of a list.
fn lines(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.starts_with('#'))
}

/// Collects the words after `prefix` as the next part of a path: one, or each in braces.
fn parts_after(text: &str, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices(prefix) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|before| before.is_alphanumeric() || before == '_' || before == ':') {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => found.extend(word(rest)),
            Some(group) => {
                let (mut depth, mut at_start) = (0, true);
                for (at, character) in group.char_indices() {
                    match character {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => at_start = true,
                        c if c.is_whitespace() => {}
                        _ if at_start && depth == 0 => {
                            found.extend(word(&group[at..]));
                            at_start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

fn word(text: &str) -> Option<String> {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

/// Whether `name` occurs in the text at the beginning of a path, or is imported as a whole.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = &text[at + name.len()..];
        let begins = !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
        let is_path = after.starts_with("::") || after.starts_with(';') || name.contains("::");
        begins && (is_path || after.starts_with(" as "))
    })
}

/// Law 1: one direction. Each module of the daemon names only those after it in modules.txt; checked by
/// reading every path that begins at the crate's root.
#[test]
fn the_daemon_is_one_straight_line() {
    let place = |module: &str| lines(MODULES).position(|name| name == module);
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(module) = source.module() else {
            continue;
        };
        if module == "lib" || module == "main" {
            continue;
        }
        let Some(own) = place(module) else {
            wrong.push(format!(
                "{}: `{module}` has no place in modules.txt",
                source.path
            ));
            continue;
        };
        for named in parts_after(&source.program(), "crate::") {
            match place(&named) {
                Some(its) if its >= own => {}
                Some(_) => wrong.push(format!("{} names `{named}`, above it", source.path)),
                None => wrong.push(format!(
                    "{} names `{named}`, not in modules.txt",
                    source.path
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Law 9: third-party crates are named in one place each; checked by searching for their names in all other files.
#[test]
fn outsiders_stay_in_their_places() {
    let mut wrong = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for source in sources() {
        let program = source.program();
        for (name, places) in lines(OUTSIDERS).filter_map(|line| line.split_once(' ')) {
            if names(&program, name) {
                seen.insert(name);
                if !places
                    .split(' ')
                    .any(|place| source.path.starts_with(place))
                {
                    wrong.push(format!("{} names {name}", source.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen.contains("rmcp") && seen.contains("notify"), "{seen:?}");
}

/// Law 3 of the layout: capabilities do not use each other's views, commands or events, except for the exports of
/// their mod.rs; checked by the privacy of the modules with these names.
#[test]
fn capabilities_publish_no_inner_module() {
    for capability in CAPABILITIES.split_whitespace() {
        let path = root().join("daemon/src").join(capability).join("mod.rs");
        let text = std::fs::read_to_string(&path).unwrap();
        for inner in ["view", "command", "event", "choose"] {
            let published = text.contains(&format!("pub mod {inner};"))
                || text.contains(&format!("pub(crate) mod {inner};"));
            assert!(!published, "{capability} publishes its {inner} whole");
        }
    }
}

/// Law 7: only the transports, the operations and the log administration name arguments and replies of the wire, so
/// that no event, view or store depends on them.
#[test]
fn wire_types_end_at_the_operations() {
    let mut wrong = Vec::new();
    for source in sources() {
        let is_operations = source.path.contains("/operations");
        let mut places = WIRE_PLACES.split_whitespace();
        let is_place = places.any(|place| source.path.starts_with(place));
        if source.module().is_none() || is_operations || is_place {
            continue;
        }
        for named in parts_after(&source.program(), "lore::protocol::") {
            if WIRE_FAMILIES.split(' ').any(|family| family == named) {
                wrong.push(format!("{} names lore::protocol::{named}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Law 8: the client is a thin pipe; checked by the crates that cargo would build for it alone.
#[test]
fn the_client_drags_in_no_runtime_and_no_engine() {
    let tree = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "lore"])
        .args(["--edges", "normal", "--prefix", "none"])
        .current_dir(root())
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{words}");
    let tree = String::from_utf8(tree.stdout).unwrap();
    let reached: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(reached.contains("serde_json"), "{reached:?}");
    for name in NOT_IN_THE_CLIENT {
        assert!(!reached.contains(name), "lore needs {name}");
    }
}

/// Files begin with their purpose, and are short.
#[test]
fn files_open_with_a_sentence_and_end_in_time() {
    let mut wrong = Vec::new();
    for source in sources() {
        let first = source.text.lines().next().unwrap_or_default();
        if !first.starts_with("//! ") {
            wrong.push(format!("{} opens with {first:?}", source.path));
        }
        let lines = source.text.lines().count();
        let max = if source.is_test() {
            TEST_LINES_MAX
        } else {
            LINES_MAX
        };
        if lines > max {
            wrong.push(format!("{} has {lines} lines", source.path));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
