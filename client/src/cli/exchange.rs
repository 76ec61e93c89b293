//! Arguments to JSON, and replies from it.

use std::io;

use lore::protocol::{AsOf, Deserialize, Serialize};
use serde_json::{Map, Value};

use super::output::{self, Output};
use super::{Caller, End, Failure};

/// Prints a reply: for programs as it is, for people as `human` says.
pub fn answer<T: for<'de> Deserialize<'de>>(
    caller: &Caller,
    reply: &[u8],
    human: impl FnOnce(&T) -> (String, End),
) -> Result<End, Failure> {
    let (text, end) = human(&read(reply)?);
    match caller.output {
        Output::Json => output::write_json(reply)?,
        Output::Human => output::write(text.as_bytes())?,
    }
    Ok(end)
}

/// Reads a reply of the daemon.
pub fn read<T: for<'de> Deserialize<'de>>(reply: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(reply).map_err(|error| {
        let said = format!("the daemon's reply cannot be read ({error}): use a lore and a lored of the same release");
        Failure::Io(io::Error::other(said))
    })
}

/// Arguments as JSON.
pub fn json(args: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(args).map_err(|error| Failure::Usage(error.to_string()))
}

/// A small JSON object that stands on the command line behind `flag`.
pub fn object(flag: &str, text: Option<&str>) -> Result<Option<Map<String, Value>>, Failure> {
    text.map(serde_json::from_str)
        .transpose()
        .map_err(|error| Failure::Usage(format!("{flag} is no JSON object: {error}")))
}

/// What stands behind `--as-of`.
pub fn moment(as_of: Option<&str>) -> Result<Option<AsOf>, Failure> {
    as_of
        .map(str::parse)
        .transpose()
        .map_err(|error| Failure::Usage(format!("--as-of: {error}")))
}

/// Bytes as the text they should be; `what` names them when they are none.
pub fn utf8(what: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| {
        Failure::Usage(format!(
            "{what} is not UTF-8; encode it, as Base64 for instance"
        ))
    })
}
