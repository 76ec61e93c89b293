//! `lored doctor` and `lore doctor`: problems are reported with their remedy, and safe fixes are applied.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tests::{Home, has_words, home, serve};

/// Returns the exit code and all findings.
fn doctor(home: &Home, flags: &[&str]) -> (i32, Vec<Value>) {
    let arguments = [&["doctor", "--json"], flags].concat();
    let output = home.run(&arguments);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(report["schema_version"], 1);
    let findings = report["findings"].as_array().unwrap().clone();
    (output.status.code().unwrap(), findings)
}

fn of<'f>(findings: &'f [Value], check: &str) -> &'f Value {
    let found = findings.iter().find(|finding| finding["check"] == check);
    found.unwrap_or_else(|| panic!("no finding on {check}: {findings:#?}"))
}

/// Returns the findings that are not good, without checks that depend on the machine.
fn troubles(findings: &[Value]) -> Vec<&Value> {
    let of_machine = ["watching", "open files", "disk space"];
    let is_trouble = |finding: &&Value| {
        finding["state"] != "good" && !of_machine.contains(&finding["check"].as_str().unwrap())
    };
    findings.iter().filter(is_trouble).collect()
}

/// Nothing is wrong before the first start, while a daemon serves, and after it has stopped.
#[test]
fn a_healthy_daemon_has_nothing() {
    let home = Home::on_disk(env!("CARGO_BIN_EXE_lored-under-test"));
    let (code, findings) = doctor(&home, &[]);
    assert_eq!((code, troubles(&findings)), (0, vec![]));
    let daemon = home.start();
    daemon.call("record_step", json!({"tool": "t", "result": 1}));
    let (code, findings) = doctor(&home, &[]);
    assert_eq!((code, troubles(&findings)), (0, vec![]));
    let seen = of(&findings, "socket")["seen"].to_string();
    assert!(seen.contains(&daemon.pid().to_string()), "{seen}");
    daemon.stop();
    let (code, findings) = doctor(&home, &[]);
    assert_eq!((code, troubles(&findings)), (0, vec![]));
    has_words(&of(&findings, "store")["seen"], &["2 events"]);
    let text = String::from_utf8(home.run(&["doctor"]).stdout).unwrap();
    assert!(text.contains("good     settings"), "{text}");
}

/// The client adds its own checks to the findings of the daemon's program, and reports if that is missing.
#[test]
fn the_client_asks_the_program() {
    let home = home!();
    let lore = |daemon: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_lore-under-test"))
            .args(["doctor", "--json"])
            .env_clear()
            .env("LORE_HOME", home.path())
            .env("LORE_DAEMON", daemon)
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (
            output.status.code().unwrap(),
            report["findings"].as_array().unwrap().clone(),
        )
    };
    let (code, findings) = lore(home.program());
    assert_eq!((code, troubles(&findings)), (0, vec![]));
    assert_eq!(findings[0]["check"], "client");
    of(&findings, "store");
    let (code, findings) = lore(Path::new("/bin/false"));
    assert_eq!(code, 1);
    assert_eq!(of(&findings, "daemon's program")["state"], "bad");
}

/// A mistake in the settings is reported with its line; the other checks continue.
#[test]
fn broken_settings() {
    let home = home!();
    home.configure("[engine]\nreserve = 1\n");
    let (code, findings) = doctor(&home, &[]);
    assert_eq!(code, 1);
    let settings = of(&findings, "settings");
    has_words(&settings["seen"], &["config.toml:2:1"]);
    of(&findings, "store");
}

