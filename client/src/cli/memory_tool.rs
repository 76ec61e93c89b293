//! `lore memory-tool`: a command of Anthropic's memory tool on the project's notes.

use serde_json::Value;

use super::command::Command;
use super::flag::{Fields, Flag, Kind};
use super::output::{self, Output};
use super::parser::Matches;
use super::report::read;
use super::template::{is, raw};
use super::{Caller, Exit, Failure, input};

/// `lore memory-tool`.
pub const MEMORY_TOOL: Command = Command::client(
    "memory-tool",
    "Run a command of Anthropic's memory tool on the project's notes",
    run,
)
.details(
    "For programs that answer the tool `memory_20250818` of a model: hand the tool's input over as it is, and give the model what \
     is printed. The notes of the project are the files below /memories; every version is kept. An error is printed in the \
     tool's own words, with exit code 1.",
)
.flags(&[&[
    Flag::positional(
        Kind::TextOrInput,
        "input",
        "JSON",
        "The tool's input; - or nothing reads it from standard input",
    )
    .local()
    .default("-")
    .allows_dash(),
    Flag::text(
        "project",
        "PROJECT",
        "The project, by its id, a path in it, or `current`; otherwise that of this folder",
    )
    .sends("project_id"),
]])
.examples(&[r#"lore memory-tool '{"command": "view", "path": "/memories"}'"#]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let text = input::text("the tool's input", matches.text("input").unwrap_or("-"))?;
    let members = input::object("the tool's input", &text)?;
    let mut fields: Fields = matches.fields()?;
    for (name, value) in &members {
        fields.put(name, value)?;
    }
    let reply = caller.reply("memory_tool", fields)?;
    let value: Value = read(&reply.json)?;
    match caller.output {
        Output::Json => output::write_json_lines(&[reply.json.as_slice(), b"\n"].concat())?,
        Output::Human => output::write(format!("{}\n", raw(&value, "output")).as_bytes())?,
    }
    Ok(match is(&value, "is_error") {
        true => Exit::Nothing,
        false => Exit::Good,
    })
}
