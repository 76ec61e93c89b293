//! Parses one line of JSON-RPC: a message for rmcp, or an error for the sender.
//!
//! The envelope is parsed without building a tree. The arguments of a call go as text to the operation,
//! which alone knows their type.

use std::ops::Range;
use std::sync::Arc;

use lore::protocol::{Code, ErrorBody, within_limits};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorCode,
    GetExtensions, JsonObject, RequestId, RequestMetaObject,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::id::{id_in, id_of};
use super::line_error::{LineError, invalid, not_json};
use super::raw_call::RawMcpCall;

/// Maximum size of a message without the arguments of a call, in bytes.
const ENVELOPE_BYTES_MAX: usize = 1 << 20;
/// Maximum size of an id of which only the error answer repeats the digits, in bytes.
const ODD_ID_BYTES_MAX: usize = 256;
/// Arguments of a call that has none.
const NO_ARGUMENTS: &[u8] = b"{}";

/// A message without an effect and without an answer.
const NOTHING_ASKED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The parse result of a line.
#[derive(Debug)]
pub enum Message {
    /// A message for rmcp; the raw arguments of a call are in its extensions, as an `Arc` of [`RawMcpCall`].
    Forward(Box<ClientJsonRpcMessage>),
    /// A blank line, or a response without a request.
    Nothing,
}

/// Deserializes any present value, also `null`, as its text.
fn raw<'de, D: Deserializer<'de>>(input: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(input).map(Some)
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "raw")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow, default, deserialize_with = "raw")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "raw", rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// Reads a line.
///
/// # Errors
/// [`LineError`], for the sender.
pub fn read(mut line: Vec<u8>) -> Result<Message, LineError> {
    match parse(&line)? {
        ParsedLine::Nothing => Ok(Message::Nothing),
        ParsedLine::Other(message) => Ok(Message::Forward(message)),
        ParsedLine::Call(mut request, id, arguments) => {
            let arguments = match arguments {
                // Reuses the line's buffer, so large arguments are not copied.
                Some(Range { start, end }) => {
                    line.truncate(end);
                    line.drain(..start);
                    line
                }
                None => NO_ARGUMENTS.to_vec(),
            };
            let raw_call = Arc::new(RawMcpCall::new(arguments));
            request.extensions_mut().insert(raw_call);
            let request = ClientRequest::CallToolRequest(*request);
            Ok(Message::Forward(Box::new(ClientJsonRpcMessage::request(
                request, id,
            ))))
        }
    }
}

/// Checks that a line could be read.
///
/// # Errors
/// [`LineError`], for the sender.
pub fn check(line: &[u8]) -> Result<(), LineError> {
    parse(line).map(drop)
}

/// Takes the arguments out of a call, in a body that rmcp reads by itself. Those of a tool that `stay` names are copied:
/// rmcp compares them with the headers of the request. A message that is never answered, which rmcp would refuse, is
/// replaced by a notification.
///
/// # Errors
/// [`LineError`], for the sender.
pub fn unload(
    body: &mut Vec<u8>,
    stay: impl Fn(&str) -> bool,
) -> Result<Option<RawMcpCall>, LineError> {
    let arguments = match parse(body)? {
        ParsedLine::Other(_) => return Ok(None),
        ParsedLine::Nothing => {
            *body = NOTHING_ASKED.to_vec();
            return Ok(None);
        }
        ParsedLine::Call(_, _, None) => NO_ARGUMENTS.to_vec(),
        ParsedLine::Call(call, _, Some(range)) if stay(&call.params.name) => {
            body.get(range).unwrap_or_default().to_vec()
        }
        ParsedLine::Call(_, _, Some(Range { start, end })) => {
            let rest = body.split_off(end);
            let arguments = body.split_off(start);
            body.extend(NO_ARGUMENTS);
            body.extend(rest);
            arguments
        }
    };
    Ok(Some(RawMcpCall::new(arguments)))
}

