//! `lore service`: installed files, and calls of a fake systemctl script. In addition, no client starts a
//! daemon when a service manager is responsible. Another test covers systemd's handling of the units.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lore::paths::Paths;
use lore::protocol::frame::Hello;
use lore::start;
use serde_json::Value;
use support::cli::parts;
use support::{Peer, listen};
use tempfile::TempDir;

/// Records its arguments; `enable` and `disable` create and remove the link as systemd does.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "systemctl $*" >> "$RECORD"
wants="$XDG_CONFIG_HOME/systemd/user/sockets.target.wants"
case "$*" in
  *"$FAIL_ON"*) echo "no such luck" >&2; exit 7 ;;
  *enable*--now*lored.socket) mkdir -p "$wants"; ln -sf ../lored.socket "$wants/lored.socket" ;;
  *disable*) rm -f "$wants/lored.socket" ;;
  *show*) printf 'Id=lored.socket\nLoadState=loaded\nActiveState=active\nSubState=listening\n' ;;
esac
"#;

/// A user's folders in which systemd seems to run.
struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Self { folder };
        for (below, mode) in [("bin", 0o755), ("run", 0o700), ("run/systemd", 0o700)] {
            fs::create_dir(fixture.at(below)).unwrap();
            fs::set_permissions(fixture.at(below), Permissions::from_mode(mode)).unwrap();
        }
        fs::write(fixture.at("run/systemd/private"), "").unwrap();
        let script = fixture.at("bin/systemctl");
        fs::write(&script, SYSTEMCTL).unwrap();
        fs::set_permissions(script, Permissions::from_mode(0o755)).unwrap();
        fixture
    }

    fn at(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn variables(&self) -> Vec<(&'static str, OsString)> {
        let path = format!("{}:/usr/bin:/bin", self.at("bin").display());
        vec![
            ("HOME", self.at("").into()),
            ("XDG_CONFIG_HOME", self.at(".config").into()),
            ("XDG_RUNTIME_DIR", self.at("run").into()),
            ("RECORD", self.at("record").into()),
            ("FAIL_ON", "nothing at all".into()),
            ("LORE_DAEMON", "/opt/lore/lored".into()),
            ("PATH", path.into()),
        ]
    }

    fn paths(&self) -> Paths {
        let variables = self.variables();
        let find = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.clone())
        };
        Paths::from_variables(find, lore::paths::our_uid(), None).unwrap()
    }

    fn lore_with(&self, more: &[(&str, &str)], arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lore"));
        command.env_clear().envs(self.variables());
        command.envs(more.iter().copied()).args(arguments);
        parts(command.stdin(Stdio::null()).output().unwrap())
    }

    fn lore(&self, arguments: &[&str]) -> (i32, String, String) {
        self.lore_with(&[], arguments)
    }

    /// Returns the systemctl calls since the last query.
    fn reported(&self) -> Vec<String> {
        let reported = fs::read_to_string(self.at("record")).unwrap_or_default();
        let _ = fs::remove_file(self.at("record"));
        reported.lines().map(str::to_owned).collect()
    }

    fn unit(&self, name: &str) -> PathBuf {
        self.at(".config/systemd/user").join(name)
    }
}

const RELOAD: &str = "systemctl --user daemon-reload";
const RESET: &str = "systemctl --user reset-failed lored.socket lored.service";
const ENABLE: &str = "systemctl --user enable --now lored.socket";
const RESTART: &str = "systemctl --user try-restart lored.service";
const STOP: &str = "systemctl --user stop lored.socket lored.service";
const DISABLE: &str = "systemctl --user disable --now lored.socket lored.service";
const DISABLE_SOCKET: &str = "systemctl --user disable --now lored.socket";

