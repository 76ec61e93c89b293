//! A daemon under a service manager: passed sockets, notifications to the manager, reloaded settings.

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use lore::protocol::Code;
use rustix::process::Signal;
use serde_json::json;
use tests::{Daemon, Home, has_words, home, serve, until};

/// Time limit for the daemon's own actions.
const LONG: Duration = Duration::from_secs(60);

/// Returns the socket path of a manager, in a private folder.
fn socket_of(home: &Home) -> PathBuf {
    let folder = home.socket().parent().unwrap().to_path_buf();
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&folder)
        .unwrap();
    home.socket()
}

/// Starts the daemon as a manager does: the socket is descriptor 3, and two variables announce it. A shell in
/// between knows its own process id, which the daemon inherits by exec.
fn hand_over(home: &Home, listener: UnixListener) -> Daemon {
    hand_over_with(home, listener, "LISTEN_FDS=1 LISTEN_PID=$$")
}

fn hand_over_with(home: &Home, listener: UnixListener, variables: &str) -> Daemon {
    let mut command = Command::new("/bin/sh");
    let by_home = home.command();
    command
        .arg("-c")
        .arg(format!(
            "exec 3<&0 </dev/null; {variables} exec \"$0\" serve"
        ))
        .arg(home.program())
        .env_clear()
        .envs(
            by_home
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(Stdio::from(OwnedFd::from(listener)));
    home.spawn_command(command)
}

/// The first client's Hello waits in the manager's socket until the daemon answers it. The socket stays when the
/// daemon ends, and the next daemon uses it.
#[test]
fn a_socket_is_handed_over() {
    let home = home!();
    let path = socket_of(&home);
    let listener = UnixListener::bind(&path).unwrap();
    let kept = listener.try_clone().unwrap();
    let daemon = hand_over(&home, listener);
    let first = daemon.call("record_step", json!({"tool": "t", "result": 1}));
    let status = daemon.call("status", json!({}));
    assert_eq!(status["socket"], path.to_str().unwrap());
    let lock = std::fs::read_to_string(home.data().join("lored.lock")).unwrap();
    let expected = format!("{}\nmanager systemd\n", daemon.pid());
    assert!(lock.starts_with(&expected), "{lock}");
    daemon.stop();
    assert!(path.exists(), "the socket is the manager's");
    let waiting = std::thread::spawn({
        let path = path.clone();
        move || lore::connection::Connection::connect(&path, &Default::default()).map(drop)
    });
    let daemon = hand_over(&home, kept);
    waiting
        .join()
        .unwrap()
        .expect("who came in between is answered");
    let session = first["session"].as_str().unwrap();
    daemon.call("get_session", json!({"session": session}));
    daemon.stop();
}

/// Only the daemon has the socket: the process broker and the resolvers' servers do not inherit it.
#[test]
fn servers_of_resolvers_do_not_have_the_socket() {
    let home = home!();
    let left = home.path().join("left");
    std::fs::create_dir(&left).unwrap();
    home.configure(&format!(
        "[resolvers.rig]\ncommand = [{:?}, \"good\", {left:?}]\ntimeout_ms = 30000\nauto = false\n\
         [resolvers.rig.kinds.device]\ntool = \"find\"\n",
        env!("CARGO_BIN_EXE_mcp-server-for-tests"),
    ));
    let listener = UnixListener::bind(socket_of(&home)).unwrap();
    let own = listener.as_raw_fd();
    let socket = std::fs::read_link(format!("/proc/self/fd/{own}")).unwrap();
    let kept = listener.try_clone().unwrap();
    let daemon = hand_over(&home, listener);
    daemon.call("create_session", json!({"session": "s-1"}));
    let name = json!({"session": "s-1", "kind": "device", "name": "switch-nyc-01"});
    assert_eq!(daemon.call("resolve_entity", name)["how"], "upstream");
    let server = std::fs::read_to_string(left.join("start-1")).unwrap();
    let broker = std::fs::read_to_string(format!("/proc/{server}/stat")).unwrap();
    let broker = broker.rsplit_once(')').unwrap().1;
    let broker = broker.split_whitespace().nth(1).unwrap();
    let has_it = |pid: &str| {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        open.flatten()
            .any(|file| std::fs::read_link(file.path()).is_ok_and(|to| to == socket))
    };
    assert!(has_it(&daemon.pid().to_string()));
    assert!(!has_it(broker) && !has_it(&server));
    let status = daemon.call("status", json!({}));
    let landlock = status["confinement"]["landlock"].as_str().unwrap();
    assert!(!landlock.contains("No such file"), "{landlock}");
    drop(kept);
    daemon.stop();
}

/// Under launchd the daemon takes the job's socket by its name; without one, it creates its own.
#[test]
fn launchd_hands_over() {
    let mut home = home!();
    home.set("XPC_SERVICE_NAME", "local.lored");
    let daemon = home.start();
    daemon.call("status", json!({}));
    daemon.stop();
    assert!(!home.socket().exists(), "its own socket goes with it");
    let listener = UnixListener::bind(home.socket()).unwrap();
    home.set("LISTEN_FDNAMES", "Listeners");
    let daemon = hand_over_with(&home, listener, "LISTEN_FDS=1");
    until("the job's socket", LONG, || daemon.try_connect("").ok());
    let lock = std::fs::read_to_string(home.data().join("lored.lock")).unwrap();
    let expected = format!("{}\nmanager launchd\n", daemon.pid());
    assert!(lock.starts_with(&expected), "{lock}");
    daemon.stop();
    assert!(home.socket().exists(), "the socket is the job's");
}

/// A descriptor that is not a listening socket is refused with the expected kind.
#[test]
fn something_else_that_is_handed_over_is_refused() {
    let home = home!();
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let daemon = hand_over(&home, UnixListener::from(OwnedFd::from(ours)));
    let ended = daemon.wait();
    assert_eq!(ended.status.code(), Some(3), "{ended}");
    assert!(ended.stderr.contains("ListenStream="), "{ended}");
}

/// systemd-socket-activate passes its socket on the first connection.
#[test]
fn systemd_activates_it() {
    let home = home!();
    let path = socket_of(&home);
    let mut command = Command::new("systemd-socket-activate");
    command.arg("--listen").arg(&path);
    for (name, value) in home.command().get_envs() {
        let mut set = name.to_os_string();
        set.push("=");
        set.push(value.unwrap_or_default());
        command.arg("-E").arg(set);
    }
    command
        .arg(home.program())
        .arg("serve")
        .stdin(Stdio::null());
    let daemon = home.spawn_command(command);
    // The file exists a moment before the socket listens.
    until("the socket of systemd-socket-activate", LONG, || {
        UnixStream::connect(&path).ok()
    });
    let reply = daemon.call("record_step", json!({"tool": "t", "result": 1}));
    assert_eq!(reply["step"], 1);
    daemon.stop();
}

/// A manager's end of `NOTIFY_SOCKET`.
struct Manager {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Manager {
    fn of(home: &Home) -> Self {
        let path = home.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        Self { socket, path }
    }

    /// Returns the lines of the next message that is not a watchdog ping.
    fn next(&self) -> Vec<String> {
        loop {
            let lines = self.any();
            if lines != ["WATCHDOG=1"] {
                return lines;
            }
        }
    }

    fn any(&self) -> Vec<String> {
        let mut bytes = [0; 4096];
        let count = self.socket.recv(&mut bytes).expect("a message");
        let text = std::str::from_utf8(&bytes[..count]).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

/// Notifications: ready once calls are answered, watchdog pings in time, reloading, ready again, stopping.
#[test]
fn the_manager_is_told() {
    let mut home = home!();
    let manager = Manager::of(&home);
    home.set("NOTIFY_SOCKET", manager.path.to_str().unwrap());
    home.set("WATCHDOG_USEC", "40000");
    let daemon = home.spawn();
    assert_eq!(manager.next(), ["READY=1", "STATUS=serving"]);
    daemon.try_connect("").expect("ready means that it answers");
    for _ in 0..3 {
        assert_eq!(manager.any(), ["WATCHDOG=1"]);
    }
    daemon.signal(Signal::HUP);
    let reloading = manager.next();
    assert_eq!(reloading[0], "RELOADING=1");
    assert!(reloading[1].starts_with("MONOTONIC_USEC="), "{reloading:?}");
    assert_eq!(manager.next()[0], "READY=1");
    daemon.signal(Signal::TERM);
    assert_eq!(manager.next(), ["STOPPING=1"]);
    assert!(daemon.wait().status.success());
}

/// Settings reload on SIGHUP and when the file is saved. A mistake is reported with its place and changes nothing;
/// settings that need a restart are listed.
#[test]
fn settings_are_read_again() {
    let (home, daemon) = serve!("[checkpoints]\nper_session_max = 1000");
    let warnings = || daemon.call("status", json!({}))["warnings"].to_string();
    let limit = || {
        let status = daemon.call("status", json!({}));
        status["limits"]["checkpoint_bytes"].as_u64().unwrap()
    };
    let before = limit();
    // Saved without a signal.
    home.configure("[checkpoints]\ntotal_bytes_max = 1048576");
    until("the new limit", LONG, || {
        (limit() == 1_048_576).then_some(())
    });
    // A mistake.
    home.configure("[checkpoints]\ntotal_bytes_max = 2097152\ntotal_bytes = 1");
    daemon.signal(Signal::HUP);
    let reported = until("what is wrong", LONG, || {
        Some(warnings()).filter(|reported| reported.contains("config.toml:3:1"))
    });
    has_words(&reported, &["did you mean `total_bytes_max`?"]);
    assert_eq!(limit(), 1_048_576, "the settings before are in force");
    // Fixed, with a setting that needs a restart.
    home.configure("[checkpoints]\ntotal_bytes_max = 2097152\n[engine]\nreserve_bytes = 4194304");
    daemon.signal(Signal::HUP);
    until("the mended limit", LONG, || {
        (limit() == 2_097_152).then_some(())
    });
    // The limit is in force a moment before the report of it.
    until("the report of the mended settings", LONG, || {
        let reported = warnings();
        (reported.contains("engine.reserve_bytes") && !reported.contains("config.toml:"))
            .then_some(())
    });
    // A new connection has the new limits, an existing one keeps its own.
    let mut old = daemon.connect("");
    home.configure("[limits]\nwrites_per_second_max = 1");
    daemon.signal(Signal::HUP);
    let record = json!({"tool": "t", "result": 1});
    until("the new quota", LONG, || {
        let mut new = daemon.connect("");
        let mut refused = |_| match tests::call(&mut new, "record_step", record.clone()) {
            Err(lore::connection::Error::Refused(body)) => body.code == Code::RateLimited,
            _ => false,
        };
        (0..2).any(&mut refused).then_some(())
    });
    for _ in 0..3 {
        tests::call(&mut old, "record_step", record.clone()).unwrap();
    }
    // Without a file the defaults apply.
    std::fs::remove_file(home.path().join("config.toml")).unwrap();
    until("the default", LONG, || (limit() == before).then_some(()));
    daemon.stop();
}

/// Settings behind a link are reloaded when the target is saved, and when the link's target changes.
/// A relative path in `--config` works, too.
#[test]
fn settings_behind_a_link() {
    let home = home!();
    let kept = home.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let write = |name: &str, bytes: u64| {
        let text = format!("[checkpoints]\ntotal_bytes_max = {bytes}\n");
        std::fs::write(kept.join(name), text).unwrap();
    };
    write("one.toml", 1 << 20);
    write("other.toml", 2 << 20);
    let link = |name: &str| {
        let new = home.path().join("new.toml");
        std::os::unix::fs::symlink(kept.join(name), &new).unwrap();
        std::fs::rename(new, home.path().join("mine.toml")).unwrap();
    };
    link("one.toml");
    let mut command = home.command();
    command.args(["--config", "mine.toml", "serve"]);
    command.current_dir(home.path());
    let daemon = home.spawn_command(command);
    until("a daemon that serves", LONG, || daemon.try_connect("").ok());
    let follows = |bytes: u64| {
        until("the new limit", LONG, || {
            let status = daemon.call("status", json!({}));
            (status["limits"]["checkpoint_bytes"] == bytes).then_some(())
        });
    };
    follows(1 << 20);
    write("one.toml", 3 << 20);
    follows(3 << 20);
    link("other.toml");
    follows(2 << 20);
    write("other.toml", 5 << 20);
    follows(5 << 20);
    daemon.stop();
}

/// An unreadable or malformed file is reported and changes nothing.
#[test]
fn an_unreadable_file_changes_nothing() {
    let (home, daemon) = serve!();
    let config = home.path().join("config.toml");
    std::fs::remove_file(&config).unwrap();
    std::fs::create_dir(&config).unwrap();
    std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o700)).unwrap();
    daemon.signal(Signal::HUP);
    until("what is wrong", LONG, || {
        let reported = daemon.call("status", json!({}))["warnings"].to_string();
        reported
            .contains("the settings were not taken")
            .then_some(())
    });
    daemon.call("record_step", json!({"tool": "t", "result": 1}));
    daemon.stop();
}

/// Behind a manager's socket a daemon waits, and reports, while another process works on the store; clients wait
/// with it. Without a manager they get an error.
#[test]
fn maintenance_is_waited_for() {
    let mut home = home!();
    home.make_data();
    let lock = std::fs::File::create(home.data().join("lored.lock")).unwrap();
    lock.lock().unwrap();
    let holder = format!("{}\nmanager none\nmaintenance\n", std::process::id());
    std::fs::write(home.data().join("lored.lock"), holder).unwrap();
    let manager = Manager::of(&home);
    home.set("NOTIFY_SOCKET", manager.path.to_str().unwrap());
    let path = socket_of(&home);
    let daemon = hand_over(&home, UnixListener::bind(&path).unwrap());
    assert_eq!(manager.next(), ["EXTEND_TIMEOUT_USEC=60000000"]);
    let waiting = std::thread::spawn(move || {
        lore::connection::Connection::connect(&path, &Default::default()).map(drop)
    });
    lock.unlock().unwrap();
    assert_eq!(manager.next()[0], "READY=1");
    waiting.join().unwrap().expect("it is answered");
    daemon.stop();
}

/// A daemon that is stopped during this wait ends cleanly.
#[test]
fn a_stop_ends_the_wait_for_maintenance() {
    let mut home = home!();
    home.make_data();
    let lock = std::fs::File::create(home.data().join("lored.lock")).unwrap();
    lock.lock().unwrap();
    std::fs::write(home.data().join("lored.lock"), "1\nmaintenance\n").unwrap();
    let manager = Manager::of(&home);
    home.set("NOTIFY_SOCKET", manager.path.to_str().unwrap());
    let daemon = hand_over(&home, UnixListener::bind(socket_of(&home)).unwrap());
    assert_eq!(manager.next(), ["EXTEND_TIMEOUT_USEC=60000000"]);
    daemon.stop();
}

/// The manager is notified of a longer start while views of an older version are rebuilt.
#[test]
fn a_long_start_is_told() {
    let mut home = home!();
    home.make_data();
    let store = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/store-1.tar.gz");
    let unpacked = Command::new("tar")
        .args(["-xzf", store, "-C"])
        .arg(home.data())
        .status();
    assert!(unpacked.unwrap().success());
    let manager = Manager::of(&home);
    home.set("NOTIFY_SOCKET", manager.path.to_str().unwrap());
    let daemon = home.spawn();
    assert_eq!(manager.next(), ["EXTEND_TIMEOUT_USEC=60000000"]);
    assert_eq!(manager.next()[0], "READY=1");
    daemon.stop();
}
