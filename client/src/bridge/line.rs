//! JSON-RPC lines: bounded reading, and just enough parsing to keep track of them.

use std::borrow::Cow;
use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::agent_name;

/// Bytes of an oversized line that are retained to find its id.
const HEAD_BYTES: usize = 4096;

/// Outcome of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A complete line, including its line feed.
    Whole,
    /// A line over the limit; its beginning is retained and the rest skipped.
    TooLong,
    /// The stream ended; retained bytes have no line feed and are usually empty.
    End,
}

/// Reads one line into `line`, replacing its contents.
pub(super) fn read(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    bytes_max: usize,
) -> io::Result<Read> {
    line.clear();
    let mut too_long = false;
    loop {
        let chunk = match input.fill_buf() {
            Ok([]) => return Ok(if too_long { Read::TooLong } else { Read::End }),
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |end| end + 1);
        if !too_long {
            line.extend(chunk.iter().take(taken));
            if line.len() > bytes_max {
                too_long = true;
                line.truncate(HEAD_BYTES);
                line.shrink_to_fit();
            }
        }
        input.consume(taken);
        if end.is_some() {
            return Ok(if too_long { Read::TooLong } else { Read::Whole });
        }
    }
}

/// Kind of a line, as far as the bridge needs it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A request, which must be answered.
    Request {
        /// Id as normalised JSON, independent of how it was written.
        id: String,
        /// Requested method.
        method: Method,
    },
    Notification(Method),
    /// A response.
    Answer {
        /// Id of the request.
        id: String,
        /// Whether the response is an error.
        failed: bool,
    },
    /// The grant of the change stream with this id.
    Granted(String),
    /// The regular end of the change stream with this id: its daemon stops.
    StreamEnd(String),
    /// A batch, or not JSON-RPC: the other side decides.
    Other,
}

/// Methods that the bridge treats specially.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Method {
    Initialize,
    Initialized,
    Discover,
    ListTools,
    /// A subscription to a resource, by its URI.
    Subscribe(String),
    Unsubscribe(String),
    /// A change stream, which has no response while it lasts.
    Listen,
    /// The host cancels the request with this id.
    Cancelled(String),
    Any,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Classifies a line.
pub(super) fn message(line: &[u8]) -> Message {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else {
        return Message::Other;
    };
    let id = envelope
        .id
        .map(RawValue::get)
        .filter(|id| *id != "null")
        .map(same_id);
    match (id, envelope.method) {
        (Some(id), Some(name)) => Message::Request {
            id,
            method: method(&name, envelope.params),
        },
        (None, Some(name)) => match envelope.params {
            Some(params) if name == "notifications/subscriptions/acknowledged" => {
                stream_id(params).map_or(Message::Notification(Method::Any), Message::Granted)
            }
            params => Message::Notification(method(&name, params)),
        },
        (Some(id), None) => match envelope.result.and_then(stream_id) {
            Some(id) => Message::StreamEnd(id),
            None => Message::Answer {
                id,
                failed: envelope.error.is_some(),
            },
        },
        (None, None) => Message::Other,
    }
}

/// Returns the id of the change stream that params or a result belong to.
fn stream_id(params: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(rename = "_meta", borrow)]
        meta: Meta<'a>,
    }
    #[derive(Deserialize)]
    struct Meta<'a> {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId", borrow)]
        id: &'a RawValue,
    }
    // Lines without a stream's name are not parsed: replies may be large.
    memchr::memmem::find(
        params.get().as_bytes(),
        b"modelcontextprotocol/subscriptionId",
    )?;
    let params = serde_json::from_str::<Params<'_>>(params.get()).ok()?;
    Some(same_id(params.meta.id.get()))
}

/// Normalises an id to the form that serde_json writes.
fn same_id(id: &str) -> String {
    serde_json::from_str::<serde_json::Value>(id)
        .map_or_else(|_| id.to_owned(), |id| id.to_string())
}

fn method(name: &str, params: Option<&RawValue>) -> Method {
    match name {
        "initialize" => Method::Initialize,
        "notifications/initialized" => Method::Initialized,
        "server/discover" => Method::Discover,
        "tools/list" => Method::ListTools,
        "subscriptions/listen" => Method::Listen,
        "resources/subscribe" => uri(params).map_or(Method::Any, Method::Subscribe),
        "resources/unsubscribe" => uri(params).map_or(Method::Any, Method::Unsubscribe),
        "notifications/cancelled" => cancelled(params).map_or(Method::Any, Method::Cancelled),
        _ => Method::Any,
    }
}

fn uri(params: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct Params {
        uri: String,
    }
    serde_json::from_str::<Params>(params?.get())
        .ok()
        .map(|params| params.uri)
}

fn cancelled(params: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(rename = "requestId", borrow)]
        request_id: &'a RawValue,
    }
    let params = serde_json::from_str::<Params<'_>>(params?.get()).ok()?;
    Some(same_id(params.request_id.get()))
}

/// Returns the host's name as an agent name, from `initialize` or a request's metadata.
/// A name that the daemon would refuse in a Hello is shortened as the daemon does in `initialize`.
pub(super) fn host_name(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Request {
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "clientInfo")]
        client_info: Option<Info>,
        #[serde(rename = "_meta")]
        meta: Option<Meta>,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "io.modelcontextprotocol/clientInfo")]
        client_info: Option<Info>,
    }
    #[derive(Deserialize)]
    struct Info {
        name: String,
    }
    let params = serde_json::from_slice::<Request>(line).ok()?.params;
    let info = params.client_info.or_else(|| params.meta?.client_info)?;
    Some(agent_name(&info.name)).filter(|name| !name.is_empty())
}