enum ParsedLine {
    /// A call, with the range of its arguments in the line, if it has any.
    Call(Box<CallToolRequest>, RequestId, Option<Range<usize>>),
    Other(Box<ClientJsonRpcMessage>),
    Nothing,
}

fn parse(line: &[u8]) -> Result<ParsedLine, LineError> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(ParsedLine::Nothing);
    }
    let text = std::str::from_utf8(line)
        .map_err(|error| not_json(line, format!("the line is not UTF-8: {error}")))?;
    // Only an object is a valid envelope; serde would read an array as its fields in order.
    let is_object = text.trim_start().starts_with('{');
    let envelope: Envelope<'_> = if is_object {
        serde_json::from_str(text).map_err(|error| unread(line, &error))?
    } else {
        return Err(no_object(text));
    };
    // Answering an answer could go on for ever between two peers.
    let is_answer = envelope.result.is_some() || envelope.error.is_some();
    if is_answer && envelope.method.is_none() {
        tracing::debug!("an answer to nothing that was asked");
        return Ok(ParsedLine::Nothing);
    }
    // Notifications are never answered. Some clients give them an `id` of null.
    let is_named_so = |method: &RawValue| method.get().starts_with("\"notifications/");
    let is_notification = match (envelope.id, envelope.method) {
        (None, method) => method.is_some(),
        (Some(id), method) => id.get() == "null" && method.is_some_and(is_named_so),
    };
    match message(text, &envelope, is_answer) {
        Err(fault) if is_notification => {
            tracing::debug!(error = fault.body.message, "a notification does not fit");
            Ok(ParsedLine::Nothing)
        }
        parsed => parsed,
    }
}

/// Parses a request or a notification.
fn message(text: &str, envelope: &Envelope<'_>, is_answer: bool) -> Result<ParsedLine, LineError> {
    let id = match envelope.id.map(|id| (id_of(id.get()), id.get())) {
        None => None,
        Some((Some(id), _)) => Some(id),
        Some((None, written)) => {
            let is_whole = |id: &&str| id.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            let message = "an `id` is a text of at most 1024 bytes, or a whole number of 64 bits";
            return Err(LineError {
                odd_id: Some(written)
                    .filter(is_whole)
                    .filter(|id| id.len() <= ODD_ID_BYTES_MAX)
                    .map(str::to_owned),
                ..invalid(None, message)
            });
        }
    };
    if envelope
        .jsonrpc
        .is_none_or(|version| version.get() != "\"2.0\"")
    {
        return Err(invalid(id, "a message has `\"jsonrpc\":\"2.0\"`"));
    }
    let method = match (envelope.method, is_answer) {
        (Some(_), true) => {
            return Err(invalid(
                id,
                "a message with a `method` has no `result` and no `error`",
            ));
        }
        (None, _) => return Err(invalid(id, "a message has a `method`")),
        (Some(method), false) => match serde_json::from_str::<String>(method.get()) {
            Ok(method) => method,
            Err(_) => return Err(invalid(id, "a `method` is a text")),
        },
    };
    match (id, method.as_str()) {
        (Some(id), "tools/call") => call(id, text, envelope.params),
        (id, _) => other(id, text),
    }
}

