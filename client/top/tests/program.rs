//! Tests of the program in a pipe and on a separate terminal, against a daemon with canned replies.
#![allow(clippy::unwrap_used)]

use std::fs::{DirBuilder, File};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use lore::protocol::frame::{self, ClientFrame, Limits, Welcome};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

const STATUS: &str = r#"{"version":"0.1.0","pid":4711,"store":"aa","position":2,"durable":true,
    "writable":true,"uptime":5,"clients":1,"socket":"/s","data":"/d","counts":{},"sizes":{},
    "followers":[{"name":"search","position":2,"lag":0}],"limits":{},"warnings":[]}"#;
const SESSIONS: &str = r#"{"sessions":[{"session":"outage","state":"active","title":"Uplinks",
    "agents":["claude"],"created_at":"2026-11-20T12:00:00Z","last_activity":"2026-11-20T12:00:00Z",
    "steps":3}],"position":2,"durable":true}"#;
const EVENTS: &str = r#"{"events":[{"position":2,"time":"2026-11-20T12:00:00Z","kind":"StepRecorded",
    "agent":"claude","uid":0,"client":"lore/0.1.0","session":"outage",
    "payload":{"tool":"\u001b]0;owned\u0007\u001b[2J\u202e"},"payload_hash":"","link":""}],
    "next":3,"caught_up":true,"position":2,"durable":true}"#;
const NO_EVENTS: &str = r#"{"events":[],"next":3,"caught_up":true,"position":2,"durable":true}"#;

struct TestHome(tempfile::TempDir);

impl TestHome {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Serves for the lifetime of the test.
    fn serve(&self) {
        let run = self.path().join("run");
        DirBuilder::new().mode(0o700).create(&run).unwrap();
        let listener = UnixListener::bind(run.join("lore.sock")).unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                thread::spawn(move || answer(stream.unwrap()));
            }
        });
    }

    fn top(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lore-top"));
        command
            .env_clear()
            .env("LORE_HOME", self.path())
            .env("LORE_DAEMON", self.path().join("started"))
            .env("TERM", "xterm")
            .env("TZ", "UTC")
            .args(arguments);
        command
    }

    fn piped(&self, arguments: &[&str]) -> Output {
        self.top(arguments).stdin(Stdio::null()).output().unwrap()
    }
}

/// Answers one connection until it ends. A long poll for events gets no reply.
fn answer(mut stream: UnixStream) -> Option<()> {
    let (mut body, mut out) = (Vec::new(), Vec::new());
    frame::read_frame(&mut stream, &mut body, 1 << 16).ok()?;
    let welcome = Welcome {
        version: 1,
        daemon: "aa".into(),
        server: "lored/test".into(),
        pid: 4_711,
        position: 2,
        limits: Limits::default(),
    };
    frame::encode_welcome(&mut out, &welcome);
    stream.write_all(&out).ok()?;
    let mut has_told = false;
    while frame::read_frame(&mut stream, &mut body, 1 << 20).ok()? {
        let ClientFrame::Call { id, name, args } = frame::decode_client(&body).unwrap() else {
            continue;
        };
        let waits = format!("{args:?}").contains("wait_ms");
        let reply = match name.as_str() {
            "status" => STATUS,
            "list_sessions" => SESSIONS,
            "follow_events" if !has_told => {
                has_told = true;
                EVENTS
            }
            "follow_events" if waits => continue,
            "follow_events" => NO_EVENTS,
            other => panic!("`lore top` only looks: {other}"),
        };
        out.clear();
        frame::encode_answer(&mut out, id, reply.as_bytes(), None);
        stream.write_all(&out).ok()?;
    }
    None
}

/// A terminal, and the output written to it.
struct TestTerminal {
    keyboard: File,
    line: OwnedFd,
    before: Termios,
    written: thread::JoinHandle<Vec<u8>>,
    child: Child,
}

