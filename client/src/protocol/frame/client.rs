//! Frames from a client: its Hello, calls and cancels.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use super::super::cbor::{self, Reader};
use super::super::{Args, PROTOCOL_VERSION, nearest};
use super::{FrameError, framed, framed_around};

/// The first frame of a connection, which identifies the caller.
///
/// ```
/// use lore::protocol::frame::{Hello, encode_hello};
///
/// let hello = Hello { client: "notes/1".to_owned(), ..Hello::default() };
/// let mut frame = Vec::new();
/// encode_hello(&mut frame, &hello);
/// // Four bytes of length, big end first, then CBOR.
/// assert_eq!(frame.len() - 4, usize::from(frame[3]));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hello {
    /// Name and version of the client program, for example `lore/0.1.0`.
    pub client: String,
    /// The calling agent; a label, not an authenticated identity.
    pub agent: Option<String>,
    /// The client's working directory.
    pub cwd: Option<String>,
    /// Default session of its calls.
    pub session: Option<String>,
    /// The host session that it belongs to, as `KIND:ID`: see [`host_session`](crate::host_session).
    pub host_session: Option<String>,
    /// Whether the rest of the connection is MCP as JSON lines.
    pub mcp: bool,
    /// Random id of a bridge, stable across reconnects.
    pub bridge: Option<String>,
    /// Tools to list over MCP: names of [`Toolset`](crate::protocol::Toolset), separated by commas;
    /// default: `core`.
    pub tools: Option<String>,
}

/// A frame from a client.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientFrame {
    /// The first frame; allowed only there.
    Hello(Hello),
    /// Calls an operation.
    Call {
        /// Call id, chosen by the client and repeated in the answer.
        id: u64,
        /// Name of the operation.
        name: String,
        /// Its arguments.
        args: Args,
    },
    /// Cancels a call that is not answered yet.
    Cancel {
        /// Id of the call.
        id: u64,
    },
}

const HELLO_FIELDS: [&str; 9] = [
    "version",
    "client",
    "agent",
    "cwd",
    "session",
    "host_session",
    "then",
    "bridge",
    "tools",
];
const CALL_FIELDS: [&str; 4] = ["id", "name", "args", "cancel"];

/// Decodes the first frame of a connection.
///
/// # Errors
/// When it is not a Hello, or has another protocol version.
pub fn decode_hello(body: &[u8]) -> Result<Hello, FrameError> {
    let mut reader = Reader::new(body);
    let mut hello = Hello::default();
    let (mut version, mut client, mut unknown) = (None, None, None);
    let mut seen = SeenFields::default();
    for _ in 0..reader.map()? {
        match seen.field(reader.text()?.ok_or(FrameError::NotAMap)?, &HELLO_FIELDS)? {
            Ok("version") => version = Some(unsigned(&mut reader, "version")?),
            Ok("client") => client = Some(text(&mut reader, "client")?),
            Ok("agent") => hello.agent = Some(text(&mut reader, "agent")?),
            Ok("cwd") => hello.cwd = Some(text(&mut reader, "cwd")?),
            Ok("session") => hello.session = Some(text(&mut reader, "session")?),
            Ok("host_session") => {
                hello.host_session = Some(text(&mut reader, "host_session")?);
            }
            Ok("bridge") => hello.bridge = Some(text(&mut reader, "bridge")?),
            Ok("tools") => hello.tools = Some(text(&mut reader, "tools")?),
            Ok(_) => hello.mcp = mcp(&mut reader)?,
            Err(error) => {
                unknown = unknown.or(Some(error));
                reader.skip(super::ENVELOPE_DEPTH_MAX)?;
            }
        }
    }
    end(&reader)?;
    let Some(version) = version else {
        return Err(unknown.unwrap_or(FrameError::Missing("version")));
    };
    // Checked before unknown fields, because a newer version explains them.
    if version != PROTOCOL_VERSION {
        return Err(FrameError::Version(version));
    }
    if let Some(unknown) = unknown {
        return Err(unknown);
    }
    hello.client = client.ok_or(FrameError::Missing("client"))?;
    Ok(hello)
}

