//! A daemon for tests: answers frames and JSON lines as the real daemon does, and dies on request.
#![allow(dead_code, clippy::unwrap_used, clippy::indexing_slicing)]

pub mod cli;
pub mod contexts;
pub mod fixture;
pub mod home;

use std::fs::DirBuilder;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use lore::paths::Paths;
use lore::protocol::Args;
use lore::protocol::frame::{self, ClientFrame, Hello, Limits, Welcome};

/// Returns the paths below a test's folder.
pub fn paths(home: &Path) -> Paths {
    let home = home.to_owned();
    let variables = move |name: &str| (name == "LORE_HOME").then(|| home.clone().into());
    Paths::from_variables(variables, lore::paths::our_uid(), None).unwrap()
}

/// Listens on the daemon's socket.
pub fn listen(paths: &Paths) -> UnixListener {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(paths.socket_folder())
        .unwrap();
    let _ = std::fs::remove_file(&paths.socket);
    UnixListener::bind(&paths.socket).unwrap()
}

pub fn welcome() -> Welcome {
    Welcome {
        version: 1,
        daemon: "00".into(),
        server: "lored/test".into(),
        pid: std::process::id(),
        position: 0,
        limits: Limits::default(),
    }
}

/// An accepted connection after its handshake.
pub struct Peer {
    pub stream: UnixStream,
    pub hello: Hello,
    body: Vec<u8>,
}

impl Peer {
    pub fn accept(listener: &UnixListener) -> Self {
        let (stream, _) = listener.accept().unwrap();
        let mut peer = Self {
            stream,
            hello: Hello::default(),
            body: Vec::new(),
        };
        assert!(frame::read_frame(&mut peer.stream, &mut peer.body, 1 << 16).unwrap());
        peer.hello = frame::decode_hello(&peer.body).unwrap();
        let mut out = Vec::new();
        frame::encode_welcome(&mut out, &welcome());
        peer.stream.write_all(&out).unwrap();
        peer
    }

    /// Reads the next call, or `None` at the end.
    pub fn call(&mut self) -> Option<(u64, String, Args)> {
        if !frame::read_frame(&mut self.stream, &mut self.body, 64 << 20).ok()? {
            return None;
        }
        match frame::decode_client(&self.body).unwrap() {
            ClientFrame::Call { id, name, args } => Some((id, name, args)),
            other => panic!("no call: {other:?}"),
        }
    }

    pub fn answer(&mut self, id: u64, json: &str) {
        self.answer_with(id, json, None);
    }

    pub fn answer_with(&mut self, id: u64, json: &str, meta: Option<&str>) {
        let mut out = Vec::new();
        frame::encode_answer(&mut out, id, json.as_bytes(), meta.map(str::as_bytes));
        self.stream.write_all(&out).unwrap();
    }

    /// Returns a reader of the connection's JSON lines.
    pub fn lines(&self) -> BufReader<UnixStream> {
        BufReader::new(self.stream.try_clone().unwrap())
    }
}

/// Reads the next line without its line feed; empty at the end.
pub fn line(input: &mut impl BufRead) -> String {
    let mut line = String::new();
    input.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}