/// Folders and files that others can read get private modes on request only.
#[test]
fn open_folders_are_closed() {
    let home = home!();
    home.start().stop();
    let head = home.data().join("head");
    fs::set_permissions(home.data(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&head, fs::Permissions::from_mode(0o644)).unwrap();
    let (code, findings) = doctor(&home, &[]);
    assert_eq!(code, 1);
    has_words(&of(&findings, "data folder")["remedy"], &["chmod 700"]);
    assert_eq!(of(&findings, "files")["state"], "warning");
    assert_eq!(
        fs::metadata(home.data()).unwrap().mode() & 0o777,
        0o755,
        "only told"
    );
    let (code, findings) = doctor(&home, &["--fix"]);
    assert_eq!(code, 0, "{findings:#?}");
    assert_eq!(of(&findings, "data folder")["fixed"], true);
    assert_eq!(fs::metadata(home.data()).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(&head).unwrap().mode() & 0o777, 0o600);
    let (code, findings) = doctor(&home, &[]);
    assert_eq!((code, troubles(&findings)), (0, vec![]));
}

/// A shared folder keeps its mode, even while it is empty.
#[test]
fn a_shared_folder_stays_open() {
    let home = home!();
    home.start().stop();
    let shared = home.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let output = home
        .command()
        .args(["doctor", "--json", "--fix"])
        .env("LORE_SOCKET", shared.join("lore.sock"))
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let folder = of(findings, "socket folder");
    assert_eq!(folder["state"], "bad", "{folder}");
    assert!(folder["remedy"].to_string().contains("LORE_SOCKET"));
    assert_eq!(fs::metadata(&shared).unwrap().mode() & 0o7777, 0o1777);
}

/// The socket of a killed daemon is removed on request; another file in its place is not.
#[test]
fn what_is_in_the_way_of_the_socket() {
    let home = home!();
    home.start().kill();
    assert!(home.socket().exists());
    let (code, findings) = doctor(&home, &[]);
    assert_eq!(code, 0);
    assert_eq!(of(&findings, "socket")["state"], "warning");
    let (_, findings) = doctor(&home, &["--fix"]);
    assert_eq!(of(&findings, "socket")["fixed"], true);
    assert!(!home.socket().exists());
    fs::write(home.socket(), "mine").unwrap();
    let (code, findings) = doctor(&home, &["--fix"]);
    assert_eq!(code, 1);
    has_words(&of(&findings, "socket")["remedy"], &["mv "]);
    assert_eq!(fs::read_to_string(home.socket()).unwrap(), "mine");
}

/// A newer store, a foreign store and a missing store each have an error with the remedy, and stay unchanged.
#[test]
fn stores_that_do_not_open() {
    let home = home!();
    home.start().stop();
    let superblock = home.data().join("store/lore-store");
    let copy = home.data().join("store/lore-store.copy");
    let good = fs::read_to_string(&superblock).unwrap();
    for (text, seen, remedy) in [
        ("lore-store 99 00", "format 99", "newer lored"),
        ("something else", "not a lore store", "LORE_HOME"),
    ] {
        for path in [&superblock, &copy] {
            fs::write(path, text).unwrap();
        }
        let (code, findings) = doctor(&home, &["--fix"]);
        assert_eq!(code, 1);
        let store = of(&findings, "store");
        assert!(store["seen"].to_string().contains(seen), "{store}");
        assert!(store["remedy"].to_string().contains(remedy), "{store}");
        assert_eq!(fs::read_to_string(&superblock).unwrap(), text);
    }
    fs::write(&superblock, good).unwrap();
    let daemon = home.start();
    daemon.call("record_step", json!({"tool": "t", "result": 1}));
    daemon.stop();
    fs::rename(home.data().join("store"), home.data().join("away")).unwrap();
    let (code, findings) = doctor(&home, &[]);
    assert_eq!(code, 1);
    let store = of(&findings, "store");
    has_words(&store["seen"], &["it held 2 events"]);
}

/// A daemon that holds the lock and does not answer is reported with its process.
#[test]
fn a_daemon_that_does_not_answer() {
    let (home, daemon) = serve!();
    fs::remove_file(home.socket()).unwrap();
    let (code, findings) = doctor(&home, &["--fix"]);
    assert_eq!(code, 1);
    let socket = of(&findings, "socket");
    assert!(
        socket["remedy"]
            .to_string()
            .contains(&daemon.pid().to_string()),
        "{socket}"
    );
    daemon.kill();
}

/// Requirements of the settings that the machine does not meet: space, open files.
#[test]
fn settings_that_want_too_much() {
    let (home, daemon) = serve!("[engine]\ndisk_free_bytes_min = 1000000000000000\n");
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], false, "told before a write is refused");
    daemon.stop();
    let (code, findings) = doctor(&home, &["--fix"]);
    assert_eq!(code, 1);
    let space = of(&findings, "disk space");
    assert_eq!(space["state"], "bad");
    has_words(&space["remedy"], &["Free some space"]);
    let output = Command::new("/bin/sh")
        .arg("-c")
        .arg("ulimit -n 200; exec \"$0\" doctor --json")
        .arg(home.program())
        .env_clear()
        .env("LORE_HOME", home.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = of(report["findings"].as_array().unwrap(), "open files");
    assert_eq!(files["state"], "warning", "{files}");
    has_words(&files["remedy"], &["ulimit -n 1280"]);
}

