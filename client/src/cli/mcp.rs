//! `lore mcp`: the stdio bridge, which an agent's host starts.

use std::io;

use clap::Args;
use lore::bridge::{self, Bridge};
use lore::protocol::Toolset;
use lore::protocol::frame::Hello;

use super::{End, Failure, Globals};

/// Speak MCP over stdin and stdout, for an agent's host
#[derive(Debug, Args)]
pub struct Mcp {
    /// Which tools are listed, with commas between: the profiles core (the default), full and legacy,
    /// the families steps, sessions, entities, packs, checkpoints, projects, documents and log
    #[arg(long, value_name = "LIST", value_parser = list)]
    tools: Option<String>,
}

/// Keeps a list that makes sense as it was written: the daemon reads it again.
pub fn list(text: &str) -> Result<String, String> {
    match Toolset::list(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(refused) => Err(match refused.hint {
            Some(hint) => format!("{}\n  {hint}", refused.message),
            None => refused.message,
        }),
    }
}

impl Mcp {
    pub fn run(self, globals: &Globals) -> Result<End, Failure> {
        let hello = Hello {
            tools: self.tools,
            ..globals.hello()
        };
        let bridge = Bridge::new(globals.places()?, hello);
        bridge::run(bridge, io::stdin(), io::stdout())?;
        Ok(End::Good)
    }
}
