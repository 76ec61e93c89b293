//! What a call carries past rmcp as text: its arguments on the way in, its reply on the way out.
//!
//! rmcp would make trees of both. The operation alone knows what its arguments are, and its reply
//! is JSON already; so rmcp gets a call without arguments and gives a result without content, and
//! both are megabytes lighter.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;

use crate::api::limits::MemoryPermit;

/// The parcel of one call.
#[derive(Debug, Default)]
pub struct Parcel {
    arguments: Mutex<Option<Vec<u8>>>,
    content: Mutex<Option<Content>>,
    /// Of the whole request, where nothing else that lives as long as the call counts them.
    bytes: usize,
    _paid: MemoryPermit,
}

/// A reply as the content of a tool's result.
#[derive(Debug)]
pub struct Content {
    /// The reply.
    pub json: Box<RawValue>,
    /// The name that it gets in structured content, if that may not be the reply itself.
    pub wrapped_as: Option<&'static str>,
    /// The text to read that stands beside structured content; otherwise it is the reply itself.
    pub readable: Option<String>,
}

impl Parcel {
    /// Of a call with these arguments, which are JSON.
    #[must_use]
    pub fn new(arguments: Vec<u8>) -> Self {
        Self {
            arguments: Mutex::new(Some(arguments)),
            ..Self::default()
        }
    }

    /// The same of a request of so many bytes, with what it has paid for them. That is given back with the
    /// parcel: when the call has ended, even if its caller is long gone.
    #[must_use]
    pub fn memory_permit(self, bytes: usize, memory_permit: MemoryPermit) -> Self {
        Self {
            bytes,
            _paid: memory_permit,
            ..self
        }
    }

    /// Bytes of the request; 0 where others count them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The arguments, once.
    pub fn take_arguments(&self) -> Option<Vec<u8>> {
        let mut arguments = self
            .arguments
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        arguments.take()
    }

    /// Leaves the reply for [`Parcel::complete`].
    pub fn leave(&self, content: Content) {
        *self.content.lock().unwrap_or_else(PoisonError::into_inner) = Some(content);
    }

    /// rmcp's answer, with the reply in it if one was left.
    #[must_use]
    pub fn complete(&self, answer: Vec<u8>) -> Vec<u8> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        match content.take().and_then(|content| content.put_into(&answer)) {
            Some(whole) => whole,
            None => answer,
        }
    }
}

/// Where rmcp puts the content of a result without any. In a text, its quotes would be escaped.
const NO_CONTENT: &[u8] = br#""content":[]"#;

impl Content {
    /// The response with this as its content; `None` when it is not a result without content.
    fn put_into(&self, answer: &[u8]) -> Option<Vec<u8>> {
        let at = memchr::memmem::find(answer, NO_CONTENT)?;
        let (before, rest) = answer.split_at_checked(at)?;
        let after = rest.get(NO_CONTENT.len()..)?;
        let json = self.json.get();
        let text = self.readable.as_deref().unwrap_or(json);
        // Once as it is, once with its quotes escaped.
        let mut whole = Vec::with_capacity(answer.len() + json.len() * 9 / 4 + 64);
        whole.extend(before);
        whole.extend(br#""content":[{"type":"text","text":"#);
        serde_json::to_writer(&mut whole, text).ok()?;
        whole.extend(br#"}],"structuredContent":"#);
        match self.wrapped_as {
            None => whole.extend(json.bytes()),
            Some(name) => {
                let wrapped = HashMap::from([(name, &self.json)]);
                serde_json::to_writer(&mut whole, &wrapped).ok()?;
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
        let raw_call = Parcel::default();
        raw_call.leave(Content {
            json: RawValue::from_string(json.to_owned()).unwrap(),
            wrapped_as,
            readable: None,
        });
        String::from_utf8(raw_call.complete(answer.as_bytes().to_vec())).unwrap()
    }

    /// The reply stands in the answer as text and as it is, each digit kept, where rmcp would have
    /// put them.
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

    /// A text to read takes the place of the JSON as text; structured content is the reply all the same.
    #[test]
    fn a_text_to_read_stands_beside_the_reply() {
        let raw_call = Parcel::default();
        raw_call.leave(Content {
            json: RawValue::from_string(r#"{"n":1}"#.to_owned()).unwrap(),
            wrapped_as: None,
            readable: Some("one \"n\"".to_owned()),
        });
        let whole = String::from_utf8(raw_call.complete(EMPTY.as_bytes().to_vec())).unwrap();
        assert!(
            whole.contains(r#""text":"one \"n\""}],"structuredContent":{"n":1}"#),
            "{whole}"
        );
    }

    /// Answers without a result stay as they are, and so do those to which no reply was left.
    #[test]
    fn other_answers_stay() {
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}"#;
        assert_eq!(completed(error, "{}", None), error);
        let raw_call = Parcel::new(b"{}".to_vec());
        assert_eq!(raw_call.complete(EMPTY.into()), EMPTY.as_bytes());
        assert_eq!(raw_call.take_arguments().unwrap(), b"{}");
        assert_eq!(raw_call.take_arguments(), None);
    }
}
