//! Invalid folders, locks and stores: each is refused with a separate error and left unchanged.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tests::{EndedDaemon, Home, home, serve};

fn refused(home: &Home) -> EndedDaemon {
    let ended = match home.try_start() {
        Ok(_) => panic!("the daemon serves"),
        Err(ended) => ended,
    };
    let mut lines = ended.stderr.lines();
    assert!(lines.any(|line| line.starts_with("lored: ")), "{ended}");
    assert!(!ended.stderr.contains("panicked"), "{ended}");
    ended
}

fn says(ended: &EndedDaemon, words: &[&str]) {
    for word in words {
        assert!(ended.stderr.contains(word), "{word:?} is not in: {ended}");
    }
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A command whose files are all named needs no home; others report the missing variable.
#[test]
fn what_needs_no_home_has_none() {
    let home = home!();
    let folder = home.path();
    let file = |name: &str, says: &str| {
        let path = folder.join(name);
        std::fs::write(&path, says).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = file("good.toml", "[documents]\nfile_bytes_max = 2048\n");
    let bad = file("bad.toml", "nonsense = 1\n");
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let secret = file("secret.txt", &format!("The token is {token}.\n"));
    let line = json!({"type": "entity", "name": "Ada", "entityType": "person"});
    let memory = file("memory.json", &line.to_string());
    let run = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = Command::new(home.program());
        command.env_clear().env("PATH", "/usr/bin:/bin");
        let command = command.envs(variables.iter().copied()).args(arguments);
        let output = command.current_dir(folder).output().unwrap();
        let said = [&output.stdout[..], &output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    };
    for (arguments, code, says) in [
        (&["config", "check", &good][..], 0, "good"),
        (&["config", "check", &bad], 1, "nonsense"),
        (&["config", "check", &good, "--json"], 0, "\"good\": true"),
        (&["config", "check", &bad, "--json"], 1, "nonsense"),
        (&["config", "default"], 0, "# "),
        (&["redact", &secret], 0, "The token is [redacted:"),
        (&["redact", "--check", &secret], 1, "1 found in 1 files"),
        (&["redact", "--config", &good, &secret], 0, "[redacted:"),
        (
            &["redact", "--config", "/nowhere", &secret],
            2,
            "/nowhere, which --config names, was not found",
        ),
        (&["convert", "memory", &memory], 0, "lore-export"),
        (&["convert", "memory", "/nowhere"], 3, "/nowhere"),
        (&["config", "check"], 2, "neither LORE_HOME nor HOME is set"),
        (&["config", "show"], 2, "neither LORE_HOME nor HOME is set"),
        (&["verify"], 2, "neither LORE_HOME nor HOME is set"),
    ] {
        let (ended, said) = run(&[], arguments);
        assert_eq!(ended, Some(code), "{arguments:?}: {said}");
        assert!(
            said.contains(says) && !said.contains(&token),
            "{arguments:?}: {said}"
        );
    }
    // Files written into an empty home are valid, and existing ones are never overwritten.
    let fresh = folder.join("fresh");
    for (code, says) in [(0, "config.toml is written"), (3, "is there already")] {
        let (ended, said) = run(
            &[("HOME", fresh.to_str().unwrap())],
            &["config", "default", "--write"],
        );
        assert_eq!(ended, Some(code), "{said}");
        assert!(said.contains(says), "{said}");
    }
    let written = fresh.join(".config/lore/config.toml");
    let mode_of = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode_of(&written), 0o600);
    assert_eq!(mode_of(written.parent().unwrap()), 0o700);
    let written = written.to_str().unwrap();
    assert_eq!(run(&[], &["config", "check", written]).0, Some(0));
    // An invalid home must not disable the settings in it.
    let (ended, said) = run(&[("HOME", "here")], &["redact", &secret]);
    assert_eq!(ended, Some(2), "{said}");
    assert!(said.contains("must begin with a slash"), "{said}");
    std::fs::write(folder.join("config.toml"), "nonsense = 1\n").unwrap();
    let (ended, said) = run(
        &[("LORE_HOME", folder.to_str().unwrap())],
        &["redact", &secret],
    );
    assert_eq!(ended, Some(2), "{said}");
    assert!(said.contains("nonsense"), "{said}");
}

/// The second daemon on one store is refused with the first one's process id. The first one continues, and after
/// its kill -9 the second one starts.
#[test]
fn two_daemons_on_one_store() {
    let (home, first) = serve!();
    let mut second = home.command();
    let output = second.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains(&first.pid().to_string()), "{said}");
    let elsewhere = home.path().join("run").join("other.sock");
    let output = home.run(&["serve", "--socket", elsewhere.to_str().unwrap()]);
    assert_eq!(
        output.status.code(),
        Some(3),
        "another socket is no other store"
    );
    first.call("record_step", json!({"tool": "t", "result": ""}));
    first.kill();
    let second = home.start();
    assert_eq!(second.verify(), 2);
}

