//! Arguments to JSON, and replies from it: what every verb does.

use std::fmt::Display;
use std::io;
use std::str::FromStr;

use lore::protocol::{AsOf, Deserialize, Meta, Reply, Serialize};
use serde_json::{Map, Value};

use super::output::{self, Output, shown, shown_lines};
use super::{Caller, End, Failure};

/// What people are told.
pub struct Told {
    /// On standard output.
    pub out: String,
    /// On standard error: what must not stand in a pipe.
    pub aside: String,
    /// How the command ends.
    pub end: End,
}

impl Told {
    /// It did what it should.
    pub const fn good(out: String) -> Self {
        Self {
            out,
            aside: String::new(),
            end: End::Good,
        }
    }

    /// It found nothing.
    pub const fn nothing(aside: String) -> Self {
        Self {
            out: String::new(),
            aside,
            end: End::Nothing,
        }
    }
}

/// Calls an operation and prints its reply.
pub fn ask<T: for<'de> Deserialize<'de>>(
    caller: &mut Caller,
    name: &str,
    args: &impl Serialize,
    human: impl FnOnce(&T) -> Told,
) -> Result<End, Failure> {
    let reply = caller.reply(name, json(args)?)?;
    let told = human(&read(&reply.json)?);
    tell(caller, reply, told)
}

/// Prints a reply: for programs whole, with what was said beside it; for people as `told`, and the
/// warnings.
pub fn tell(caller: &Caller, reply: Reply, told: Told) -> Result<End, Failure> {
    match caller.output {
        Output::Json => output::write_json(&reply.into_one_text())?,
        Output::Human => {
            output::write(told.out.as_bytes())?;
            lore::err!("{}", told.aside);
            for warning in warnings(&reply)? {
                lore::errln!("lore: {}", shown(&warning, 0));
            }
        }
    }
    Ok(told.end)
}

/// What was said beside a reply.
pub fn meta(reply: &Reply) -> Result<Option<Meta>, Failure> {
    reply.meta.as_deref().map(read).transpose()
}

/// What the caller should know, wherever a reply says it.
fn warnings(reply: &Reply) -> Result<Vec<String>, Failure> {
    #[derive(Default, Deserialize)]
    struct Warned {
        #[serde(default)]
        warnings: Vec<String>,
    }
    let mut all = match reply.json.trim_ascii_start().first() {
        Some(b'{') => read::<Warned>(&reply.json)?.warnings,
        // A list says it beside itself.
        Some(_) | None => Vec::new(),
    };
    all.extend(meta(reply)?.into_iter().flat_map(|meta| meta.warnings));
    Ok(all)
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

/// An id from the command line.
pub fn id<T: FromStr<Err: Display>>(text: &str) -> Result<T, Failure> {
    text.parse()
        .map_err(|error: T::Err| Failure::Usage(shown_lines(&error.to_string())))
}

/// A small JSON object that stands on the command line behind `flag`.
pub fn object(flag: &str, text: Option<&str>) -> Result<Option<Map<String, Value>>, Failure> {
    text.map(serde_json::from_str)
        .transpose()
        .map_err(|error| Failure::Usage(format!("{flag} is no JSON object: {error}")))
}

/// What stands behind `--as-of`.
pub fn moment(as_of: Option<&str>) -> Result<Option<AsOf>, Failure> {
    moment_of("--as-of", as_of)
}

/// A position or time that stands behind `flag`.
pub fn moment_of(flag: &str, text: Option<&str>) -> Result<Option<AsOf>, Failure> {
    text.map(str::parse)
        .transpose()
        .map_err(|error| Failure::Usage(format!("{flag}: {error}")))
}

/// Bytes as the text they should be; `what` names them when they are none.
pub fn utf8(what: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|_| {
        Failure::Usage(format!(
            "{what} is not UTF-8; encode it, as Base64 for instance"
        ))
    })
}