/// Decodes a frame from a client. In an owned body, the arguments are not copied.
///
/// # Errors
/// When the bytes are not a [`ClientFrame`] or exceed a limit.
pub fn decode_client<'b>(body: impl Into<Cow<'b, [u8]>>) -> Result<ClientFrame, FrameError> {
    let body = body.into();
    let call = match decode(&body)? {
        Decoded::Frame(frame) => return Ok(frame),
        Decoded::Call(call) => call,
    };
    let args = match call.args {
        None => Args::Json(b"{}".to_vec()),
        Some(ArgumentSource::Value(value)) => Args::Value(value),
        Some(ArgumentSource::Json(at)) => Args::Json(part(body, at)),
    };
    let Call { id, name, .. } = call;
    Ok(ClientFrame::Call { id, name, args })
}

/// Returns a part of some bytes, without a new allocation if they are owned.
fn part(bytes: Cow<'_, [u8]>, at: Range<usize>) -> Vec<u8> {
    match bytes {
        Cow::Borrowed(bytes) => bytes.get(at).unwrap_or_default().to_vec(),
        Cow::Owned(mut bytes) => {
            bytes.truncate(at.end);
            bytes.drain(..at.start.min(bytes.len()));
            bytes
        }
    }
}

/// A frame, or a call whose arguments are still in its body.
enum Decoded {
    Frame(ClientFrame),
    Call(Call),
}

struct Call {
    id: u64,
    name: String,
    args: Option<ArgumentSource>,
}

/// Arguments, or their range in the body.
enum ArgumentSource {
    Json(Range<usize>),
    Value(Value),
}

fn decode(body: &[u8]) -> Result<Decoded, FrameError> {
    let mut reader = Reader::new(body);
    let (mut id, mut name, mut args, mut cancel) = (None, None, None, None);
    let mut seen = SeenFields::default();
    for _ in 0..reader.map()? {
        let written = reader.text()?.ok_or(FrameError::NotAMap)?;
        if written == "version" {
            return decode_hello(body)
                .map(ClientFrame::Hello)
                .map(Decoded::Frame);
        }
        let field = seen
            .field(written, &CALL_FIELDS)?
            .map_err(|unknown| clash(body, unknown))?;
        match field {
            "id" => id = Some(unsigned(&mut reader, "id")?),
            "name" => name = Some(text(&mut reader, "name")?),
            "args" => args = Some(read_args(body, &mut reader)?),
            _ => cancel = Some(read_cancel(&mut reader)?),
        }
    }
    end(&reader)?;
    let id = id.ok_or(FrameError::Missing("id"))?;
    match (name, args, cancel) {
        (Some(name), args, None) => Ok(Decoded::Call(Call { id, name, args })),
        (None, None, Some(())) => Ok(Decoded::Frame(ClientFrame::Cancel { id })),
        (None, _, None) => Err(FrameError::Missing("name")),
        (_, _, Some(())) => Err(FrameError::Unexpected("a call and a cancel at once")),
    }
}

/// Returns the version error if the frame is a Hello of another version, which explains the unknown field.
fn clash(body: &[u8], unknown: FrameError) -> FrameError {
    match decode_hello(body) {
        Err(clash @ FrameError::Version(_)) => clash,
        _ => unknown,
    }
}

fn read_args(body: &[u8], reader: &mut Reader<'_>) -> Result<ArgumentSource, FrameError> {
    if !reader.at_bytes()? {
        return reader.json_map().map(ArgumentSource::Value);
    }
    // Depth and count are checked when the arguments are read, so that the call gets the answer.
    let bytes = reader.bytes()?.unwrap_or_default();
    let start = bytes.as_ptr().addr().saturating_sub(body.as_ptr().addr());
    Ok(ArgumentSource::Json(start..start + bytes.len()))
}

fn read_cancel(reader: &mut Reader<'_>) -> Result<(), FrameError> {
    match reader.boolean()? {
        Some(true) => Ok(()),
        Some(false) | None => Err(FrameError::Field("cancel", "true")),
    }
}

fn mcp(reader: &mut Reader<'_>) -> Result<bool, FrameError> {
    match reader.text()? {
        Some("mcp") => Ok(true),
        Some(_) | None => Err(FrameError::Field("then", "\"mcp\"")),
    }
}