/// Units of an older version and modified units are reported with the remedy.
/// Nothing is reported without units or with those of this version.
#[test]
fn older_units_are_told() {
    let fixture = Fixture::new();
    let units_with = |more: &[(&str, &str)]| {
        let (_, out, err) = fixture.lore_with(more, &["doctor", "--json"]);
        assert_eq!(out.matches("\"schema_version\"").count(), 1, "{out}");
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        let findings = report["findings"].as_array().unwrap().clone();
        findings
            .into_iter()
            .find(|finding| finding["check"] == "units")
    };
    let units = || units_with(&[]);
    assert_eq!(units(), None);
    assert_eq!(fixture.lore(&["service", "install"]).0, 0);
    assert_eq!(units().unwrap()["state"], "good");
    let home = fixture.at("elsewhere");
    let socket = fixture.at("elsewhere.sock");
    for elsewhere in [("LORE_HOME", &home), ("LORE_SOCKET", &socket)] {
        let elsewhere = [(elsewhere.0, elsewhere.1.to_str().unwrap())];
        assert_eq!(units_with(&elsewhere), None, "they are not of these places");
    }
    let service = fs::read_to_string(fixture.unit("lored.service")).unwrap();
    fs::write(
        fixture.unit("lored.service"),
        service.replace("Type=notify", "Type=simple"),
    )
    .unwrap();
    let reported = units().unwrap();
    assert_eq!(reported["state"], "warning");
    assert!(
        reported["seen"].as_str().unwrap().contains("lored.service"),
        "{reported}"
    );
    assert!(
        reported["remedy"]
            .as_str()
            .unwrap()
            .contains("lore service install"),
        "{reported}"
    );
    fs::write(
        fixture.unit("lored.service"),
        "[Service]\nExecStart=/bin/true\n",
    )
    .unwrap();
    fs::remove_file(fixture.unit("lored.socket")).unwrap();
    assert_eq!(units(), None, "somebody's own unit");
}

/// `install` is idempotent; other units are not installed while their socket listens.
#[test]
fn an_installation_may_be_repeated() {
    let fixture = Fixture::new();
    let (code, out, err) = fixture.lore(&["service", "install"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out.matches("wrote ").count(), 2, "{out}");
    assert_eq!(fixture.reported(), [RELOAD, RESET, ENABLE, RESTART]);
    let service = fs::read_to_string(fixture.unit("lored.service")).unwrap();
    assert!(
        service.contains("\nExecStart=/opt/lore/lored serve\n"),
        "{service}"
    );
    // Only what the units set for every place.
    assert_eq!(service.matches("Environment=").count(), 1, "{service}");

    let (code, out, _) = fixture.lore(&["service", "install"]);
    assert_eq!((code, out.matches("wrote ").count()), (0, 0), "{out}");
    assert_eq!(fixture.reported(), [RELOAD, RESET, ENABLE, RESTART]);

    let moved = [("LORE_DAEMON", "/opt/other/lored")];
    let (code, out, _) = fixture.lore_with(&moved, &["service", "install", "--json"]);
    let reply: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &reply["schema_version"]),
        (0, &Value::from(1)),
        "{out}"
    );
    assert_eq!(reply["steps"][0]["step"], "write", "{out}");
    assert_eq!(fixture.reported(), [RELOAD, STOP, RESET, ENABLE, RESTART]);
}

