//! `lore call NAME JSON`: calls any operation, for scripts.

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
.examples(&["lore call get_step '{\"step\": 2}'"]);

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
