//! The parts of a call that bypass rmcp as text: its arguments and its reply.
//!
//! rmcp would build trees of both. Only the operation knows the type of its arguments, and its reply is JSON
//! already. So rmcp gets a call without arguments and returns a result without content, which saves megabytes.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::value::RawValue;

use crate::api::limits::MemoryPermit;
use crate::budget::CallBudget;
use crate::locks::lock_unpoisoned;

/// The raw arguments and the raw reply of one call.
#[derive(Debug, Default)]
pub struct RawMcpCall {
    arguments: Mutex<Option<Vec<u8>>>,
    content: Mutex<Option<Content>>,
    /// Size of the whole request, when nothing else counts it for the lifetime of the call.
    bytes: usize,
    _permit: MemoryPermit,
}

/// A reply as the content of a tool's result.
#[derive(Debug)]
pub struct Content {
    /// The reply.
    pub json: Box<RawValue>,
    /// Property name that wraps the reply in structured content, when the reply is not an object.
    pub wrapped_as: Option<&'static str>,
    /// Readable text next to the structured content; the default is the reply itself.
    pub readable: Option<String>,
    /// Warnings that the text does not show; a model sees them as a second text.
    pub warnings: Vec<String>,
    /// Whether the result has structured content.
    pub is_structured: bool,
    /// The memory of the call, reserved until the reply is written.
    pub memory: Option<CallBudget>,
}

impl RawMcpCall {
    /// Creates a call with these arguments, which are JSON.
    #[must_use]
    pub fn new(arguments: Vec<u8>) -> Self {
        Self {
            arguments: Mutex::new(Some(arguments)),
            ..Self::default()
        }
    }

    /// Adds the request's size and its memory permit. The permit is released when the call ends, even if
    /// its caller has disconnected.
    #[must_use]
    pub fn memory_permit(self, bytes: usize, memory_permit: MemoryPermit) -> Self {
        Self {
            bytes,
            _permit: memory_permit,
            ..self
        }
    }

    /// Returns the size of the request, in bytes; 0 when it is counted elsewhere.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes the arguments; later calls return `None`.
    pub fn take_arguments(&self) -> Option<Vec<u8>> {
        let mut arguments = lock_unpoisoned(&self.arguments);
        arguments.take()
    }

    /// Stores the reply for [`RawMcpCall::complete`].
    pub fn leave(&self, content: Content) {
        *lock_unpoisoned(&self.content) = Some(content);
    }

    /// Inserts the stored reply, if any, into rmcp's answer. Returns it with the memory that stays reserved until it is
    /// written.
    #[must_use]
    pub fn complete(&self, answer: Vec<u8>) -> (Vec<u8>, Option<CallBudget>) {
        let Some(content) = lock_unpoisoned(&self.content).take() else {
            return (answer, None);
        };
        let whole = content.put_into(&answer).unwrap_or(answer);
        (whole, content.memory)
    }
}

/// The empty content in rmcp's result. Inside a JSON string its quotes would be escaped.
const NO_CONTENT: &[u8] = br#""content":[]"#;

