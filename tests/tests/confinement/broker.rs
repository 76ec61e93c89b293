//! The process broker of resolvers, in the real program: it starts configured programs, is not sandboxed, and
//! leaves nothing behind.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tests::{Daemon, Home, home, until};

use super::{LIMIT, reported, runs};

const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server-for-tests");

/// A home whose resolver is the test server in some mode, and the files that the server writes.
struct Fixture {
    home: Home,
    left: PathBuf,
}

impl Fixture {
    fn new(mode: &str) -> Self {
        let home = home!();
        let left = home.path().join("left");
        fs::create_dir(&left).unwrap();
        home.configure(&format!(
            "[resolvers.rig]\ncommand = [{SERVER:?}, {mode:?}, {left:?}]\ntimeout_ms = 30000\nauto = false\n\
             pause_ms = 1000\n[resolvers.rig.kinds.device]\ntool = \"find\"\n",
        ));
        Self { home, left }
    }

    fn start(&self) -> Daemon {
        let daemon = self.home.start();
        daemon.call("create_session", json!({"session": "s-1"}));
        daemon
    }

    /// Lists the server's files of a kind, in order.
    fn left(&self, kind: &str) -> Vec<String> {
        let read = |number| fs::read_to_string(self.left.join(format!("{kind}-{number}"))).ok();
        (1..).map_while(read).collect()
    }
}

fn resolve(daemon: &Daemon, name: &str) -> Value {
    let args = json!({"session": "s-1", "kind": "device", "name": name});
    daemon.call("resolve_entity", args)
}

fn parent(pid: &str) -> String {
    let status = Path::new("/proc").join(pid).join("status");
    reported(&status, "PPid:").expect("a parent")
}

fn send(pid: &str, signal: Signal) {
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn gone(pid: &str) {
    until("a process's end", LIMIT, || (!runs(pid)).then_some(()));
}

/// A server that ends after each answer is started again by the same broker, which is the daemon's child; neither
/// server nor broker is sandboxed.
#[test]
fn a_server_that_ended_is_started_again() {
    let fixture = Fixture::new("die-after");
    let daemon = fixture.start();
    for name in ["switch-nyc-01", "switch-nyc-02"] {
        assert_eq!(resolve(&daemon, name)["how"], "upstream", "{name}");
    }
    let children = format!("/proc/{0}/task/{0}/children", daemon.pid());
    let children = fs::read_to_string(children).unwrap();
    let [starter] = children.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("not one child: {children:?}");
    };
    assert_eq!(fixture.left("start").len(), 2);
    let own = reported(Path::new("/proc/self/status"), "NoNewPrivs:");
    let status = Path::new("/proc").join(starter).join("status");
    assert_eq!(reported(&status, "NoNewPrivs:"), own);
    assert_eq!(reported(&status, "Name:").as_deref(), Some("lored-broker"));
    let starter = starter.to_owned();
    daemon.stop();
    gone(&starter);
}

/// However the daemon ends, the servers, their child processes and the broker end, too.
#[test]
fn nothing_outlives_the_daemon() {
    for is_killed in [true, false] {
        let fixture = Fixture::new("clinging");
        let daemon = fixture.start();
        assert_eq!(resolve(&daemon, "switch-nyc-01")["how"], "upstream");
        let servers = [fixture.left("start"), fixture.left("clinging")].concat();
        let starter = parent(&servers[0]);
        assert_eq!(parent(&starter), daemon.pid().to_string());
        if is_killed {
            daemon.kill();
        } else {
            daemon.stop();
        }
        for pid in servers.iter().chain([&starter]) {
            gone(pid);
        }
    }
}

/// Signals that stop the daemon may also reach the broker: it ends with the daemon. If it is killed, the daemon
/// reports the remedy and continues.
#[test]
fn a_starter_that_is_gone_is_told() {
    let fixture = Fixture::new("good");
    let daemon = fixture.start();
    assert_eq!(resolve(&daemon, "switch-nyc-01")["how"], "upstream");
    let server = fixture.left("start").remove(0);
    let starter = parent(&server);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        send(&starter, signal);
    }
    assert_eq!(resolve(&daemon, "switch-nyc-02")["how"], "upstream");
    send(&starter, Signal::KILL);
    gone(&starter);
    let mut numbers = 10..;
    let reply = until("a warning", LIMIT, || {
        // Earlier answers are cached.
        let reply = resolve(&daemon, &format!("switch-nyc-{}", numbers.next()?));
        (!reply["warnings"].is_null()).then_some(reply)
    });
    let warning = reply["warnings"][0].as_str().unwrap();
    assert!(warning.contains("restart the daemon"), "{warning}");
    gone(&server);
    daemon.verify();
}

