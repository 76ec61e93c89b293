//! Frames from the daemon: its Welcome, answers, stream items and errors.

use std::ops::Range;

use super::super::cbor::{self, Reader};
use super::super::{ErrorBody, Reply};
use super::{
    BYTES_IN_FLIGHT_MAX, CALLS_IN_FLIGHT_MAX, ENVELOPE_DEPTH_MAX, FRAME_BYTES_MAX, FrameError,
    HELLO_MS_MAX, framed, framed_around,
};

/// Limits of the daemon for one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a frame, in bytes.
    pub frame_bytes_max: u64,
    /// Maximum number of unanswered calls.
    pub calls_in_flight_max: u64,
    /// Maximum size of all unanswered calls, in bytes.
    pub bytes_in_flight_max: u64,
    /// Time limit for the Hello, in milliseconds.
    pub hello_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes_max: FRAME_BYTES_MAX as u64,
            calls_in_flight_max: CALLS_IN_FLIGHT_MAX,
            bytes_in_flight_max: BYTES_IN_FLIGHT_MAX,
            hello_ms_max: HELLO_MS_MAX,
        }
    }
}

/// The daemon's answer to a Hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// Protocol version of the daemon.
    pub version: u64,
    /// Store id, hexadecimal.
    pub daemon: String,
    /// Name and version of the daemon, for example `lored/0.1.0`.
    pub server: String,
    /// Process id of the daemon.
    pub pid: u32,
    /// Newest readable log position.
    pub position: u64,
    /// Limits of the connection.
    pub limits: Limits,
}

/// A frame from the daemon.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerFrame {
    /// The first frame.
    Welcome(Welcome),
    /// Final answer to a call.
    Answer {
        /// Id of the call.
        id: u64,
        /// The reply or the error.
        outcome: Result<Reply, ErrorBody>,
    },
    /// One item of a call that streams.
    Item {
        /// Id of the call.
        id: u64,
        /// The item as JSON.
        item: Vec<u8>,
    },
    /// An error of the whole connection; the daemon closes it.
    Fault(ErrorBody),
}

/// Decodes a frame from the daemon and ignores unknown fields.
///
/// # Errors
/// When the bytes are not a [`ServerFrame`].
pub fn decode_server(body: &[u8]) -> Result<ServerFrame, FrameError> {
    Ok(match parse(body)? {
        ParsedFrame::Answer { id, json, meta } => {
            answer(id, body.get(json).map(<[u8]>::to_vec), meta)
        }
        ParsedFrame::Other(frame) => frame,
    })
}

/// Like [`decode_server`], but reuses the memory of the frame, so that a large reply is not copied.
///
/// # Errors
/// As [`decode_server`].
pub fn take_server(mut body: Vec<u8>) -> Result<ServerFrame, FrameError> {
    Ok(match parse(&body)? {
        ParsedFrame::Answer { id, json, meta } => {
            body.truncate(json.end);
            body.drain(..json.start);
            answer(id, Some(body), meta)
        }
        ParsedFrame::Other(frame) => frame,
    })
}

/// A frame; the reply of an answer is a range of the body.
enum ParsedFrame {
    Answer {
        id: u64,
        json: Range<usize>,
        meta: Option<Vec<u8>>,
    },
    Other(ServerFrame),
}

fn answer(id: u64, json: Option<Vec<u8>>, meta: Option<Vec<u8>>) -> ServerFrame {
    let json = json.unwrap_or_default();
    ServerFrame::Answer {
        id,
        outcome: Ok(Reply { json, meta }),
    }
}

fn parse(body: &[u8]) -> Result<ParsedFrame, FrameError> {
    let mut reader = Reader::new(body);
    let (mut id, mut ok, mut meta, mut error, mut item) = (None, None, None, None, None);
    let mut welcome = PartialWelcome::default();
    for _ in 0..reader.map()? {
        match reader.text()?.ok_or(FrameError::NotAMap)? {
            "id" => id = Some(unsigned(&mut reader, "id")?),
            "ok" => {
                let length = json(&mut reader, "ok")?.len();
                let end = body.len() - reader.left();
                ok = Some(end - length..end);
            }
            "meta" => meta = Some(json(&mut reader, "meta")?),
            "error" => error = Some(ErrorBody::from_json(json(&mut reader, "error")?)),
            "item" => item = Some(json(&mut reader, "item")?),
            name => welcome.field(&mut reader, name)?,
        }
    }
    let frame = match (id, ok, error, item) {
        (Some(id), Some(json), None, None) => {
            let meta = meta.map(<[u8]>::to_vec);
            return Ok(ParsedFrame::Answer { id, json, meta });
        }
        (Some(id), None, Some(error), None) => ServerFrame::Answer {
            id,
            outcome: Err(error),
        },
        (Some(id), None, None, Some(item)) => ServerFrame::Item {
            id,
            item: item.to_vec(),
        },
        (None, None, Some(error), None) => ServerFrame::Fault(error),
        (None, None, None, None) => ServerFrame::Welcome(welcome.whole()?),
        _ => {
            return Err(FrameError::Unexpected(
                "neither a Welcome, an answer, an item nor an error",
            ));
        }
    };
    Ok(ParsedFrame::Other(frame))
}

/// Decoded fields of a Welcome.
#[derive(Default)]
struct PartialWelcome {
    version: Option<u64>,
    daemon: Option<String>,
    server: Option<String>,
    pid: Option<u32>,
    position: Option<u64>,
    limits: Option<Limits>,
}