/// Finds the id of a message of which only the beginning is available.
pub(super) fn id_in_head(head: &[u8]) -> Option<String> {
    let mut depth = 0_u32;
    let mut rest = head;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let (string, after) = after.split_at(string_end(after)?);
                rest = after.get(1..)?;
                let value = rest.trim_ascii_start().strip_prefix(b":");
                if let Some(value) = value.filter(|_| depth == 1 && string == b"id") {
                    return first_value(value.trim_ascii_start());
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the end of a string, in the text after its opening quote.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let end = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        end
    })
}

fn first_value(text: &[u8]) -> Option<String> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde_json::Value>();
    match values.next()?.ok()? {
        id @ (serde_json::Value::String(_) | serde_json::Value::Number(_)) => Some(id.to_string()),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded() {
        let mut input: &[u8] = b"short\n0123456789abcdef\nlast\npart";
        let mut line = Vec::new();
        let mut next = |line: &mut Vec<u8>| read(&mut input, line, 10).unwrap();
        assert_eq!(
            (next(&mut line), line.as_slice()),
            (Read::Whole, &b"short\n"[..])
        );
        assert_eq!(next(&mut line), Read::TooLong);
        assert!(line.starts_with(b"0123456789"));
        assert_eq!(
            (next(&mut line), line.as_slice()),
            (Read::Whole, &b"last\n"[..])
        );
        assert_eq!(
            (next(&mut line), line.as_slice()),
            (Read::End, &b"part"[..])
        );
    }

    #[test]
    fn messages_are_told_apart() {
        let request = |id: &str, method| Message::Request {
            id: id.into(),
            method,
        };
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
                request("1", Method::ListTools),
            ),
            (
                r#"{"id":"\u0061","method":"initialize"}"#,
                request("\"a\"", Method::Initialize),
            ),
            (
                r#"{"id":2,"method":"resources/subscribe","params":{"uri":"lore://x"}}"#,
                request("2", Method::Subscribe("lore://x".into())),
            ),
            (
                r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#,
                Message::Notification(Method::Cancelled("7".into())),
            ),
            (
                r#"{"id":1,"result":{}}"#,
                Message::Answer {
                    id: "1".into(),
                    failed: false,
                },
            ),
            (
                r#"{"id":1,"error":{}}"#,
                Message::Answer {
                    id: "1".into(),
                    failed: true,
                },
            ),
            (
                r#"{"id":3,"method":"subscriptions/listen","params":{}}"#,
                request("3", Method::Listen),
            ),
            (
                r#"{"method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#,
                Message::Granted("3".into()),
            ),
            (
                r#"{"id":3,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}"#,
                Message::StreamEnd("3".into()),
            ),
            (
                r#"{"id":4,"result":{"text":"io.modelcontextprotocol/subscriptionId"}}"#,
                Message::Answer {
                    id: "4".into(),
                    failed: false,
                },
            ),
            (r#"[{"id":1,"method":"ping"}]"#, Message::Other),
            ("nonsense", Message::Other),
        ];
        for (line, wanted) in cases {
            assert_eq!(message(line.as_bytes()), wanted, "{line}");
        }
    }

    #[test]
    fn an_id_is_found_in_a_beginning() {
        let found = |head: &str| id_in_head(head.as_bytes());
        assert_eq!(
            found(r#"{"jsonrpc":"2.0","id": 7 ,"params":{"te"#).as_deref(),
            Some("7")
        );
        assert_eq!(found(r#"{"id":"a\"b","x"#).as_deref(), Some(r#""a\"b""#));
        assert_eq!(found(r#"{"params":{"id":1,"text":"aaa"#), None);
        assert_eq!(found(r#"{"text":"\"id\":1"#), None);
        assert_eq!(found(r#"{"id":{"#), None);
        assert_eq!(found("\"\\"), None);
    }

    #[test]
    fn hosts_name_themselves_in_both_eras() {
        let old =
            br#"{"method":"initialize","params":{"clientInfo":{"name":"host","version":"1"}}}"#;
        assert_eq!(host_name(old).as_deref(), Some("host"));
        let new = br#"{"params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"h2"}}}}"#;
        assert_eq!(host_name(new).as_deref(), Some("h2"));
        assert_eq!(host_name(br#"{"params":{}}"#), None);
        let long = format!("a\\t{}", "b".repeat(200));
        let long = format!(r#"{{"params":{{"clientInfo":{{"name":"{long}"}}}}}}"#);
        let cut = format!("a{}", "b".repeat(127));
        assert_eq!(host_name(long.as_bytes()), Some(cut));
        assert_eq!(
            host_name(br#"{"params":{"clientInfo":{"name":"\t"}}}"#),
            None
        );
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_lines_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            message(&bytes);
            host_name(&bytes);
            id_in_head(&bytes);
        }

        /// For every prefix of a message, the id is correct or missing.
        #[test]
        fn a_cut_message_gives_its_id_or_none(cut in 0_usize..80, id in "[a-z\"\\\\{}]{0,9}") {
            let whole = serde_json::json!({"a": [{"id": 1}, "\"id\":2"], "id": id, "z": {"id": 3}});
            let text = whole.to_string();
            let head: Vec<u8> = text.bytes().take(cut).collect();
            if let Some(found) = id_in_head(&head) {
                assert_eq!(found, serde_json::Value::from(id).to_string());
            }
            assert!(id_in_head(text.as_bytes()).is_some());
        }
    }
}