/// Folders that cannot be created are reported before the first start fails.
#[test]
fn folders_that_cannot_be_made() {
    let home = home!();
    let parent = home.path().join("parent");
    fs::create_dir(&parent).unwrap();
    fs::set_permissions(&parent, fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = home.command();
    if rustix::process::geteuid().is_root() {
        // Root can open every folder: another user asks, with the program in a readable place.
        let program = home.path().join("lored");
        fs::copy(home.program(), &program).unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o711)).unwrap();
        command = Command::new(program);
        command.env_clear().uid(61_001).gid(61_001).current_dir("/");
    }
    let output = command
        .args(["doctor", "--json"])
        .env("LORE_HOME", parent.join("none"))
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let data = of(findings, "data folder");
    assert_eq!(output.status.code(), Some(1), "{data}");
    assert_eq!(data["state"], "bad", "{data}");
    has_words(&data["seen"], &["cannot be made"]);
    assert!(data["remedy"].to_string().contains("LORE_HOME"), "{data}");
}

/// The mode of a folder with foreign files is not changed, even on request.
#[test]
fn a_shared_folder_is_not_closed() {
    let home = home!();
    let shared = home.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::write(shared.join("letter"), "").unwrap();
    for mode in [0o755, 0o1777] {
        fs::set_permissions(&shared, fs::Permissions::from_mode(mode)).unwrap();
        let socket = shared.join("lore.sock");
        let (code, findings) = doctor(&home, &["--fix", "--socket", socket.to_str().unwrap()]);
        let folder = of(&findings, "socket folder");
        assert_eq!(code, 1);
        assert_eq!(folder["state"], "bad");
        assert_eq!(folder["fixed"], false);
        has_words(&folder["remedy"], &["LORE_SOCKET"]);
        assert_eq!(fs::metadata(&shared).unwrap().mode() & 0o7777, mode);
    }
}

/// An invalid lock and an invalid durable watermark are reported with the remedy and stay unchanged.
#[test]
fn a_lock_and_a_head_that_are_none() {
    let (home, daemon) = serve!();
    daemon.call("record_step", json!({"tool": "t", "result": 1}));
    daemon.stop();
    let (head, lock) = (home.data().join("head"), home.data().join("lored.lock"));
    fs::write(&head, "something else").unwrap();
    let (code, findings) = doctor(&home, &["--fix"]);
    let store = of(&findings, "store");
    assert_eq!((code, &store["state"]), (1, &json!("bad")), "{store}");
    assert!(store["seen"].to_string().contains("head"), "{store}");
    has_words(&store["remedy"], &["lored repair"]);
    assert_eq!(fs::read_to_string(&head).unwrap(), "something else");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    let (code, findings) = doctor(&home, &["--fix"]);
    let reported = of(&findings, "lock");
    assert_eq!((code, &reported["state"]), (1, &json!("bad")), "{reported}");
    let remedy = reported["remedy"].as_str().unwrap();
    assert!(
        remedy.contains("while no daemon is running") && lock.is_dir(),
        "{reported}"
    );
}

/// Removing the lock of a running daemon would allow a second one: this is not suggested.
#[test]
fn a_lock_that_a_daemon_has_stays() {
    let (home, daemon) = serve!();
    let lock = home.data().join("lored.lock");
    fs::rename(&lock, home.path().join("aside")).unwrap();
    fs::create_dir(&lock).unwrap();
    let (code, findings) = doctor(&home, &[]);
    let reported = of(&findings, "lock");
    assert_eq!((code, &reported["state"]), (1, &json!("bad")), "{reported}");
    let remedy = reported["remedy"].as_str().unwrap();
    assert!(remedy.contains("Do not remove it"), "{remedy}");
    assert_eq!(of(&findings, "socket")["state"], "good");
    daemon.stop();
}

/// Between the minimum of free space and the threshold at which writes resume, a daemon writes: it is a warning.
#[test]
fn little_space_is_not_none() {
    let mut home = home!();
    home.start().stop();
    let free = rustix::fs::statvfs(home.path()).unwrap();
    let free = free.f_bavail * free.f_frsize;
    for (least, state) in [(free - (512 << 20), "warning"), (free * 2, "bad")] {
        home.set("LORE_ENGINE_DISK_FREE_BYTES_MIN", &least.to_string());
        home.set("LORE_ENGINE_RESERVE_BYTES", &(1 << 30).to_string());
        let (_, findings) = doctor(&home, &[]);
        let space = of(&findings, "disk space");
        assert_eq!(space["state"], state, "{space}");
        let shown = lore::sanitize::bytes(least);
        assert!(space["seen"].as_str().unwrap().contains(&shown), "{space}");
    }
}

