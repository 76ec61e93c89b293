//! `lore mcp`: the stdio bridge, which an agent's host starts.

use std::io;

use lore::bridge::{self, Bridge};

use super::{End, Failure, Globals};

pub fn run(globals: Globals) -> Result<End, Failure> {
    let bridge = Bridge::new(globals.places()?, globals.hello());
    bridge::run(bridge, io::stdin(), io::stdout())?;
    Ok(End::Good)
}
