//! `lore call NAME JSON`: calls any operation, for scripts.

use std::ffi::OsString;

use super::command::Command;
use super::flag::{Flag, Kind};
use super::{Caller, Exit, Failure, input, output};

/// `lore call`.
pub const CALL: Command = Command::client(
    "call",
    "Call any operation by its name",
    |matches, caller| run(matches.needed("name"), matches.needed("arguments"), caller),
)
.flags(&[&[
    Flag::positional(
        Kind::Text,
        "name",
        "NAME",
        "Name of the operation, such as record_step",
    ),
    Flag::positional(
        Kind::Text,
        "arguments",
        "JSON",
        "Its arguments, a JSON object, or - to read them from standard input",
    )
    .default("{}")
    .allows_dash(),
]])
.details("`lore call NAME --help` lists the arguments of an operation and the fields of its reply.")
.examples(&["lore call get_step '{\"step\": 2}'"]);

/// The description of all operations, made from the daemon's table.
const OPERATIONS: &str = include_str!("../../operations.md");

/// Calls an operation and prints the reply unchanged.
pub fn run(name: &str, arguments: &str, caller: &mut Caller) -> Result<Exit, Failure> {
    let arguments = input::text_or_stdin(arguments)?;
    let mut reply = caller.reply_to_json(name, arguments)?.into_one_text();
    reply.push(b'\n');
    output::write_json_lines(&reply)?;
    Ok(Exit::Good)
}

/// Returns the name and the arguments of a plain `lore call NAME [JSON]` without flags, the form that scripts
/// use. Building the parser would take as long as the call itself.
pub fn plain_words() -> Option<(String, String)> {
    let mut words = std::env::args_os().skip(1);
    words.next().filter(|word| word == "call")?;
    let mut words = words.map(|word| {
        let word = word.into_string().ok()?;
        (word == "-" || !word.starts_with('-')).then_some(word)
    });
    let name = words.next()??;
    let arguments = words.next().unwrap_or_else(|| Some("{}".to_owned()))?;
    words.next().is_none().then_some((name, arguments))
}

/// Returns the help of one operation for `lore call NAME --help`: its arguments and the fields of its reply.
///
/// `None` for any other command line, and for an unknown operation.
pub fn help(words: impl Iterator<Item = OsString>) -> Option<String> {
    let words: Vec<String> = words
        .map(|word| word.into_string().ok())
        .collect::<Option<_>>()?;
    let (command, words) = words.split_first()?;
    let asks = |word: &String| word == "--help" || word == "-h";
    if command != CALL.name || !words.iter().any(asks) {
        return None;
    }
    operation_help(words.iter().find(|word| !word.starts_with('-'))?)
}

fn operation_help(name: &str) -> Option<String> {
    let mut sections = OPERATIONS.split("\n## ");
    let section = sections.find_map(|section| {
        let (title, text) = section.split_once('\n')?;
        (title == name).then_some(text)
    })?;
    let mut help = format!("Usage: lore call {name} [JSON]\n");
    let mut heading = None;
    for line in section.lines() {
        let Some(cells) = cells(line) else {
            help += &match line.trim() {
                "" => String::new(),
                text => format!("\n{text}\n"),
            };
            continue;
        };
        match cells {
            ["---", ..] => {}
            [title, "type", ""] => heading = Some(title),
            [field, kind, text] => {
                if let Some(title) = heading.take() {
                    help += &format!("\n{title} (`?`: may be absent):\n");
                }
                help += &format!("  {:<28} {text} [{kind}]\n", field.replace('`', ""));
            }
        }
    }
    Some(help)
}

/// Returns the three cells of a row of a table.
fn cells(line: &str) -> Option<[&str; 3]> {
    let row = line.strip_prefix("| ")?.trim_end().strip_suffix('|')?;
    let mut cells = row.splitn(3, " | ").map(str::trim);
    Some([
        cells.next()?,
        cells.next()?,
        cells.next().unwrap_or_default(),
    ])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn help_of(words: &[&str]) -> Option<String> {
        help(words.iter().map(OsString::from))
    }

    #[test]
    fn an_operation_has_help() {
        let help = help_of(&["call", "get_step", "--help"]).unwrap();
        assert!(
            help.starts_with("Usage: lore call get_step [JSON]\n"),
            "{help}"
        );
        for part in [
            "Returns one recorded step whole",
            "\nArguments (`?`: may be absent):\n",
            "  step                         Its number. [integer]\n",
            "  attempt?  ",
            "\nReply (`?`: may be absent):\n",
            "  extracted  ",
        ] {
            assert!(help.contains(part), "{part:?} is not in {help}");
        }
        assert_eq!(help_of(&["call", "-h", "get_step"]), Some(help));
    }

    #[test]
    fn other_command_lines_have_their_own_help() {
        assert_eq!(help_of(&["call", "--help"]), None);
        assert_eq!(help_of(&["call", "no_such_operation", "--help"]), None);
        assert_eq!(help_of(&["call", "get_step", "{}"]), None);
        assert_eq!(help_of(&["step", "get_step", "--help"]), None);
        assert_eq!(help_of(&[]), None);
    }

    /// Every operation of the page has a help text with its arguments.
    #[test]
    fn the_page_is_read_whole() {
        let sections = OPERATIONS.split("\n## ").skip(1);
        let names = sections.filter_map(|section| section.lines().next());
        let mut count = 0;
        for name in names.filter(|name| name.contains('_') && !name.contains(' ')) {
            assert!(operation_help(name).unwrap().contains("\nReply"), "{name}");
            count += 1;
        }
        assert!(count > 50, "{count}");
    }
}
