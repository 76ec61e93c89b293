//! A peer that sends arbitrary bytes.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use lore::protocol::frame::{self, Hello, ServerFrame};
use lore::protocol::{Args, ErrorBody};
use serde_json::Value;

/// Time limit for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// A bare connection.
pub struct Peer {
    stream: UnixStream,
}

impl Peer {
    /// Connects without sending a Hello.
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("somebody listens");
        stream
            .set_read_timeout(Some(ANSWER_MAX))
            .expect("a time-out");
        Self { stream }
    }

    /// Connects and completes the handshake.
    pub fn greeted(socket: &Path) -> Self {
        let mut peer = Self::connect(socket);
        let mut out = Vec::new();
        frame::encode_hello(
            &mut out,
            &Hello {
                client: "peer/1".to_owned(),
                ..Hello::default()
            },
        );
        peer.send(&out);
        match peer.frame() {
            Some(ServerFrame::Welcome(_)) => peer,
            other => panic!("no Welcome: {other:?}"),
        }
    }

    /// Sends bytes; the daemon may already have closed the connection.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Sends a frame with this body.
    pub fn send_body(&mut self, body: &[u8]) {
        let length = u32::try_from(body.len()).expect("a short body");
        self.send(&length.to_be_bytes());
        self.send(body);
    }

    /// Sends a call with these arguments unchanged.
    pub fn send_call(&mut self, id: u64, name: &str, args: &Args) {
        let mut out = Vec::new();
        frame::encode_call(&mut out, id, name, args);
        self.send(&out);
    }

    /// Calls an operation and waits for the answer.
    pub fn call(&mut self, name: &str, args: &Args) -> Result<Value, ErrorBody> {
        self.send_call(7, name, args);
        match self.frame() {
            Some(ServerFrame::Answer { id: 7, outcome }) => {
                outcome.map(|reply| serde_json::from_slice(&reply.json).expect("JSON"))
            }
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Reads the next frame; `None` at the end.
    pub fn frame(&mut self) -> Option<ServerFrame> {
        let mut body = Vec::new();
        match frame::read_frame(&mut self.stream, &mut body, frame::FRAME_BYTES_MAX) {
            Ok(true) => Some(frame::decode_server(&body).expect("a frame")),
            Ok(false) => None,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no frame: {error}"),
        }
    }

    /// Reads the daemon's error about the connection.
    pub fn fault(&mut self) -> ErrorBody {
        match self.frame() {
            Some(ServerFrame::Fault(body)) => body,
            other => panic!("no fault: {other:?}"),
        }
    }

    /// Reads all remaining bytes as text, until the daemon closes.
    pub fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
            Err(error) => panic!("the connection stays open: {error}"),
        }
        String::from_utf8_lossy(&rest).into_owned()
    }
}