/// A shell with other paths does not affect the service unless a flag requests it.
#[test]
fn an_installed_service_is_not_moved_by_chance() {
    let fixture = Fixture::new();
    assert_eq!(fixture.lore(&["service", "install"]).0, 0);
    let read =
        || ["lored.socket", "lored.service"].map(|name| fs::read_to_string(fixture.unit(name)));
    let before = read().map(Result::unwrap);
    fixture.reported();
    let home = fixture.at("elsewhere").to_str().unwrap().to_owned();
    let usual = fixture.paths().socket.to_str().unwrap().to_owned();
    let moved = [("LORE_HOME", home.as_str())];
    let same_socket = [moved[0], ("LORE_SOCKET", usual.as_str())];
    for variables in [&moved[..], &same_socket] {
        let (code, _, err) = fixture.lore_with(variables, &["service", "install"]);
        assert_eq!(code, 1);
        assert!(
            err.contains("another socket or home") && err.contains("--force"),
            "{err}"
        );
    }
    assert_eq!(read().map(Result::unwrap), before);
    assert_eq!(fixture.reported(), [""; 0]);

    let (code, _, err) = fixture.lore_with(&moved, &["service", "install", "--force"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        read()[1]
            .as_ref()
            .unwrap()
            .contains(&format!("Environment=LORE_HOME={home}"))
    );
    assert_eq!(fixture.reported(), [RELOAD, STOP, RESET, ENABLE, RESTART]);
    assert_eq!(
        fixture.lore_with(&moved, &["service", "install"]).0,
        0,
        "repeated there"
    );
}

/// `uninstall` removes only installed files; foreign files are neither overwritten nor removed.
#[test]
fn files_of_others_stay() {
    let fixture = Fixture::new();
    assert_eq!(fixture.lore(&["service", "install"]).0, 0);
    let own = "[Service]\nExecStart=/mine\n";
    fs::write(fixture.unit("lored.service"), own).unwrap();
    let (code, _, err) = fixture.lore(&["service", "install"]);
    assert_eq!(code, 1);
    assert!(err.contains("was not written by lore"), "{err}");
    fixture.reported();

    let (code, out, _) = fixture.lore(&["service", "uninstall"]);
    assert_eq!((code, out.matches("removed ").count()), (0, 1), "{out}");
    assert_eq!(fixture.reported(), [DISABLE_SOCKET, RELOAD]);
    assert!(!fixture.unit("lored.socket").exists());
    assert_eq!(
        fs::read_to_string(fixture.unit("lored.service")).unwrap(),
        own
    );

    fs::remove_file(fixture.unit("lored.service")).unwrap();
    let (code, out, err) = fixture.lore(&["service", "uninstall"]);
    assert_eq!(
        (code, out.as_str()),
        (1, ""),
        "a second time there is nothing"
    );
    assert!(err.contains("no service is installed"), "{err}");
}

/// A dry run reports all steps and changes nothing, also without systemd.
#[test]
fn a_dry_run_does_nothing() {
    let fixture = Fixture::new();
    let (code, out, _) = fixture.lore(&["service", "install", "--dry-run"]);
    assert_eq!(code, 0);
    for reported in [
        "    Type=notify\n",
        "    ListenStream=%t/lore/lore.sock\n",
        ENABLE,
    ] {
        assert!(out.contains(reported), "{reported}: {out}");
    }
    let (code, out, _) = fixture.lore(&["service", "install", "--dry-run", "--system", "--json"]);
    let reply: Value = serde_json::from_str(&out).unwrap();
    let steps = reply["steps"].as_array().unwrap();
    let paths: Vec<_> = steps
        .iter()
        .filter_map(|step| step["path"].as_str())
        .collect();
    assert_eq!((code, &reply["dry_run"]), (0, &Value::from(true)));
    assert_eq!(
        paths,
        [
            "/etc/systemd/system/lored.socket",
            "/etc/systemd/system/lored.service",
            "/etc/sysusers.d/lored.conf"
        ]
    );
    let hidden = [("LORE_DAEMON", "/root/.cargo/bin/lored")];
    let (code, _, err) =
        fixture.lore_with(&hidden, &["service", "install", "--dry-run", "--system"]);
    assert!(code == 1 && err.contains("/usr/local/bin"), "{err}");

    assert_eq!(fixture.reported(), [""; 0]);
    assert!(!fixture.at(".config").exists() && !fixture.at(".local").exists());
}

/// If systemd is missing or refuses, the reason and an alternative are reported.
#[test]
fn refusals_tell_what_to_do() {
    let fixture = Fixture::new();
    let (code, _, err) = fixture.lore_with(&[("FAIL_ON", "--now")], &["service", "install"]);
    assert_eq!(code, 1);
    for reported in [
        "enable --now lored.socket` failed",
        "exit status: 7",
        "no such luck",
    ] {
        assert!(err.contains(reported), "{err}");
    }
    fs::remove_file(fixture.at("run/systemd/private")).unwrap();
    for command in ["install", "uninstall"] {
        let (code, _, err) = fixture.lore(&["service", command]);
        assert_eq!(code, 1);
        assert!(err.contains("no systemd runs for this user"), "{err}");
        assert!(
            err.contains("the first call of any client starts the daemon"),
            "{err}"
        );
    }
    let (code, _, err) = fixture.lore(&["service", "install", "--root", "/x"]);
    assert!(code == 2 && err.contains("--system"), "{err}");
}

/// Serves under the lock until it is stopped. Not a test: the next test starts it.
#[test]
#[ignore = "what another test starts as its daemon"]
fn serve() {
    let (Ok(paths), Some(ready)) = (Paths::find(None), std::env::var_os("READY")) else {
        return;
    };
    lore::paths::ensure_folder(&paths.data).unwrap();
    let lock = OpenOptions::new()
        .create(true)
        .append(true)
        .open(paths.daemon_lock());
    let mut lock = lock.unwrap();
    lock.lock().unwrap();
    writeln!(lock, "{}\nmanager client", std::process::id()).unwrap();
    let listener = listen(&paths);
    OpenOptions::new()
        .write(true)
        .open(ready)
        .unwrap()
        .write_all(b"\n")
        .unwrap();
    loop {
        drop(Peer::accept(&listener));
    }
}

/// Starts a daemon as a client does and waits until it serves.
fn client_daemon(fixture: &Fixture) -> Child {
    let ready = fixture.at("ready");
    nix::unistd::mkfifo(&ready, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "serve", "--ignored"])
        .env_clear()
        .envs(fixture.variables())
        .env("READY", &ready)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(File::open(&ready).unwrap())
        .read_line(&mut line)
        .unwrap();
    child
}

