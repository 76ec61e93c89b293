//! The encoding of replies.

use std::io;

use lore::protocol::CommonReply;
use lore::protocol::frame::FRAME_BYTES_MAX;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Answer, Op, Reply};
use crate::budget::{self, CallBudget};
use crate::error::{Code, Refusal};
use crate::hint::{arg, hint};

/// Replies of calls that hold more than this are counted before they are encoded, in bytes: a text that grows as it is
/// written takes up to three times its size.
const COUNTED_BYTES_MIN: usize = 8 << 20;

/// Encodes a reply, within the memory of the call. Its text and what the text does not show are only made for those who
/// read it.
///
/// # Errors
/// `RESPONSE_TOO_LARGE` and the refusals of the call's budget; `INTERNAL` when the reply does not encode.
pub(super) fn encode<O: Op>(
    reply: &O::Reply,
    mut warnings: Vec<String>,
    reads_text: bool,
) -> Answer {
    let memory = budget::current();
    let json = match &memory {
        Some(memory) if memory.used() > COUNTED_BYTES_MIN => encode_counted(reply, memory)?,
        Some(_) | None => {
            let json = serde_json::value::to_raw_value(reply).map_err(unencodable)?;
            if let Some(memory) = &memory {
                memory.reserve(json.get().len())?;
            }
            json
        }
    };
    let meta = reply.meta();
    if !reads_text {
        return Ok(Reply {
            json,
            meta,
            readable: None,
            unshown_warnings: Vec::new(),
            memory,
        });
    }
    let readable = O::readable(reply);
    let of_meta = meta.iter().flat_map(|meta| meta.warnings.iter().cloned());
    let new: Vec<String> = of_meta.filter(|one| !warnings.contains(one)).collect();
    warnings.extend(new);
    warnings.retain(|warning| match &readable {
        Some(text) => !text.contains(warning.as_str()),
        None => {
            let quoted = Value::from(warning.as_str()).to_string();
            !json.get().contains(&quoted)
        }
    });
    Ok(Reply {
        json,
        meta,
        readable,
        unshown_warnings: warnings,
        memory,
    })
}

/// Encodes a large reply after its size is known and reserved.
fn encode_counted<T: Serialize>(reply: &T, memory: &CallBudget) -> Result<Box<RawValue>, Refusal> {
    let mut size = ByteCounter(0);
    serde_json::to_writer(&mut size, reply).map_err(unencodable)?;
    if size.0 > FRAME_BYTES_MAX {
        return Err(reply_too_large(size.0, FRAME_BYTES_MAX));
    }
    memory.reserve(size.0)?;
    let mut json = Vec::with_capacity(size.0);
    serde_json::to_writer(&mut json, reply).map_err(unencodable)?;
    let json = String::from_utf8(json).map_err(unencodable)?;
    RawValue::from_string(json).map_err(unencodable)
}

/// Counts what is written, and keeps nothing.
struct ByteCounter(usize);

impl io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unencodable(error: impl std::fmt::Display) -> Refusal {
    Refusal::new(
        Code::Internal,
        format!("the reply does not encode: {error}"),
    )
}

/// Returns the refusal of a reply of `bytes` where only `bytes_max` are possible.
#[must_use]
pub fn reply_too_large(bytes: usize, bytes_max: usize) -> Refusal {
    Refusal::new(
        Code::ResponseTooLarge,
        format!(
            "the reply has {bytes} bytes; at most {bytes_max} are possible, with what is around it"
        ),
    )
    .hint(hint![
        "Ask for less: one value of a step by its name, or a part of the text.";
        "A smaller ", arg("limit"), " helps too."
    ])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::budget::SharedBudget;

    /// A counted reply is the same text, and its size is reserved before it is written.
    #[test]
    fn counted_replies_are_as_others() {
        let reply = serde_json::json!({"a": ["\u{e9}\n\"", 1.5, null], "b": {"c": true}});
        let text = serde_json::value::to_raw_value(&reply).unwrap();
        let of = |bytes_max: usize| {
            let budget = CallBudget::new(&SharedBudget::of_daemon(1 << 30, bytes_max), usize::MAX);
            encode_counted(&reply, &budget)
        };
        let bytes = text.get().len();
        assert_eq!(of(bytes).unwrap().get(), text.get());
        assert_eq!(of(bytes - 1).unwrap_err().code, Code::ResponseTooLarge);
    }
}
