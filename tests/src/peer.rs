//! A peer that says whatever bytes it likes.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use lore::protocol::frame::{self, Hello, ServerFrame};
use lore::protocol::{Args, ErrorBody};
use serde_json::Value;

/// No answer takes longer than this.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// A bare connection.
pub struct Peer {
    stream: UnixStream,
}

impl Peer {
    /// Connects and says nothing.
    ///
    /// # Panics
    /// When nobody listens.
    #[must_use]
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("somebody listens");
        stream
            .set_read_timeout(Some(ANSWER_MAX))
            .expect("a time-out");
        Self { stream }
    }

    /// Connects and is welcomed.
    ///
    /// # Panics
    /// When it is not.
    #[must_use]
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

    /// Sends bytes; a daemon that has had enough may have closed already.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Sends a frame with this body.
    ///
    /// # Panics
    /// When the body has no length that a frame could claim.
    pub fn send_body(&mut self, body: &[u8]) {
        let length = u32::try_from(body.len()).expect("a short body");
        self.send(&length.to_be_bytes());
        self.send(body);
    }

    /// Sends a call with these arguments as they stand.
    pub fn send_call(&mut self, id: u64, name: &str, args: &Args) {
        let mut out = Vec::new();
        frame::encode_call(&mut out, id, name, args);
        self.send(&out);
    }

    /// Calls and waits for the answer.
    ///
    /// # Errors
    /// What the daemon refuses.
    ///
    /// # Panics
    /// When something else comes than an answer of JSON.
    pub fn call(&mut self, name: &str, args: &Args) -> Result<Value, ErrorBody> {
        self.send_call(7, name, args);
        match self.frame() {
            Some(ServerFrame::Answer { id: 7, outcome }) => {
                outcome.map(|reply| serde_json::from_slice(&reply.json).expect("JSON"))
            }
            other => panic!("{name}: {other:?}"),
        }
    }

    /// The next frame; `None` at the end.
    ///
    /// # Panics
    /// When what comes is no frame, or nothing comes.
    pub fn frame(&mut self) -> Option<ServerFrame> {
        let mut body = Vec::new();
        match frame::read_frame(&mut self.stream, &mut body, frame::FRAME_BYTES_MAX) {
            Ok(true) => Some(frame::decode_server(&body).expect("a frame")),
            Ok(false) => None,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no frame: {error}"),
        }
    }

    /// The error that the daemon says about the connection.
    ///
    /// # Panics
    /// When it says something else.
    pub fn fault(&mut self) -> ErrorBody {
        match self.frame() {
            Some(ServerFrame::Fault(body)) => body,
            other => panic!("no fault: {other:?}"),
        }
    }

    /// Everything that still comes, as text, until the daemon closes.
    ///
    /// # Panics
    /// When it does not close.
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