fn unsigned(reader: &mut Reader<'_>, name: &'static str) -> Result<u64, FrameError> {
    reader
        .unsigned()?
        .ok_or(FrameError::Field(name, "an unsigned integer"))
}

fn text(reader: &mut Reader<'_>, name: &'static str) -> Result<String, FrameError> {
    let text = reader.text()?.ok_or(FrameError::Field(name, "a text"))?;
    Ok(text.to_owned())
}

fn end(reader: &Reader<'_>) -> Result<(), FrameError> {
    match reader.left() {
        0 => Ok(()),
        left => Err(FrameError::Trailing(left)),
    }
}

/// Bit set of the fields that were read in a frame.
#[derive(Default)]
struct SeenFields(u32);

impl SeenFields {
    /// Returns the known field of this name; the inner error suggests the nearest name.
    fn field(
        &mut self,
        written: &str,
        known: &'static [&'static str],
    ) -> Result<Result<&'static str, FrameError>, FrameError> {
        let Some((place, name)) = known.iter().enumerate().find(|(_, name)| **name == written)
        else {
            let name = written.chars().take(64).collect();
            let nearest = nearest(written, known.iter().copied());
            return Ok(Err(FrameError::Unknown { name, nearest }));
        };
        let bit = 1 << place;
        if self.0 & bit != 0 {
            return Err(FrameError::Twice(name));
        }
        self.0 |= bit;
        Ok(Ok(name))
    }
}

/// Appends a Hello.
pub fn encode_hello(out: &mut Vec<u8>, hello: &Hello) {
    let optional = [
        ("agent", hello.agent.as_deref()),
        ("cwd", hello.cwd.as_deref()),
        ("session", hello.session.as_deref()),
        ("host_session", hello.host_session.as_deref()),
        ("then", hello.mcp.then_some("mcp")),
        ("bridge", hello.bridge.as_deref()),
        ("tools", hello.tools.as_deref()),
    ];
    framed(out, |out| {
        cbor::put_map(
            out,
            2 + optional.iter().filter(|(_, text)| text.is_some()).count(),
        );
        cbor::put_text(out, "version");
        cbor::put_unsigned(out, PROTOCOL_VERSION);
        cbor::put_text(out, "client");
        cbor::put_text(out, &hello.client);
        for (name, text) in optional {
            if let Some(text) = text {
                cbor::put_text(out, name);
                cbor::put_text(out, text);
            }
        }
    });
}

/// Appends a call.
///
/// Arguments as a value are sent as a CBOR map. If a number has more digits than CBOR can hold, they are
/// sent as JSON.
pub fn encode_call(out: &mut Vec<u8>, id: u64, name: &str, args: &Args) {
    framed(out, |out| {
        call_head(out, id, name);
        match args {
            Args::Json(json) => cbor::put_bytes(out, json),
            Args::Value(value) => {
                let start = out.len();
                if !cbor::put_json(out, value) {
                    out.truncate(start);
                    cbor::put_bytes(out, value.to_string().as_bytes());
                }
            }
        }
    });
}

/// Appends a call up to its JSON arguments, which the caller sends next without a copy.
pub fn encode_call_head(out: &mut Vec<u8>, id: u64, name: &str, json: &[u8]) {
    framed_around(out, json.len(), |out| {
        call_head(out, id, name);
        cbor::put_bytes_head(out, json.len());
    });
}

fn call_head(out: &mut Vec<u8>, id: u64, name: &str) {
    cbor::put_map(out, 3);
    cbor::put_text(out, "id");
    cbor::put_unsigned(out, id);
    cbor::put_text(out, "name");
    cbor::put_text(out, name);
    cbor::put_text(out, "args");
}

/// Appends a cancel.
pub fn encode_cancel(out: &mut Vec<u8>, id: u64) {
    framed(out, |out| {
        cbor::put_map(out, 2);
        cbor::put_text(out, "id");
        cbor::put_unsigned(out, id);
        cbor::put_text(out, "cancel");
        cbor::put_true(out);
    });
}
