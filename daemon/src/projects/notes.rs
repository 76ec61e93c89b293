//! A project's notes as files below `/memories`, as the memory tool of Anthropic's API sees them.
//!
//! A note is a context file. One whose type has a template is `/memories/TYPE.md`; any other path is a file of its own, whose
//! type is `memories/PATH`, and has no template. Folders exist as long as there is a file in them. The texts of replies are
//! those of <https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool>, to the letter.

use std::collections::BTreeMap;
use std::fmt::Write;

/// What the types of notes without a template begin with.
pub const PREFIX: &str = "memories/";
/// The folder of all notes.
const ROOT: &str = "/memories";
/// Longest path below the root, and longest name in it, in bytes.
const PATH_BYTES_MAX: usize = 512;
const NAME_BYTES_MAX: usize = 128;
/// Levels of folders below the root.
const DEPTH_MAX: usize = 16;
/// Levels that a listing shows.
const LISTED_DEPTH: usize = 2;
/// Lines of a file that can be viewed.
const LINES_MAX: usize = 999_999;
/// Lines around an edit that are shown.
const AROUND: usize = 4;

/// Whether a file type is that of a note without a template.
#[must_use]
pub fn is_note(file_type: &str) -> bool {
    file_type.starts_with(PREFIX)
}

/// Returns the part of a path below `/memories`, without a slash at its end; `None` if it is not there, or leaves it.
#[must_use]
pub fn below_root(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(ROOT)?;
    let rest = match rest {
        "" => return Some(""),
        rest => rest.strip_prefix('/')?,
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.is_empty() {
        return Some("");
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && name != "."
            && name != ".."
            && name.len() <= NAME_BYTES_MAX
            && !name.chars().any(|c| c.is_control() || c == '\\')
    };
    // An encoded step upwards is an attack, not a name.
    let is_plain = !rest.to_ascii_lowercase().contains("%2e%2e");
    let is_path = rest.len() <= PATH_BYTES_MAX
        && rest.split('/').count() <= DEPTH_MAX
        && rest.split('/').all(is_name);
    (is_path && is_plain).then_some(rest)
}

/// Lists a folder: the sizes of its files by their path below the root.
#[must_use]
pub fn listing(path: &str, folder: &str, sizes: &BTreeMap<String, u64>) -> String {
    let inside = |file: &'_ str| -> Option<String> {
        let rest = match folder {
            "" => file,
            folder => file.strip_prefix(folder)?.strip_prefix('/')?,
        };
        Some(rest.to_owned())
    };
    let mut entries: BTreeMap<String, u64> = BTreeMap::new();
    let mut total = 0;
    for (file, bytes) in sizes {
        let Some(rest) = inside(file) else {
            continue;
        };
        let names: Vec<&str> = rest.split('/').collect();
        if names
            .iter()
            .any(|name| name.starts_with('.') || *name == "node_modules")
        {
            continue;
        }
        total += bytes;
        for depth in 1..=names.len().min(LISTED_DEPTH) {
            let entry = names.get(..depth).unwrap_or_default().join("/");
            *entries.entry(entry).or_default() += bytes;
        }
    }
    let shown = path.strip_suffix('/').unwrap_or(path);
    let mut text = format!(
        "Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items and node_modules:\n{}\t{shown}",
        size(total)
    );
    for (entry, bytes) in entries {
        let _ = write!(text, "\n{}\t{shown}/{entry}", size(bytes));
    }
    text
}

/// Returns a size as `du -h` writes it.
fn size(bytes: u64) -> String {
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 'K';
    for next in ['M', 'G'] {
        if value >= 1024.0 {
            value /= 1024.0;
            unit = next;
        }
    }
    // A file that is not empty has a size.
    let least = if bytes == 0 { 0.0 } else { 0.1 };
    format!("{:.1}{unit}", value.max(least))
}