impl PartialWelcome {
    fn field(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<(), FrameError> {
        match name {
            "version" => self.version = Some(unsigned(reader, "version")?),
            "daemon" => self.daemon = Some(text(reader, "daemon")?),
            "server" => self.server = Some(text(reader, "server")?),
            "pid" => {
                let pid = u32::try_from(unsigned(reader, "pid")?);
                self.pid = Some(pid.map_err(|_| FrameError::Field("pid", "a process id"))?);
            }
            "position" => self.position = Some(unsigned(reader, "position")?),
            "limits" => self.limits = Some(limits(reader)?),
            _ => reader.skip(ENVELOPE_DEPTH_MAX)?,
        }
        Ok(())
    }

    fn whole(self) -> Result<Welcome, FrameError> {
        Ok(Welcome {
            version: self.version.ok_or(FrameError::Missing("version"))?,
            daemon: self.daemon.ok_or(FrameError::Missing("daemon"))?,
            server: self.server.ok_or(FrameError::Missing("server"))?,
            pid: self.pid.ok_or(FrameError::Missing("pid"))?,
            position: self.position.ok_or(FrameError::Missing("position"))?,
            limits: self.limits.unwrap_or_default(),
        })
    }
}

fn limits(reader: &mut Reader<'_>) -> Result<Limits, FrameError> {
    let mut limits = Limits::default();
    for _ in 0..reader.map()? {
        let field = match reader.text()?.ok_or(FrameError::NotAMap)? {
            "frame_bytes_max" => &mut limits.frame_bytes_max,
            "calls_in_flight_max" => &mut limits.calls_in_flight_max,
            "bytes_in_flight_max" => &mut limits.bytes_in_flight_max,
            "hello_ms_max" => &mut limits.hello_ms_max,
            _ => {
                reader.skip(ENVELOPE_DEPTH_MAX)?;
                continue;
            }
        };
        *field = unsigned(reader, "limits")?;
    }
    Ok(limits)
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

fn json<'a>(reader: &mut Reader<'a>, name: &'static str) -> Result<&'a [u8], FrameError> {
    reader
        .bytes()?
        .ok_or(FrameError::Field(name, "a byte string that holds JSON"))
}

/// Appends a Welcome.
pub fn encode_welcome(out: &mut Vec<u8>, welcome: &Welcome) {
    framed(out, |out| {
        cbor::put_map(out, 6);
        cbor::put_text(out, "version");
        cbor::put_unsigned(out, welcome.version);
        cbor::put_text(out, "daemon");
        cbor::put_text(out, &welcome.daemon);
        cbor::put_text(out, "server");
        cbor::put_text(out, &welcome.server);
        cbor::put_text(out, "pid");
        cbor::put_unsigned(out, welcome.pid.into());
        cbor::put_text(out, "position");
        cbor::put_unsigned(out, welcome.position);
        cbor::put_text(out, "limits");
        cbor::put_map(out, 4);
        for (name, limit) in [
            ("frame_bytes_max", welcome.limits.frame_bytes_max),
            ("calls_in_flight_max", welcome.limits.calls_in_flight_max),
            ("bytes_in_flight_max", welcome.limits.bytes_in_flight_max),
            ("hello_ms_max", welcome.limits.hello_ms_max),
        ] {
            cbor::put_text(out, name);
            cbor::put_unsigned(out, limit);
        }
    });
}

/// Appends an answer with this JSON reply and its metadata.
pub fn encode_answer(out: &mut Vec<u8>, id: u64, json: &[u8], meta: Option<&[u8]>) {
    // 48 bytes hold everything around the reply, so a large reply is copied once.
    out.reserve(json.len() + meta.map_or(0, <[u8]>::len) + 48);
    framed(out, |out| {
        answer_head(out, id, json.len(), meta.is_some());
        out.extend_from_slice(json);
        answer_tail(out, meta);
    });
}

/// Appends an answer without its reply and returns the offset of the reply, which the caller sends without a
/// copy.
#[must_use]
pub fn encode_answer_around(out: &mut Vec<u8>, id: u64, json: &[u8], meta: Option<&[u8]>) -> usize {
    let mut place = out.len();
    framed_around(out, json.len(), |out| {
        answer_head(out, id, json.len(), meta.is_some());
        place = out.len();
        answer_tail(out, meta);
    });
    place
}

fn answer_head(out: &mut Vec<u8>, id: u64, json_bytes: usize, has_meta: bool) {
    cbor::put_map(out, 2 + usize::from(has_meta));
    cbor::put_text(out, "id");
    cbor::put_unsigned(out, id);
    cbor::put_text(out, "ok");
    cbor::put_bytes_head(out, json_bytes);
}

fn answer_tail(out: &mut Vec<u8>, meta: Option<&[u8]>) {
    if let Some(meta) = meta {
        cbor::put_text(out, "meta");
        cbor::put_bytes(out, meta);
    }
}

/// Appends an error: of the call with this id, or of the connection without an id.
pub fn encode_error(out: &mut Vec<u8>, id: Option<u64>, error: &ErrorBody) {
    framed(out, |out| {
        cbor::put_map(out, 1 + usize::from(id.is_some()));
        if let Some(id) = id {
            cbor::put_text(out, "id");
            cbor::put_unsigned(out, id);
        }
        cbor::put_text(out, "error");
        cbor::put_bytes(out, &error.to_json());
    });
}

/// Appends one item of a call that streams.
pub fn encode_item(out: &mut Vec<u8>, id: u64, json: &[u8]) {
    out.reserve(json.len() + 32);
    framed(out, |out| {
        cbor::put_map(out, 2);
        cbor::put_text(out, "id");
        cbor::put_unsigned(out, id);
        cbor::put_text(out, "item");
        cbor::put_bytes(out, json);
    });
}