/// A configured socket path that is too long for an address is refused with its length and the limit.
#[test]
fn socket_paths_that_are_too_long() {
    let home = home!();
    let long = home.path().join("x".repeat(120));
    let output = home.run(&["serve", "--socket", long.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("107") && said.contains("bytes"), "{said}");
}

/// A store written by a newer release is refused with both versions, and not changed.
#[test]
fn a_store_of_a_newer_version() {
    let (home, daemon) = serve!();
    daemon.call("record_step", json!({"tool": "t", "result": ""}));
    daemon.stop();
    let superblock = home.data().join("store").join("lore-store");
    let before = std::fs::read_to_string(&superblock).unwrap();
    let newer = before.replacen("lore-store 2 ", "lore-store 3 ", 1);
    assert_ne!(newer, before);
    let copy = home.data().join("store").join("lore-store.copy");
    for path in [&superblock, &copy] {
        std::fs::write(path, &newer).unwrap();
    }
    says(&refused(&home), &["format 3", "up to 2"]);
    assert_eq!(std::fs::read_to_string(&superblock).unwrap(), newer);
    // The copy is written again.
    std::fs::write(&superblock, before).unwrap();
    assert_eq!(home.start().verify(), 2);
}

/// A foreign folder in the store's place is refused and left unchanged, whatever it contains.
#[test]
fn a_folder_that_is_no_store() {
    let home = home!();
    home.make_data();
    let store = home.data().join("store");
    std::fs::create_dir(&store).unwrap();
    says(&refused(&home), &["is not a lore store"]);
    std::fs::write(store.join("letters.txt"), "mine").unwrap();
    says(&refused(&home), &["is not a lore store"]);
    assert_eq!(
        std::fs::read_to_string(store.join("letters.txt")).unwrap(),
        "mine"
    );
    std::fs::remove_dir_all(&store).unwrap();
    std::fs::write(&store, "a file").unwrap();
    refused(&home);
    assert_eq!(std::fs::read_to_string(&store).unwrap(), "a file");
}

/// A store that is missing although its durable watermark exists is not silently replaced by a new one.
#[test]
fn a_store_that_vanished() {
    let (home, daemon) = serve!();
    daemon.call("record_step", json!({"tool": "t", "result": ""}));
    daemon.stop();
    std::fs::rename(home.data().join("store"), home.path().join("moved")).unwrap();
    says(&refused(&home), &["missing", "2 events"]);
    // The same for an unreadable watermark: it is the rest of the proof.
    let head = home.data().join("head");
    let whole = std::fs::read(&head).unwrap();
    let broken = vec![0; whole.len()];
    std::fs::write(&head, &broken).unwrap();
    says(&refused(&home), &["missing", "is broken", "--accept"]);
    assert_eq!(std::fs::read(&head).unwrap(), broken);
    std::fs::write(&head, &whole).unwrap();
    std::fs::rename(home.path().join("moved"), home.data().join("store")).unwrap();
    assert_eq!(home.start().verify(), 2);
}

/// With an unreadable durable watermark and no store, `lored repair --accept` creates a new store and keeps
/// the watermark.
#[test]
fn a_store_that_vanished_behind_a_broken_head() {
    let (home, daemon) = serve!();
    daemon.call("record_step", json!({"tool": "t", "result": ""}));
    daemon.stop();
    std::fs::remove_dir_all(home.data().join("store")).unwrap();
    let head = home.data().join("head");
    std::fs::write(&head, "nonsense").unwrap();
    assert_eq!(home.run(&["repair"]).status.code(), Some(1));
    assert_eq!(std::fs::read(&head).unwrap(), b"nonsense");
    let repaired = home.run(&["repair", "--accept"]);
    assert_eq!(repaired.status.code(), Some(0), "{repaired:?}");
    let kept = std::fs::read(home.data().join("head.broken")).unwrap();
    assert_eq!(kept, b"nonsense");
    assert_eq!(home.start().verify(), 0);
}

/// A command started by systemd, such as a timer's backup, is not a daemon under systemd: clients still start a
/// daemon themselves.
#[test]
fn a_command_of_a_timer_manages_nothing() {
    let home = home!();
    home.start().stop();
    let kept = tempfile::tempdir().unwrap();
    let backup = "export SYSTEMD_EXEC_PID=$$; exec \"$0\" backup \"$1\"";
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", backup])
        .arg(home.program())
        .arg(kept.path().join("kept"))
        .env_clear()
        .env("LORE_HOME", home.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let lock = std::fs::read_to_string(home.data().join("lored.lock")).unwrap();
    assert!(lock.contains("\nmanager none\nmaintenance\n"), "{lock}");
}

/// A durable watermark of another store, or a missing one although there are events, is reported. Reads are served,
/// writes refused, and `lored repair --accept` enables them.
#[test]
fn a_head_that_is_missing() {
    let (home, daemon) = serve!();
    daemon.call("record_step", json!({"tool": "t", "result": {"id": 4}}));
    daemon.stop();
    std::fs::remove_file(home.data().join("head")).unwrap();
    let daemon = home.start();
    let status = daemon.call("status", json!({}));
    assert_eq!(status["writable"], false);
    let warnings = status["warnings"].to_string();
    assert!(warnings.contains("repair --accept"), "{warnings}");
    let body = daemon.refusal("record_step", json!({"tool": "t", "result": ""}));
    assert_eq!(body.code, lore::protocol::Code::StorageUnavailable);
    let steps = daemon.call("list_steps", json!({}));
    assert_eq!(
        steps["steps"].as_array().unwrap().len(),
        1,
        "reads are served"
    );
    daemon.stop();
    let repaired = home.run(&["repair", "--accept-head"]);
    assert_eq!(repaired.status.code(), Some(0), "{repaired:?}");
    let daemon = home.start();
    daemon.call("record_step", json!({"tool": "t", "result": ""}));
    assert_eq!(daemon.verify(), 3);
}

/// Folders that are open to others, or links, are refused with the remedy; nothing is created in them.
#[test]
fn folders_that_are_not_ours_alone() {
    let home = home!();
    home.make_data();
    mode(&home.data(), 0o755);
    says(&refused(&home), &["chmod 700"]);
    assert_eq!(std::fs::read_dir(home.data()).unwrap().count(), 0);
    mode(&home.data(), 0o700);
    let run = home.path().join("run");
    std::fs::create_dir(&run).unwrap();
    mode(&run, 0o770);
    says(&refused(&home), &["chmod 700"]);
    std::fs::remove_dir(&run).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), &run).unwrap();
    says(&refused(&home), &["symbolic link"]);
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    std::fs::remove_file(&run).unwrap();
    let daemon = home.start();
    let socket = std::fs::metadata(home.socket())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(socket & 0o777, 0o600);
    assert_eq!(
        std::fs::metadata(&run).unwrap().permissions().mode() & 0o777,
        0o700
    );
    daemon.stop();
}