/// Shows a file, or the lines of a range: first and last, from 1; -1 stands for the end.
///
/// # Errors
/// The text of the reply, if the range is invalid or the file is too long.
pub fn viewed(path: &str, content: &str, range: Option<&[i64]>) -> Result<String, String> {
    let lines: Vec<&str> = content.lines().collect();
    if lines.len() > LINES_MAX {
        return Err(format!(
            "File {path} exceeds maximum line limit of 999,999 lines."
        ));
    }
    let (first, last) = match range {
        None => (1, lines.len()),
        Some(range) => within(range, lines.len()).ok_or_else(|| {
            format!(
                "Error: Invalid `view_range` parameter: {range:?}. It should be within the range of lines of the file: [1, {}]",
                lines.len()
            )
        })?,
    };
    let shown = numbered(&lines, first, last);
    Ok(format!(
        "Here's the content of {path} with line numbers:\n{shown}"
    ))
}

fn within(range: &[i64], lines: usize) -> Option<(usize, usize)> {
    let [first, last] = range else {
        return None;
    };
    let first = usize::try_from(*first).ok().filter(|first| *first >= 1)?;
    let last = match *last {
        -1 => lines,
        last => usize::try_from(last).ok()?.min(lines),
    };
    (first <= last).then_some((first, last))
}

fn numbered(lines: &[&str], first: usize, last: usize) -> String {
    let lines = lines
        .iter()
        .zip(1..)
        .filter(|(_, number)| (first..=last).contains(number));
    let lines: Vec<String> = lines
        .map(|(line, number)| format!("{number:6}\t{line}"))
        .collect();
    lines.join("\n")
}