/// A socket unit that is enabled while another daemon serves is reported with the steps for the units to take over.
#[test]
#[cfg(target_os = "linux")]
fn a_manager_that_does_not_serve() {
    let mut home = home!();
    let (runtime, config) = (home.path().join("runtime"), home.path().join("config"));
    let wants = config.join("systemd/user/sockets.target.wants");
    fs::create_dir_all(&wants).unwrap();
    fs::create_dir_all(runtime.join("systemd")).unwrap();
    fs::write(runtime.join("systemd/private"), "").unwrap();
    let unit = format!("[Socket]\nListenStream={}\n", home.socket().display());
    fs::write(wants.join("lored.socket"), unit).unwrap();
    home.set("XDG_RUNTIME_DIR", runtime.to_str().unwrap());
    home.set("XDG_CONFIG_HOME", config.to_str().unwrap());
    let nobody_listens = doctor(&home, &[]);
    let folder = home.socket().parent().unwrap().to_path_buf();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(home.socket()).unwrap();
    let gone = std::thread::spawn(move || drop(listener.accept()));
    for (code, findings) in [nobody_listens, doctor(&home, &[])] {
        let socket = of(&findings, "socket");
        assert_eq!((code, socket["state"].as_str()), (1, Some("bad")));
        let remedy = socket["remedy"].as_str().unwrap();
        assert!(remedy.contains("reset-failed lored.socket"), "{remedy}");
        assert!(!remedy.contains("End it"), "{remedy}");
    }
    gone.join().unwrap();
    fs::remove_file(home.socket()).unwrap();
    let daemon = home.start();
    let (_, findings) = doctor(&home, &[]);
    let manager = of(&findings, "manager");
    assert_eq!(manager["state"], "warning", "{manager}");
    has_words(&manager["seen"], &["systemd should run the daemon"]);
    has_words(&manager["remedy"], &["lore service install"]);
    daemon.stop();
}

/// Without a home the client reports the variable to set; a missing program is named.
#[test]
fn a_client_without_a_home() {
    let lore = |variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_lore-under-test"))
            .args(["doctor", "--json"])
            .env_clear()
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1));
        report["findings"].as_array().unwrap().clone()
    };
    let findings = lore(&[]);
    let places = of(&findings, "places");
    has_words(&places["seen"], &["set one of them"]);
    assert!(places["remedy"].is_string(), "{places}");
    let home = home!();
    let findings = lore(&[
        ("LORE_HOME", home.path().to_str().unwrap()),
        ("LORE_DAEMON", "/nonexistent/lored"),
    ]);
    let program = of(&findings, "daemon's program");
    has_words(&program["seen"], &["/nonexistent/lored"]);
    has_words(&program["remedy"], &["LORE_DAEMON"]);
}

/// A part of the data folder that is a link or not a folder is reported; parts that can be rebuilt may be removed.
#[test]
fn parts_that_are_no_folders() {
    let home = home!();
    home.start().stop();
    let index = home.data().join("index");
    let blobs = home.data().join("blobs");
    let _ = fs::remove_dir_all(&index);
    fs::write(&index, "").unwrap();
    fs::rename(&blobs, home.path().join("blobs")).unwrap();
    std::os::unix::fs::symlink("../blobs", &blobs).unwrap();
    let (code, findings) = doctor(&home, &["--fix"]);
    assert_eq!(code, 1);
    let of_parts: Vec<String> = findings
        .iter()
        .filter(|finding| finding["check"] == "data folder" && finding["state"] == "bad")
        .map(|finding| format!("{} {}", finding["seen"], finding["remedy"]))
        .collect();
    let [of_blobs, of_index] = of_parts.as_slice() else {
        panic!("{of_parts:?}");
    };
    has_words(of_blobs, &["symbolic link", "put the folder"]);
    has_words(of_index, &["is not a folder", "rebuilt"]);
    assert!(index.is_file() && blobs.is_symlink(), "left as they are");
}

/// A socket of another program is reported and not removed; so is a daemon of another data folder on this socket.
#[test]
fn somebody_else_behind_the_socket() {
    let home = home!();
    home.start().stop();
    let foreign = UnixListener::bind(home.socket()).unwrap();
    // Its answer is not a Welcome.
    let answering = std::thread::spawn(move || foreign.accept().map(drop));
    let (code, findings) = doctor(&home, &["--fix"]);
    answering.join().unwrap().unwrap();
    let socket = of(&findings, "socket");
    assert_eq!((code, &socket["state"]), (1, &json!("bad")), "{socket}");
    has_words(&socket["seen"], &["another process listens"]);
    assert!(home.socket().exists(), "it is left");
    fs::remove_file(home.socket()).unwrap();
    let daemon = home.start();
    let other = home!();
    let (_, findings) = doctor(&other, &["--socket", home.socket().to_str().unwrap()]);
    let warned = findings
        .iter()
        .find(|finding| finding["check"] == "socket" && finding["state"] == "warning");
    let seen = warned.expect("a warning")["seen"].to_string();
    assert!(seen.contains(home.data().to_str().unwrap()), "{seen}");
    daemon.stop();
}