/// Another kind of file at the socket's path is refused and left unchanged; a dead daemon's socket is replaced.
#[test]
fn what_is_in_the_sockets_place() {
    let home = home!();
    home.start().kill();
    assert!(home.socket().exists(), "a killed daemon leaves its socket");
    home.start().kill();
    std::fs::remove_file(home.socket()).unwrap();
    std::fs::write(home.socket(), "mine").unwrap();
    says(&refused(&home), &["is not a socket"]);
    assert_eq!(std::fs::read_to_string(home.socket()).unwrap(), "mine");
}

/// A socket with a listener is not replaced, be it another program or the daemon of another data folder; once the
/// listener is gone, its path is free.
#[test]
fn a_socket_that_somebody_listens_on() {
    let home = home!();
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(home.path().join("run"))
        .unwrap();
    let foreign = UnixListener::bind(home.socket()).unwrap();
    // The listener does not answer a Hello, so the command does not wait for it.
    says(
        &home.spawn().wait(),
        &["another process listens", "LORE_SOCKET"],
    );
    UnixStream::connect(home.socket()).expect("it is left alone");
    drop(foreign);
    let first = home.start();
    let other = home!();
    let output = other.run(&["serve", "--socket", home.socket().to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("another process listens"), "{said}");
    let status = first.call("status", json!({}));
    assert_eq!(status["pid"], first.pid());
}

/// For the lock and the settings, other kinds of files are refused, and a pipe does not block.
#[test]
fn pipes_and_folders_in_the_place_of_files() {
    let home = home!();
    home.start().stop();
    let config = home.path().join("config.toml");
    for (path, words) in [
        (
            home.data().join("lored.lock"),
            "is not a regular file; move it away",
        ),
        (config.clone(), "it is a pipe"),
    ] {
        let before = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        says(&home.spawn().wait(), &[words]);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, before).unwrap();
    }
    // Every command reports an unusable lock instead of assuming a daemon.
    let lock = home.data().join("lored.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    for command in ["verify", "repair", "rebuild"] {
        let output = home.run(&[command]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("lored.lock"), "{command}: {said}");
    }
    std::fs::remove_dir(&lock).unwrap();
    std::fs::remove_file(&config).unwrap();
    for (text, words) in [
        (vec![0xff, 0xfe], "byte 0 is not UTF-8"),
        (vec![b'#'; (1 << 20) + 1], "too many for settings"),
    ] {
        std::fs::write(&config, text).unwrap();
        for command in [&["config", "check"][..], &["serve"]] {
            let output = home.run(command);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                said.contains(words) && said.contains("config.toml"),
                "{said}"
            );
        }
    }
    std::fs::remove_file(&config).unwrap();
    let named = home.run(&["--config", "/nonexistent/settings", "serve"]);
    let said = String::from_utf8_lossy(&named.stderr).into_owned();
    assert_eq!(named.status.code(), Some(2), "{said}");
    assert!(said.contains("which --config names"), "{said}");
}