/// Replaces a text that stands in a file once. Returns the new content and the reply.
///
/// # Errors
/// The text of the reply, if it stands nowhere or more than once.
pub fn replaced(
    path: &str,
    content: &str,
    old: &str,
    new: &str,
) -> Result<(String, String), String> {
    let mut places = content.match_indices(old).map(|(at, _)| at);
    let first = places.next().filter(|_| !old.is_empty());
    let Some(first) = first else {
        return Err(format!(
            "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        ));
    };
    let line_of = |at: usize| content.get(..at).unwrap_or_default().matches('\n').count() + 1;
    let others: Vec<usize> = places.map(line_of).collect();
    if !others.is_empty() {
        let lines = std::iter::once(line_of(first)).chain(others);
        let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
        return Err(format!(
            "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
            lines.join(", ")
        ));
    }
    let made = content.replacen(old, new, 1);
    let lines: Vec<&str> = made.lines().collect();
    let begin = line_of(first);
    let end = begin + new.matches('\n').count();
    let shown = numbered(&lines, begin.saturating_sub(AROUND).max(1), end + AROUND);
    Ok((
        made.clone(),
        format!("The memory file has been edited.\n{shown}"),
    ))
}

/// Inserts a text behind a line; 0 stands for the beginning.
///
/// # Errors
/// The text of the reply, if the file has fewer lines.
pub fn inserted(content: &str, line: i64, text: &str) -> Result<String, String> {
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let at = usize::try_from(line).ok().filter(|at| *at <= lines.len());
    let Some(at) = at else {
        return Err(format!(
            "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {}]",
            lines.len()
        ));
    };
    let mut made: String = lines.get(..at).unwrap_or_default().concat();
    if !made.is_empty() && !made.ends_with('\n') {
        made.push('\n');
    }
    made.push_str(text);
    if at < lines.len() && !text.ends_with('\n') {
        made.push('\n');
    }
    made.push_str(&lines.get(at..).unwrap_or_default().concat());
    Ok(made)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_root() {
        for (path, below) in [
            ("/memories", Some("")),
            ("/memories/", Some("")),
            ("/memories/a.md", Some("a.md")),
            ("/memories/a/b.md/", Some("a/b.md")),
            ("/memories/../etc/passwd", None),
            ("/memories/a/../../b", None),
            ("/memories/%2e%2e/b", None),
            ("/memories//a", None),
            ("/memories/./a", None),
            ("/memoriesx/a", None),
            ("memories/a", None),
            ("/etc/passwd", None),
            ("/memories/a\0b", None),
            ("/memories/a\\b", None),
            ("", None),
        ] {
            assert_eq!(below_root(path), below, "{path:?}");
        }
        assert_eq!(below_root(&format!("/memories/{}", "x".repeat(600))), None);
        assert_eq!(below_root(&format!("/memories{}", "/x".repeat(17))), None);
    }

    #[test]
    fn a_listing_has_two_levels_and_sizes() {
        let sizes = BTreeMap::from([
            ("a.md".to_owned(), 1536),
            ("people/ana/notes.md".to_owned(), 100),
            (".hidden".to_owned(), 5),
            ("empty.md".to_owned(), 0),
        ]);
        assert_eq!(
            listing("/memories", "", &sizes),
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n\
             1.6K\t/memories\n1.5K\t/memories/a.md\n0.0K\t/memories/empty.md\n0.1K\t/memories/people\n0.1K\t/memories/people/ana"
        );
        assert!(
            listing("/memories/people", "people", &sizes)
                .ends_with("\n0.1K\t/memories/people/ana\n0.1K\t/memories/people/ana/notes.md")
        );
    }

    #[test]
    fn files_are_shown_with_numbers() {
        let view = |range| viewed("/memories/a", "one\ntwo\nthree\n", range);
        let head = "Here's the content of /memories/a with line numbers:\n";
        assert_eq!(
            view(None),
            Ok(format!("{head}     1\tone\n     2\ttwo\n     3\tthree"))
        );
        assert_eq!(
            view(Some(&[2, -1])),
            Ok(format!("{head}     2\ttwo\n     3\tthree"))
        );
        assert_eq!(view(Some(&[2, 2])), Ok(format!("{head}     2\ttwo")));
        for range in [&[0, 1][..], &[4, 5], &[2, 1], &[1], &[-2, 1]] {
            assert!(view(Some(range)).is_err(), "{range:?}");
        }
        let long = "x\n".repeat(1_000_000);
        let refused = viewed("/memories/a", &long, None);
        assert_eq!(
            refused,
            Err("File /memories/a exceeds maximum line limit of 999,999 lines.".to_owned())
        );
    }

    #[test]
    fn only_a_text_that_stands_once_is_replaced() {
        let content = "a\nb\na\n";
        let once = replaced("/memories/x", content, "b", "c");
        assert_eq!(
            once,
            Ok((
                "a\nc\na\n".to_owned(),
                "The memory file has been edited.\n     1\ta\n     2\tc\n     3\ta".to_owned()
            ))
        );
        assert_eq!(
            replaced("/memories/x", content, "a", "c"),
            Err("No replacement was performed. Multiple occurrences of old_str `a` in lines: 1, 3. Please ensure it is unique".to_owned())
        );
        for old in ["z", ""] {
            let refused = replaced("/memories/x", content, old, "c").unwrap_err();
            assert_eq!(
                refused,
                format!(
                    "No replacement was performed, old_str `{old}` did not appear verbatim in /memories/x."
                )
            );
        }
    }

    #[test]
    fn texts_are_inserted_behind_lines() {
        for (line, made) in [(0, "x\na\nb\n"), (1, "a\nx\nb\n"), (2, "a\nb\nx")] {
            assert_eq!(inserted("a\nb\n", line, "x").as_deref(), Ok(made), "{line}");
        }
        assert_eq!(inserted("a", 1, "x\n").as_deref(), Ok("a\nx\n"));
        assert_eq!(inserted("", 0, "x").as_deref(), Ok("x"));
        for line in [-1, 3] {
            assert_eq!(
                inserted("a\nb\n", line, "x"),
                Err(format!(
                    "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, 2]"
                ))
            );
        }
    }
}