fn call(id: RequestId, line: &str, params: Option<&RawValue>) -> Result<ParsedLine, LineError> {
    let fault = |message: String| LineError {
        id: Some(id.clone()),
        odd_id: None,
        code: ErrorCode::INVALID_PARAMS,
        body: ErrorBody::new(Code::InvalidInput, message),
    };
    let params: CallParams<'_> = match params {
        Some(params) if params.get().starts_with('{') => serde_json::from_str(params.get())
            .map_err(|error| fault(format!("the params of `tools/call` do not fit: {error}")))?,
        Some(_) | None => return Err(fault("`tools/call` needs params with a `name`".to_owned())),
    };
    let arguments = match params.arguments.map(RawValue::get) {
        None | Some("null") => None,
        Some(arguments) => Some(arguments),
    };
    if line.len().saturating_sub(arguments.map_or(0, str::len)) > ENVELOPE_BYTES_MAX {
        return Err(too_large(Some(id)));
    }
    within_limits(arguments.unwrap_or_default().as_bytes()).map_err(|body| LineError {
        id: Some(id.clone()),
        odd_id: None,
        code: ErrorCode::INVALID_REQUEST,
        body,
    })?;
    let name: String = match params.name.map(|name| serde_json::from_str(name.get())) {
        Some(Ok(name)) => name,
        Some(Err(_)) => return Err(fault("the `name` of a tool is a text".to_owned())),
        None => return Err(fault("the params of `tools/call` lack a `name`".to_owned())),
    };
    let meta = params.meta.map_or("null", RawValue::get);
    within_limits(meta.as_bytes()).map_err(|body| fault(body.message))?;
    let meta: Option<JsonObject> =
        serde_json::from_str(meta).map_err(|_| fault("`_meta` is an object".to_owned()))?;
    let mut request = CallToolRequest::new(CallToolRequestParams::new(name));
    if let Some(meta) = meta {
        request
            .extensions_mut()
            .insert(RequestMetaObject::from(meta));
    }
    let range = arguments.map(|arguments| {
        let start = arguments.as_ptr() as usize - line.as_ptr() as usize;
        start..start + arguments.len()
    });
    Ok(ParsedLine::Call(Box::new(request), id, range))
}

fn other(id: Option<RequestId>, line: &str) -> Result<ParsedLine, LineError> {
    if line.len() > ENVELOPE_BYTES_MAX {
        return Err(too_large(id));
    }
    if let Err(body) = within_limits(line.as_bytes()) {
        return Err(LineError {
            id,
            odd_id: None,
            code: ErrorCode::INVALID_REQUEST,
            body,
        });
    }
    // Parses to a `Value` first: rmcp's types buffer their input, and numbers survive that only as values.
    serde_json::from_str::<serde_json::Value>(line)
        .and_then(serde_json::from_value)
        .map(|message| ParsedLine::Other(Box::new(message)))
        .map_err(|error| invalid(id, &format!("the message does not fit: {error}")))
}

fn unread(line: &[u8], error: &serde_json::Error) -> LineError {
    if error.is_syntax() || error.is_eof() {
        not_json(line, format!("the line is not JSON: {error}"))
    } else {
        let message = format!("the message does not fit: {error}");
        invalid(id_in(line), &message)
    }
}

fn no_object(text: &str) -> LineError {
    match serde_json::from_str::<IgnoredAny>(text) {
        Err(error) => unread(text.as_bytes(), &error),
        Ok(_) if text.trim_start().starts_with('[') => invalid(
            None,
            "batches are not taken: send each message on a line of its own",
        ),
        Ok(_) => invalid(None, "a message is a JSON object"),
    }
}