/// A broker controlled by this test instead of the daemon.
struct BareBroker {
    process: Child,
    socket: UnixStream,
}

impl BareBroker {
    fn reported(list: &[u8]) -> Self {
        let (socket, its) = UnixStream::pair().unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_lored-under-test"))
            .arg("process-broker")
            .stdin(Stdio::from(OwnedFd::from(its)))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        let mut bare = Self { process, socket };
        bare.socket.write_all(list).unwrap();
        bare
    }

    /// Starts a broker with one program, which writes its process id and waits for the end of its input.
    fn with_one(folder: &Path) -> Self {
        let script = format!("echo $$ > {folder:?}/pid; read line");
        let list = json!([{
            "program": "/bin/sh", "arguments": ["-c", script], "environment": {},
        }]);
        let list = list.to_string();
        let length = u32::try_from(list.len()).unwrap();
        Self::reported(&[&length.to_be_bytes(), list.as_bytes()].concat())
    }

    fn ask(&mut self, kind: u8, child: u64, number: u32) {
        let bytes = [&[kind], &child.to_be_bytes()[..], &number.to_be_bytes()].concat();
        self.socket.write_all(&bytes).unwrap();
    }

    fn reply(&mut self) -> (u8, u64, i32) {
        let mut bytes = [0; 13];
        self.socket.read_exact(&mut bytes).unwrap();
        let child = u64::from_be_bytes(bytes[1..9].try_into().unwrap());
        (
            bytes[0],
            child,
            i32::from_be_bytes(bytes[9..].try_into().unwrap()),
        )
    }

    /// Returns its exit code and its output.
    fn end(mut self) -> (Option<i32>, String) {
        let status = until("the starter's end", LIMIT, || {
            self.process.try_wait().unwrap()
        });
        let mut said = String::new();
        let mut errors = self.process.stderr.take().unwrap();
        errors.read_to_string(&mut said).unwrap();
        (status.code(), said)
    }
}

/// Only programs on the list are started, and the list is sent once; an invalid request ends the broker with all
/// processes that it started.
#[test]
fn only_what_was_configured_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let mut bare = BareBroker::with_one(folder.path());
    for (child, program) in [(1, 1), (2, u32::MAX)] {
        bare.ask(b'S', child, program);
        assert_eq!(bare.reply(), (b'n', child, 1), "EPERM");
    }
    bare.ask(b'S', 3, 0);
    // This side takes no pipes, so the input of the child ends at once.
    assert_eq!(bare.reply(), (b's', 3, 0));
    let (kind, child, _) = bare.reply();
    assert_eq!((kind, child), (b'e', 3));
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(!runs(pid.trim()));
    bare.ask(b'E', 3, 0);
    bare.ask(b'E', 77, 0);
    bare.socket.write_all(&30_u32.to_be_bytes()).unwrap();
    bare.socket
        .write_all(b"[{\"program\":\"/bin/sh\"}]")
        .unwrap();
    let (code, said) = bare.end();
    assert_eq!(code, Some(3));
    assert!(said.contains("asks for nothing that there is"), "{said}");
}

/// A malformed or oversized list ends the broker; so does a daemon that sends nothing.
#[test]
fn lists_that_are_none_are_refused() {
    for (list, wanted) in [
        (&b"\xff\xff\xff\xff[]"[..], "at most 1048576"),
        (b"\0\0\0\x02{}", "invalid type"),
        (b"\0\0\0\x02[", "EOF"),
        (b"\0\0", "fill"),
        (b"", "fill"),
    ] {
        let bare = BareBroker::reported(list);
        bare.socket.shutdown(std::net::Shutdown::Write).unwrap();
        let (code, said) = bare.end();
        assert_eq!(code, Some(3), "{list:?}: {said}");
        assert!(said.contains(wanted), "{list:?}: {said}");
    }
    let by_hand = Command::new(env!("CARGO_BIN_EXE_lored-under-test"))
        .arg("process-broker")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&by_hand.stderr);
    assert!(said.contains("only the daemon runs this"), "{said}");
}