/// A daemon that a client started is stopped before systemd's socket listens, so that no two daemons run.
#[test]
fn the_daemon_of_a_client_hands_over() {
    let fixture = Fixture::new();
    let mut daemon = client_daemon(&fixture);
    let (code, out, _) = fixture.lore(&["service", "status", "--json"]);
    let known: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &known["manager"]),
        (0, &Value::from("client")),
        "{out}"
    );
    assert_eq!(known["daemon"]["process"], daemon.id(), "{out}");
    assert_eq!(known["lock"]["manager"], "client", "{out}");
    assert_eq!(known["units"][0]["state"], "active (listening)", "{out}");

    let stop = format!("stop lored, process {}", daemon.id());
    let (_, out, _) = fixture.lore(&["service", "install", "--dry-run"]);
    assert!(out.contains(&stop), "{out}");
    assert!(
        daemon.try_wait().unwrap().is_none(),
        "a dry run stops nobody"
    );

    fixture.reported();
    let (code, out, err) = fixture.lore(&["service", "install"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(&stop.replace("stop", "stopped")), "{out}");
    assert!(!daemon.wait().unwrap().success(), "it was told to stop");
    assert_eq!(fixture.reported(), [RELOAD, RESET, ENABLE, RESTART]);
    let (code, out, _) = fixture.lore(&["service", "status"]);
    assert_eq!(code, 1, "nobody serves");
    let mut lines = out.lines();
    let manager = lines.find(|line| line.starts_with("started by")).unwrap();
    assert!(manager.ends_with(" systemd"), "{out}");
}