fn too_large(id: Option<RequestId>) -> LineError {
    let message =
        format!("besides the arguments of a call a message has at most {ENVELOPE_BYTES_MAX} bytes");
    LineError {
        id,
        odd_id: None,
        code: ErrorCode::INVALID_REQUEST,
        body: ErrorBody::new(Code::FrameTooLarge, message),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn fault(line: &str) -> (Option<String>, i32, String) {
        let fault = read(line.as_bytes().to_vec()).unwrap_err();
        let id = fault.id.map(|id| id.to_string());
        (id, fault.code.0, fault.body.message)
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said_with_its_id() {
        let id = Some("7".to_owned());
        for (line, wanted_id, code, said) in [
            ("{\"id\":7,", &id, -32700, "not JSON"),
            ("nonsense", &None, -32700, "not JSON"),
            ("[1", &None, -32700, "not JSON"),
            ("[{\"id\":7}]", &None, -32600, "batches"),
            ("7", &None, -32600, "JSON object"),
            ("{\"id\":7}", &id, -32600, "jsonrpc"),
            ("{\"jsonrpc\":\"2.0\",\"id\":7}", &id, -32600, "`method`"),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"id\":7}",
                &id,
                -32600,
                "duplicate",
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":1}",
                &id,
                -32600,
                "is a text",
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
                &None,
                -32600,
                "`id`",
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
                &None,
                -32600,
                "`id`",
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"result\":{}}",
                &id,
                -32600,
                "no `result`",
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\"}",
                &id,
                -32602,
                "`name`",
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":1}}",
                &id,
                -32602,
                "is a text",
            ),
        ] {
            let (found_id, found_code, message) = fault(line);
            assert_eq!(
                (&found_id, found_code),
                (wanted_id, code),
                "{line}: {message}"
            );
            assert!(message.contains(said), "{line}: {message}");
        }
    }

    /// An id that no request may have is in its error all the same.
    #[test]
    fn a_number_over_64_bits_comes_back() {
        for id in [
            "18446744073709551616",
            "9223372036854775808",
            "-9223372036854775809",
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let fault = read(line.into_bytes()).unwrap_err();
            let json = String::from_utf8(fault.to_json().unwrap()).unwrap();
            assert!(
                json.contains(&format!(r#""id":{id},"error":{{"code":-32600"#)),
                "{json}"
            );
        }
    }

    #[test]
    fn too_deep_and_too_large_are_refused_before_anything_is_built() {
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        for line in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"x","params":{deep}}}"#),
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"n","arguments":{deep}}}}}"#
            ),
        ] {
            let (id, code, message) = fault(&line);
            assert_eq!((id.as_deref(), code), (Some("7"), -32600));
            assert!(message.contains("nested deeper"), "{message}");
        }
        let large = "x".repeat(ENVELOPE_BYTES_MAX);
        let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":"{large}"}}}}"#);
        assert!(fault(&line).2.contains("besides the arguments"));
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"n","arguments":{{"a":"{large}"}}}}}}"#
        );
        assert!(matches!(
            read(line.as_bytes().to_vec()),
            Ok(Message::Forward(_))
        ));
    }

    /// The envelope is complete without the arguments, and the arguments are unchanged.
    #[test]
    fn arguments_are_taken_out_of_a_body() {
        let arguments = r#"{ "a":1.10,"b":[1E400,"é"] }"#;
        let body = |arguments: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"\u0061rguments":{arguments},"name":"n"}},"id":1}}"#
            )
        };
        let none_stay = |_: &str| false;
        let mut unloaded = body(arguments).into_bytes();
        let raw_call = unload(&mut unloaded, none_stay).unwrap().unwrap();
        assert_eq!(unloaded, body("{}").as_bytes());
        assert_eq!(raw_call.take_arguments().unwrap(), arguments.as_bytes());
        let mut whole = body(arguments).into_bytes();
        let raw_call = unload(&mut whole, |name| name == "n").unwrap().unwrap();
        assert_eq!(whole, body(arguments).as_bytes());
        assert_eq!(raw_call.take_arguments().unwrap(), arguments.as_bytes());
        let mut none = body("null").into_bytes();
        let raw_call = unload(&mut none, none_stay).unwrap().unwrap();
        assert_eq!(none, body("null").as_bytes());
        assert_eq!(raw_call.take_arguments().unwrap(), b"{}");
        let mut ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec();
        assert!(unload(&mut ping, none_stay).unwrap().is_none());
        assert!(unload(&mut b"{".to_vec(), none_stay).is_err());
        let mut answer = br#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#.to_vec();
        assert!(unload(&mut answer, none_stay).unwrap().is_none());
        assert_eq!(answer, NOTHING_ASKED);
    }

    #[test]
    fn blank_lines_and_stray_answers_are_nothing() {
        for line in [
            "",
            " \t\r",
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"m"}}"#,
            r#"{"id":{},"error":1}"#,
            // Notifications are never answered, whatever they hold.
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":98765432109876543210}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"notifications/cancelled","params":{"requestId":1}}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":[]}"#,
            r#"{"method":"x"}"#,
        ] {
            assert!(
                matches!(read(line.as_bytes().to_vec()), Ok(Message::Nothing)),
                "{line}"
            );
        }
    }
}