impl TestTerminal {
    /// Starts the program on a terminal of 80 by 24, and waits until it shows `awaited`.
    fn start(mut command: Command, awaited: &'static str) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let path = PathBuf::from(name.into_string().unwrap());
        let line = File::options().read(true).write(true).open(path).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&line, size).unwrap();
        let before = tcgetattr(&line).unwrap();
        let stdio = || Stdio::from(line.as_fd().try_clone_to_owned().unwrap());
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        let child = command.spawn().unwrap();
        // The command also holds the terminal and would keep it open.
        drop(command);
        let keyboard = File::from(keyboard);
        let mut screen = keyboard.try_clone().unwrap();
        let (shows, shown) = std::sync::mpsc::channel();
        let written = thread::spawn(move || {
            let (mut written, mut piece) = (Vec::new(), [0; 4096]);
            // The end is an error: the other side is closed.
            while let Ok(count @ 1..) = screen.read(&mut piece) {
                written.extend_from_slice(piece.get(..count).unwrap());
                if String::from_utf8_lossy(&written).contains(awaited) {
                    // Only the first occurrence is awaited.
                    let _ = shows.send(());
                }
            }
            written
        });
        if shown.recv().is_err() {
            let written = written.join().unwrap();
            panic!("{}", String::from_utf8_lossy(&written));
        }
        Self {
            keyboard,
            line: line.into(),
            before,
            written,
            child,
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end; returns the exit code and all output.
    fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        let after = tcgetattr(&self.line).unwrap();
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        drop(self.line);
        let written = self.written.join().unwrap();
        (status.code(), String::from_utf8(written).unwrap())
    }
}

/// Checks that the alternate screen was entered and left, the cursor is visible again, and no stored text reached
/// the terminal unescaped.
fn is_restored(written: &str) {
    let (_, after) = written.split_once("\x1b[?1049h").unwrap();
    let (shown, after) = after.rsplit_once("\x1b[?1049l").unwrap();
    assert!(!after.contains("\x1b[?1049h"), "{after:?}");
    assert!(
        written.rfind("\x1b[?25h") > written.rfind("\x1b[?25l"),
        "{written:?}"
    );
    for trick in ["\x1b]0;", "\x07", "\u{202e}"] {
        assert!(!shown.contains(trick), "{shown:?}");
    }
}

#[test]
fn one_frame_goes_into_a_pipe() {
    let home = TestHome::new();
    home.serve();
    let output = home.piped(&["--once", "--width", "100"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for part in [
        "lored 0.1.0",
        "outage",
        "Uplinks",
        "StepRecorded",
        "search",
        "list_sessions",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.contains("step 0 \\u{1b}]0;owned\\u{7}"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn what_cannot_be_shown_is_said() {
    let home = TestHome::new();
    let output = home.piped(&[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("`lore status --json`") && said.contains("--once"),
        "{said}"
    );
    let output = home.piped(&["--once"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        said.contains("no daemon is listening at") && said.contains("run `lored`"),
        "{said}"
    );
    assert_eq!(
        std::fs::read_dir(home.path()).unwrap().count(),
        0,
        "it leaves nothing"
    );
    assert_eq!(home.piped(&["--every", "0"]).status.code(), Some(2));
}

#[test]
fn a_key_ends_it_and_the_terminal_is_as_before() {
    let home = TestHome::new();
    home.serve();
    let mut screen = TestTerminal::start(home.top(&[]), "Uplinks");
    screen.press("3\t\x1b[B?xsp/a\r+q");
    let (code, written) = screen.end();
    assert_eq!(code, Some(0), "{written:?}");
    is_restored(&written);
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_as_before() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let home = TestHome::new();
        // No daemon is listening, so the program waits.
        let screen = TestTerminal::start(home.top(&[]), "no daemon");
        let process = Pid::from_child(&screen.child);
        kill_process(process, signal).unwrap();
        let (code, written) = screen.end();
        assert_eq!(code, Some(128 + signal.as_raw()), "{written:?}");
        is_restored(&written);
        assert!(!home.path().join("run").exists(), "nothing was started");
    }
}