/// A daemon without a manager is stopped by its process id; a process with a reused id is left alone.
#[test]
fn stop_ends_the_daemon_and_nobody_else() {
    let fixture = Fixture::new();
    let mut daemon = client_daemon(&fixture);
    let (code, out, err) = fixture.lore(&["service", "stop"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(out, format!("stopped lored, process {}\n", daemon.id()));
    assert!(!daemon.wait().unwrap().success(), "it was told to stop");

    let mut stranger = Command::new("sleep").arg("600").spawn().unwrap();
    let lock = fixture.paths().daemon_lock();
    fs::write(&lock, format!("{}\nmanager client\n", stranger.id())).unwrap();
    let (code, out, err) = fixture.lore(&["service", "stop"]);
    assert_eq!((code, out.as_str()), (1, ""), "as status has it");
    assert!(err.contains("the daemon is not running"), "{err}");

    // A lock holder that is not a daemon, or that belongs to a manager, is reported.
    let held = OpenOptions::new().append(true).open(&lock).unwrap();
    held.lock().unwrap();
    for (who, reported) in [
        ("none\nmaintenance", "works on the store"),
        (
            "systemd",
            "systemctl --user stop lored.socket lored.service",
        ),
        ("launchd", "launchctl bootout gui/"),
        ("client", "does not answer"),
    ] {
        fs::write(&lock, format!("{}\nmanager {who}\n", stranger.id())).unwrap();
        let (code, _, err) = fixture.lore(&["service", "stop"]);
        assert!(code == 1 && err.contains(reported), "{who}: {err}");
    }
    let for_all = [("LORE_SOCKET", "/run/lore/lore.sock")];
    let (code, _, err) = fixture.lore_with(&for_all, &["service", "stop"]);
    assert!(code == 1 && err.contains("sudo systemctl stop"), "{err}");
    assert!(
        stranger.try_wait().unwrap().is_none(),
        "nobody signalled it"
    );
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    assert_eq!(fixture.reported(), [""; 0]);
}

/// A lock holder that does not answer is not killed.
#[test]
fn a_silent_holder_is_left_alone() {
    let fixture = Fixture::new();
    let paths = fixture.paths();
    lore::paths::ensure_folder(&paths.data).unwrap();
    let mut lock = OpenOptions::new()
        .create(true)
        .append(true)
        .open(paths.daemon_lock());
    let lock = lock.as_mut().unwrap();
    lock.lock().unwrap();
    writeln!(lock, "{}", std::process::id()).unwrap();
    let (code, _, err) = fixture.lore(&["service", "install"]);
    let reported = format!(
        "process {} holds the lock and does not answer",
        std::process::id()
    );
    assert!(code == 1 && err.contains(&reported), "{err}");
    assert_eq!(fixture.reported(), [""; 0]);

    // A daemon that does not hold the lock is not killed either.
    lock.set_len(0).unwrap();
    writeln!(lock, "1").unwrap();
    let listener = listen(&paths);
    let peer = std::thread::spawn(move || drop(Peer::accept(&listener)));
    let (code, _, err) = fixture.lore(&["service", "install"]);
    peer.join().unwrap();
    assert!(
        code == 1 && err.contains("process 1 holds the lock, but process"),
        "{err}"
    );
}

/// If the socket unit is enabled, a client starts nothing and names the service manager that should.
#[test]
fn no_client_starts_a_daemon_beside_systemd() {
    let fixture = Fixture::new();
    assert_eq!(fixture.lore(&["service", "install"]).0, 0);
    let (code, _, err) = fixture.lore(&["call", "status"]);
    assert_eq!(code, 3, "{err}");
    let (code, _, err) = fixture.lore(&["status"]);
    assert_eq!(code, 3);
    assert!(err.contains("systemd manages lored"), "{err}");
    assert!(
        err.contains("systemctl --user status lored.socket"),
        "{err}"
    );
    assert!(
        !fixture.paths().log().exists(),
        "it would be the log of what a client starts"
    );

    // After `uninstall`, the first call starts the daemon again; here no daemon program exists.
    fixture.reported();
    assert_eq!(fixture.lore(&["service", "uninstall"]).0, 0);
    assert_eq!(fixture.reported(), [DISABLE, RELOAD]);
    // Where a store is, the place is the user's own, also if the folder of temporary files is in memory.
    let marker = fixture.paths().store_marker();
    std::fs::create_dir_all(marker.parent().unwrap()).unwrap();
    std::fs::write(marker, "").unwrap();
    let (code, _, err) = fixture.lore(&["status"]);
    assert!(
        code == 3 && err.contains("/opt/lore/lored could not be started"),
        "{err}"
    );
}

/// A client starts nothing either when a daemon of systemd holds the lock and listens elsewhere, or is restarting.
#[test]
fn the_lock_of_a_managed_daemon_is_heeded() {
    let home = tempfile::tempdir().unwrap();
    let paths = support::paths(home.path());
    lore::paths::ensure_folder(&paths.data).unwrap();
    let mut lock = OpenOptions::new()
        .create(true)
        .append(true)
        .open(paths.daemon_lock());
    let lock = lock.as_mut().unwrap();
    lock.lock().unwrap();
    write!(lock, "7\nmanager systemd\n").unwrap();
    let limit = Duration::from_millis(30);
    let error = start::connect_within(limit, &paths, &Hello::default()).unwrap_err();
    assert!(
        error.to_string().contains("systemd manages lored"),
        "{error}"
    );
    assert!(
        error
            .to_body()
            .hint
            .unwrap()
            .contains("lore service status")
    );
    assert!(!paths.log().exists());
}
