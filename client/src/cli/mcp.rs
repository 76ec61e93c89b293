//! `lore mcp`: the stdio bridge that an agent's host starts.

use std::io;

use lore::bridge::{self, Bridge};
use lore::protocol::Toolset;
use lore::protocol::frame::Hello;

use super::command::Command;
use super::flag::{Flag, Kind};
use super::parser::Matches;
use super::{Exit, Failure, Globals};

/// `lore mcp`.
pub const MCP: Command = Command::local("mcp", "Speak MCP over stdin and stdout, for an agent's host", run)
    .flags(&[&[Flag::of(
        Kind::Tools,
        "tools",
        "LIST",
        "Tools to list, separated by commas: the profiles core (the default), full and legacy, the families steps, \
         sessions, entities, packs, checkpoints, projects, documents and log",
    )
    .local()]])
    .examples(&["lore mcp --tools core,documents"]);

fn run(matches: &Matches, globals: &Globals) -> Result<Exit, Failure> {
    let hello = Hello {
        // The bridge finds its own: a host starts it, not a person's shell.
        host_session: None,
        tools: matches.text("tools").map(str::to_owned),
        ..globals.hello()
    };
    let bridge = Bridge::new(globals.paths()?, hello);
    bridge::run(bridge, io::stdin(), io::stdout())?;
    Ok(Exit::Good)
}

/// Checks a list and returns it unchanged, because the daemon parses it again.
pub fn list(text: &str) -> Result<String, String> {
    match Toolset::list(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(refused) => Err(match refused.hint {
            Some(hint) => format!("{}\n  {hint}", refused.message),
            None => refused.message,
        }),
    }
}
