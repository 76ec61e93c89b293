//! `lore compact`: disk space of what was removed is given back.

use std::fmt::Write;

use lore::protocol::log::CompactReply;

use super::output::{self, Output, shown};
use super::status::bytes;
use super::{Caller, End, Failure, exchange};

pub fn run(caller: &mut Caller) -> Result<End, Failure> {
    let reply = caller.call("compact", b"{}".to_vec())?;
    match caller.output {
        Output::Json => output::write_json(&reply)?,
        Output::Human => output::write(human(&exchange::read(&reply)?).as_bytes())?,
    }
    Ok(End::Good)
}

fn human(done: &CompactReply) -> String {
    let (before, after) = (bytes(done.bytes_before), bytes(done.bytes_after));
    let mut text = format!("{before} before, {after} now, in {} ms\n", done.took_ms);
    for warning in &done.warnings {
        // Writing into a string does not fail.
        let _ = writeln!(text, "warning: {}", shown(warning, 0));
    }
    text
}
