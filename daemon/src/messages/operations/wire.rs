//! Conversion of messages to protocol types.

use lore::protocol::messages::{self as wire, Mentioned, Message, PossibleEntity};
use lore::protocol::{Position, RawJson};

use serde_json::Value;

use crate::budget;
use crate::clock::format_time;
use crate::entities::{Mention, MentionSource, PossibleMention};
use crate::events::messages::{Kind, RememberedKind, Sender, Status, ToolUse};
use crate::messages::read::StoredMessage;
use crate::steps::Text;
use crate::store::{Blobs, Error};

/// Implements the conversions between two enums with the same variants.
macro_rules! same {
    ($ours:ident = $theirs:ident { $($name:ident)* }) => {
        impl From<wire::$theirs> for $ours {
            fn from(name: wire::$theirs) -> Self {
                match name { $(wire::$theirs::$name => Self::$name,)* }
            }
        }

        impl From<$ours> for wire::$theirs {
            fn from(name: $ours) -> Self {
                match name { $($ours::$name => Self::$name,)* }
            }
        }
    };
}

same!(Sender = Sender { User Assistant System Tool });
same!(Kind = MessageType { Query Response ToolResult Error });
same!(RememberedKind = RememberedKind { Fact Decision Preference });
same!(Status = ToolStatus { Starting Running Completed Error });
same!(MentionSource = Recognised { Pattern Known Near Reference Json });

/// Converts a mention.
#[must_use]
pub fn mentioned(mention: &Mention) -> Mentioned {
    Mentioned {
        kind: mention.kind.clone(),
        name: mention.name.clone(),
        key: mention.key.clone(),
        how: mention.how.into(),
        score: (mention.score > 0).then(|| f64::from(mention.score) / 100.0),
    }
}

/// Converts an entity that a message may refer to.
#[must_use]
pub fn possible(possible: &PossibleMention) -> PossibleEntity {
    PossibleEntity {
        kind: possible.kind.clone(),
        name: possible.name.clone(),
        key: possible.key.clone(),
        score: f64::from(possible.score) / 100.0,
    }
}

/// Converts a message; content longer than `bytes_max` is truncated.
pub fn message(
    reported: StoredMessage,
    blobs: &Blobs,
    bytes_max: Option<usize>,
) -> Result<Message, Error> {
    let StoredMessage { header, said, body } = reported;
    let mut content = read(body.content, blobs, bytes_max)?;
    let bytes = shorten(&mut content, bytes_max);
    let tool = |one: ToolUse| -> Result<wire::UsedTool, Error> {
        let result = one.result.map(|text: Text| read(text, blobs, bytes_max));
        let result = result.transpose()?;
        Ok(wire::UsedTool {
            name: one.name,
            status: one.status.map(Into::into),
            result: result.and_then(|text| shown_result(text, bytes_max)),
        })
    };
    Ok(Message {
        message: said.id,
        position: header.position,
        sender: said.sender.into(),
        kind: said.kind.into(),
        content,
        bytes,
        tools: body.tools.into_iter().map(tool).collect::<Result<_, _>>()?,
        tokens: said.tokens.into(),
        entities: said.mentions.iter().map(mentioned).collect(),
        possible: said.possible.iter().map(possible).collect(),
        pack: body.pack,
        remembered: said.remembered.map(Into::into),
        evidence: body.evidence.into_iter().map(wire_position).collect(),
        at: format_time(header.happened_at()),
        agent: header.author().to_owned(),
    })
}

/// Reads a text that is truncated to `bytes_max`.
fn read(text: Text, blobs: &Blobs, bytes_max: Option<usize>) -> Result<String, Error> {
    match bytes_max {
        Some(_) => budget::passing(|| text.read(blobs)),
        None => text.read(blobs),
    }
}

const fn wire_position(position: u64) -> Position {
    Position(position)
}

/// Returns a result as it was given: an object or a list is stored as its compact text, on one line.
fn shown_result(mut text: String, bytes_max: Option<usize>) -> Option<RawJson> {
    let is_whole = shorten(&mut text, bytes_max).is_none();
    let may_be_json = is_whole && text.starts_with(['{', '[']) && !text.contains(['\n', '\r']);
    let json = may_be_json.then(|| RawJson::parse(text.clone()).ok());
    // A JSON string is valid JSON.
    json.flatten()
        .or_else(|| RawJson::parse(Value::String(text).to_string()).ok())
}

/// Truncates a text that is too long, at a character boundary, and returns its original length.
fn shorten(text: &mut String, bytes_max: Option<usize>) -> Option<u64> {
    let max = bytes_max.filter(|max| text.len() > *max)?;
    let whole = text.len() as u64;
    text.truncate(text.floor_char_boundary(max));
    Some(whole)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_shown_as_it_was_given() {
        for (stored, shown) in [
            (r#"{"b":1.10,"a":[1e400]}"#, r#"{"b":1.10,"a":[1e400]}"#),
            ("[1,2]", "[1,2]"),
            ("plain \"text\"", r#""plain \"text\"""#),
            ("17", r#""17""#),
            ("{half", r#""{half""#),
            ("{\n}", r#""{\n}""#),
        ] {
            let result = shown_result(stored.to_owned(), Some(100)).unwrap();
            assert_eq!(result.as_str(), shown);
        }
        let long = format!("[{}1]", "1,".repeat(100));
        let cut = shown_result(long, Some(3)).unwrap();
        assert_eq!(cut.as_str(), r#""[1,""#);
    }
}
