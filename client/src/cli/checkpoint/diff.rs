//! `lore checkpoint diff`: compares two contexts and prints one line for every difference.

use std::fmt::Write;

use lore::protocol::RawJson;
use lore::protocol::checkpoints::{DiffReply, Difference};

use crate::cli::command::Command;
use crate::cli::flag::{Flag, Kind};
use crate::cli::output::{self, sanitize};
use crate::cli::report::{Rendered, Report, read};

/// A longer value is shortened to this many characters.
const VALUE_CHARS_MAX: usize = 80;
/// Characters shown before the first difference of two long values.
const ALIKE_CHARS: usize = 20;
/// A longer path is shortened to this many characters.
const PATH_CHARS_MAX: usize = 200;

/// `lore checkpoint diff`.
pub const DIFF: Command = Command::call(
    "diff",
    "List what was added (+), removed (-) and changed (~) between two checkpoints",
    "workflow_checkpoint_diff",
    Report::Exact(|reply| {
        let reply: DiffReply = read(reply)?;
        Ok(Rendered::good(render_text(&reply, output::may_paint())))
    }),
)
.flags(&[&[
    Flag::positional(Kind::Checkpoint, "from", "FROM", "Checkpoint to compare"),
    Flag::positional(
        Kind::Checkpoint,
        "to",
        "TO",
        "Checkpoint to compare it with",
    ),
    Flag::number(
        "limit",
        "COUNT",
        "At most this many differences, 1 to 10000",
    ),
]])
.examples(&["lore checkpoint diff 01k9 01ka"]);

/// The kind of change at a path.
#[derive(Clone, Copy)]
enum ChangeSign {
    Added,
    Removed,
    Changed,
}

fn render_text(reply: &DiffReply, paints: bool) -> String {
    let signed = |sign, list: &'_ [Difference]| -> Vec<(ChangeSign, Difference)> {
        list.iter().map(|found| (sign, found.clone())).collect()
    };
    let mut found = signed(ChangeSign::Removed, &reply.removed);
    found.extend(signed(ChangeSign::Added, &reply.added));
    found.extend(signed(ChangeSign::Changed, &reply.changed));
    if found.is_empty() {
        return format!("{} and {} are equal\n", reply.from, reply.to);
    }
    found.sort_by(|(_, one), (_, other)| place(&one.path).cmp(&place(&other.path)));
    let mut text = String::new();
    for (sign, difference) in &found {
        text += &line(*sign, difference, paints);
    }
    if let Some(left_out) = reply.left_out {
        // Writing into a string does not fail.
        let _ = writeln!(text, "… {left_out} more; raise --limit");
    }
    text
}

/// Sort key of a path: part by part, numbers in numeric order.
fn place(path: &str) -> Vec<(Option<u64>, &str)> {
    path.split('/')
        .map(|part| (part.parse().ok(), part))
        .collect()
}

fn line(sign: ChangeSign, difference: &Difference, paints: bool) -> String {
    let (old, new) = (text(difference.old.as_ref()), text(difference.new.as_ref()));
    let (mark, color, value) = match sign {
        ChangeSign::Added => ('+', "\x1b[32m", shortened(new, 0)),
        ChangeSign::Removed => ('-', "\x1b[31m", shortened(old, 0)),
        ChangeSign::Changed => {
            let alike = alike(old, new);
            let (old, new) = (shortened(old, alike), shortened(new, alike));
            ('~', "\x1b[33m", format!("{old} -> {new}"))
        }
    };
    let path = sanitize(&difference.path, PATH_CHARS_MAX);
    if paints {
        format!("{color}{mark} {path}\x1b[0m {value}\n")
    } else {
        format!("{mark} {path} {value}\n")
    }
}

/// Formats a value as JSON; a missing value as `null`.
fn text(value: Option<&RawJson>) -> &str {
    value.map_or("null", RawJson::as_str)
}

/// Length of the common prefix of two texts, in characters.
fn alike(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).count()
}

/// Shortens a value to about [`VALUE_CHARS_MAX`] characters, from shortly before `from`. Both ends state how
/// many characters were omitted.
fn shortened(json: &str, from: usize) -> String {
    let count = json.chars().count();
    if count <= VALUE_CHARS_MAX {
        return sanitize(json, 0);
    }
    let before = from.saturating_sub(ALIKE_CHARS);
    let part = json.chars().skip(before).take(VALUE_CHARS_MAX);
    let part = sanitize(&part.collect::<String>(), 0);
    let after = count.saturating_sub(before + VALUE_CHARS_MAX);
    let left_out = |count: usize| match count {
        0 => String::new(),
        _ => format!("[{count} characters]"),
    };
    format!("{}{part}{}", left_out(before), left_out(after))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(value: Value) -> DiffReply {
        serde_json::from_value::<Value>(value)
            .map(|value| serde_json::from_str(&value.to_string()).unwrap())
            .unwrap()
    }

    /// One line per difference, ordered by path, numbers in numeric order, colours only on request.
    #[test]
    fn differences_are_lines() {
        let reply = of(json!({
            "from": "a", "to": "b", "leftOut": 3,
            "added": [{"path": "/list/10", "new": {"x": "\u{202e}"}}],
            "removed": [{"path": "/list/9", "old": null}],
            "changed": [{"path": "/count", "old": 1, "new": "2"}],
        }));
        assert_eq!(
            render_text(&reply, false),
            "~ /count 1 -> \"2\"\n- /list/9 null\n+ /list/10 {\"x\":\"\\u{202e}\"}\n\
             … 3 more; raise --limit\n"
        );
        let painted = render_text(&reply, true);
        assert!(painted.starts_with("\x1b[33m~ /count\x1b[0m 1 -> \"2\"\n"));
        let same = of(json!({"from": "a", "to": "b", "added": [], "removed": [], "changed": []}));
        assert_eq!(render_text(&same, true), "a and b are equal\n");
    }

    /// Long values are shown from their first difference, with the number of omitted characters.
    #[test]
    fn long_values_show_what_differs() {
        let (old, new) = (
            format!("\"{}é\"", "x".repeat(999)),
            format!("\"{}\"", "x".repeat(1500)),
        );
        let reply = of(json!({
            "from": "a", "to": "b", "added": [], "removed": [],
            "changed": [{
                "path": "/t",
                "old": serde_json::from_str::<Value>(&old).unwrap(),
                "new": serde_json::from_str::<Value>(&new).unwrap(),
            }],
        }));
        let (tail, shown) = ("x".repeat(20), "x".repeat(80));
        assert_eq!(
            render_text(&reply, false),
            format!("~ /t [980 characters]{tail}é\" -> [980 characters]{shown}[442 characters]\n")
        );
        assert_eq!(shortened(&"y".repeat(80), 70), "y".repeat(80));
        assert_eq!(
            shortened(&"y".repeat(81), 0),
            "y".repeat(80) + "[1 characters]"
        );
    }
}