impl Content {
    /// Inserts the content into a response; `None` when the response is not a result without content.
    fn put_into(&self, answer: &[u8]) -> Option<Vec<u8>> {
        let at = memchr::memmem::find(answer, NO_CONTENT)?;
        let (before, rest) = answer.split_at_checked(at)?;
        let after = rest.get(NO_CONTENT.len()..)?;
        let json = self.json.get();
        let text = self.readable.as_deref().unwrap_or(json);
        // Space for the reply once unchanged and once with escaped quotes.
        let mut whole = Vec::with_capacity(answer.len() + json.len() * 9 / 4 + 64);
        whole.extend(before);
        whole.extend(br#""content":[{"type":"text","text":"#);
        serde_json::to_writer(&mut whole, text).ok()?;
        whole.push(b'}');
        if !self.warnings.is_empty() {
            let lines = self.warnings.iter().map(|one| format!("Warning: {one}"));
            whole.extend(br#",{"type":"text","text":"#);
            serde_json::to_writer(&mut whole, &lines.collect::<Vec<_>>().join("\n")).ok()?;
            whole.push(b'}');
        }
        whole.push(b']');
        if self.is_structured {
            whole.extend(br#","structuredContent":"#);
            match self.wrapped_as {
                None => whole.extend(json.bytes()),
                Some(name) => {
                    let wrapped = HashMap::from([(name, &self.json)]);
                    serde_json::to_writer(&mut whole, &wrapped).ok()?;
                }
            }
        }
        whole.extend(after);
        Some(whole)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const EMPTY: &str = r#"{"jsonrpc":"2.0","id":"a\n","result":{"resultType":"complete","content":[],"isError":false,"_meta":{"position":7}}}"#;

    fn completed(answer: &str, json: &str, wrapped_as: Option<&'static str>) -> String {
        let raw_call = RawMcpCall::default();
        raw_call.leave(Content {
            json: RawValue::from_string(json.to_owned()).unwrap(),
            wrapped_as,
            readable: None,
            warnings: Vec::new(),
            is_structured: true,
            memory: None,
        });
        String::from_utf8(raw_call.complete(answer.as_bytes().to_vec()).0).unwrap()
    }

    /// The answer contains the reply as text and as JSON, with all digits, where rmcp would put them.
    #[test]
    fn a_reply_is_put_in_as_it_is() {
        let wanted = |structured: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":"a\n","result":{{"resultType":"complete","content":[{{"type":"text","text":"[{{\"n\":1.10}},1E400]"}}],"structuredContent":{structured},"isError":false,"_meta":{{"position":7}}}}}}"#
            )
        };
        let json = r#"[{"n":1.10},1E400]"#;
        assert_eq!(completed(EMPTY, json, None), wanted(json));
        let wrapped = r#"{"list":[{"n":1.10},1E400]}"#;
        assert_eq!(completed(EMPTY, json, Some("list")), wanted(wrapped));
    }

    /// A readable text replaces the JSON text; structured content is still the reply. Warnings are a text of their own.
    #[test]
    fn a_text_to_read_stands_beside_the_reply() {
        let raw_call = RawMcpCall::default();
        raw_call.leave(Content {
            json: RawValue::from_string(r#"{"n":1}"#.to_owned()).unwrap(),
            wrapped_as: None,
            readable: Some("one \"n\"".to_owned()),
            warnings: vec!["a".to_owned(), "b \"c\"".to_owned()],
            is_structured: true,
            memory: None,
        });
        let whole = String::from_utf8(raw_call.complete(EMPTY.as_bytes().to_vec()).0).unwrap();
        assert!(
            whole.contains(
                r#""text":"one \"n\""},{"type":"text","text":"Warning: a\nWarning: b \"c\""}],"structuredContent":{"n":1}"#
            ),
            "{whole}"
        );
    }

    /// Without structured content the answer holds the reply once.
    #[test]
    fn a_text_can_stand_alone() {
        let raw_call = RawMcpCall::default();
        raw_call.leave(Content {
            json: RawValue::from_string(r#"{"n":1}"#.to_owned()).unwrap(),
            wrapped_as: None,
            readable: None,
            warnings: Vec::new(),
            is_structured: false,
            memory: None,
        });
        let whole = String::from_utf8(raw_call.complete(EMPTY.as_bytes().to_vec()).0).unwrap();
        let wanted = r#""content":[{"type":"text","text":"{\"n\":1}"}],"isError":false"#;
        assert!(whole.contains(wanted), "{whole}");
    }

    /// Answers without a result, or without a stored reply, stay unchanged.
    #[test]
    fn other_answers_stay() {
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}"#;
        assert_eq!(completed(error, "{}", None), error);
        let raw_call = RawMcpCall::new(b"{}".to_vec());
        assert_eq!(raw_call.complete(EMPTY.into()).0, EMPTY.as_bytes());
        assert_eq!(raw_call.take_arguments().unwrap(), b"{}");
        assert_eq!(raw_call.take_arguments(), None);
    }
}