/// A store moved elsewhere and replaced by a link is refused with the remedy: the daemon may write only below its
/// own folders.
#[test]
fn a_store_behind_a_link() {
    let (home, daemon) = serve!();
    daemon.call("record_step", json!({"tool": "t", "result": ""}));
    daemon.stop();
    let store = home.data().join("store");
    let elsewhere = home.path().join("elsewhere");
    std::fs::rename(&store, &elsewhere).unwrap();
    symlink(&elsewhere, &store).unwrap();
    says(&refused(&home), &["is a symbolic link", "move the folder"]);
    std::fs::remove_file(&store).unwrap();
    std::fs::rename(&elsewhere, &store).unwrap();
    assert_eq!(home.start().verify(), 2);
}

/// Without a home, or with a relative one, nothing is created anywhere; the error names the variable to set.
#[test]
fn homes_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let home = home!();
    let lored = |variables: &[(&str, &str)], command: &str| {
        let output = Command::new(home.program())
            .arg(command)
            .env_clear()
            .envs(variables.iter().copied())
            .current_dir(folder.path())
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for command in ["serve", "doctor", "verify"] {
        for (variables, words) in [
            (&[][..], "neither LORE_HOME nor HOME is set; set one"),
            (
                &[("HOME", "")],
                "neither LORE_HOME nor HOME is set; set one",
            ),
            (&[("HOME", "here")], "must begin with a slash"),
        ] {
            let (code, said) = lored(variables, command);
            assert_eq!(code, Some(2), "{command}: {said}");
            assert!(said.contains(words), "{command}: {said}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // A home that is a file.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let (code, said) = lored(&[("HOME", file.to_str().unwrap())], "serve");
    assert!(code == Some(2) || code == Some(3), "{said}");
    assert!(said.contains(file.to_str().unwrap()), "{said}");
}

/// With a full standard output and error the exit code is still correct, and a daemon continues to serve.
#[test]
#[cfg(target_os = "linux")]
fn a_log_that_takes_nothing() {
    use lore::connection::Connection;
    use lore::protocol::frame::Hello;
    use rustix::process::{Pid, Signal, kill_process};
    let home = home!();
    let full = || {
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    home.configure("log = \"debug\"\n");
    let mut serving = home.command().stderr(full()).spawn().unwrap();
    let mut connection = tests::until("a daemon", std::time::Duration::from_secs(60), || {
        assert_eq!(serving.try_wait().unwrap(), None, "it ended");
        Connection::connect(&home.socket(), &Hello::default()).ok()
    });
    for _ in 0..3 {
        let step = json!({"tool": "t", "result": ""});
        tests::call(&mut connection, "record_step", step).unwrap();
    }
    let pid = Pid::from_raw(serving.id().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert!(serving.wait().unwrap().success());
    home.configure("nonsense = 1\n");
    let refused = home.command().stderr(full()).status().unwrap();
    assert_eq!(refused.code(), Some(2));
}

/// Invalid settings are refused with the file, the line and the valid ones.
#[test]
fn settings_that_are_none() {
    let home = home!();
    home.configure("[limits]\nconections_max = 3\n");
    let ended = refused(&home);
    assert_eq!(ended.status.code(), Some(2));
    says(&ended, &["config.toml", "connections_max"]);
    home.configure("[limits]\nconnections_max = 0\n");
    says(&refused(&home), &["connections_max", "from 1"]);
    home.configure("durability = \"perhaps\"\n");
    says(&refused(&home), &["relaxed"]);
    assert!(!home.data().exists(), "nothing was made");
}

/// While a daemon runs, `verify` asks it, and `rebuild` and `repair` are refused; without one all three work.
#[test]
fn commands_beside_a_daemon() {
    let (home, daemon) = serve!();
    daemon.call("record_step", json!({"tool": "t", "result": {"id": 4}}));
    assert_eq!(home.run(&["verify"]).status.code(), Some(0));
    for command in ["rebuild", "repair"] {
        let output = home.run(&[command]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains("stop it first"),
            "{said}"
        );
    }
    daemon.stop();
    for command in ["verify", "rebuild", "repair", "verify"] {
        let output = home.run(&[command]);
        assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
    }
    assert_eq!(home.start().verify(), 2);
}

/// Everything below the data folder is private: no file or folder of a daemon, including blobs and the scratch
/// folder of a verification, has permissions for others.
#[test]
fn files_are_for_their_owner_alone() {
    let (home, daemon) = serve!();
    daemon.call(
        "record_step",
        json!({"tool": "t", "result": "x".repeat(100_000)}),
    );
    daemon.verify();
    let mut open = vec![home.data()];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let bits = metadata.permissions().mode() & 0o077;
        assert_eq!(bits, 0, "{} has mode {bits:o} for others", path.display());
        seen += 1;
        if metadata.is_dir() {
            open.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
    assert!(seen > 10, "only {seen} files were seen");
}
