//! Access control, tested by processes of other users; and the separate tenants of a system-wide daemon.
//!
//! Acting as another user requires root, for example in a container. Otherwise these tests are ignored.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tests::{Daemon, Home, has_words, home, serve};

/// Two users and a group without names on any machine.
const ADA: u32 = 61_001;
const BOB: u32 = 61_002;
const TEAM: u32 = 61_100;

/// Creates a home that other users can traverse, like one in /run, with the client next to the daemon.
fn open_home(settings: &str) -> Home {
    assert!(
        rustix::process::geteuid().is_root(),
        "these tests act as several users: run them as root, in a container for instance"
    );
    let home = home!();
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let client = home.path().join("lore");
    std::fs::copy(env!("CARGO_BIN_EXE_lore-under-test"), &client).unwrap();
    std::fs::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).unwrap();
    home.configure(settings);
    home
}

/// Calls an operation as another user, by the real client.
fn call_as(home: &Home, uid: u32, groups: &str, name: &str, args: &Value) -> Output {
    Command::new("setpriv")
        .arg(format!("--reuid={uid}"))
        .arg(format!("--regid={uid}"))
        .arg(groups)
        .arg(home.path().join("lore"))
        .arg("--socket")
        .arg(home.socket())
        .args(["call", name, &args.to_string()])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        // The other user has no home here, and nothing may be created.
        .env("HOME", "/nonexistent")
        .current_dir("/")
        .output()
        .expect("setpriv, of util-linux, is there")
}

fn reply_to(home: &Home, uid: u32, name: &str, args: &Value) -> Value {
    let output = call_as(home, uid, "--clear-groups", name, args);
    let text = String::from_utf8(output.stdout).unwrap();
    let reply: Value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    reply
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().mode() & 0o7777
}

/// A user's daemon answers only its own user. Others do not even reach its socket.
#[test]
#[cfg_attr(not(as_root), ignore = "acts as several users: run it as root")]
fn others_do_not_reach_the_socket() {
    let home = open_home("");
    let daemon = home.start();
    assert_eq!(mode(&home.socket()), 0o600);
    assert_eq!(mode(home.socket().parent().unwrap()), 0o700);
    let output = call_as(&home, ADA, "--clear-groups", "status", &json!({}));
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    let whose = format!("belongs to user 0, not to user {ADA} who runs this");
    assert!(said.contains(&whose), "{said}");
    assert!(said.contains("access.allow_users"), "{said}");
    daemon.stop();
}

/// Configured users and members of groups may connect, others are refused. The caller's uid is recorded, whatever
/// name it claims. Changed settings apply to the next connection.
#[test]
#[cfg_attr(not(as_root), ignore = "acts as several users: run it as root")]
fn named_users_and_groups_come_in() {
    let settings = |users: &str| {
        format!(
            "[access]\nsocket_mode = \"0666\"\nallow_users = [{users}]\nallow_groups = [\"{TEAM}\"]\n"
        )
    };
    let home = open_home(&settings(&format!("\"{ADA}\"")));
    let daemon = home.start();
    assert_eq!(mode(&home.socket()), 0o666);
    assert_eq!(mode(home.socket().parent().unwrap()), 0o711);
    let args = json!({"session": "shared", "tool": "t", "result": 1, "agent": "root"});
    daemon.call("create_session", json!({"session": "shared"}));
    assert_eq!(reply_to(&home, ADA, "record_step", &args)["step"], 1);
    let events = daemon.call("read_events", json!({"session": "shared"}));
    has_words(&events, &[&format!("\"uid\":{ADA}")]);

    // The owner's own client accepts the folder that others may traverse.
    let own = Command::new(home.path().join("lore"))
        .args(["status", "--json"])
        .env_clear()
        .env("LORE_HOME", home.path())
        .current_dir("/")
        .output()
        .unwrap();
    assert!(own.status.success(), "{own:?}");

    let refused = call_as(&home, BOB, "--clear-groups", "record_step", &args);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let reported: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(reported["error"]["code"], "FORBIDDEN", "{reported}");
    assert!(
        reported["error"]["message"]
            .as_str()
            .unwrap()
            .contains(&BOB.to_string())
    );
    has_words(&reported["error"]["hint"], &["access.allow_users"]);

    // By its primary group, which the socket's credentials contain.
    let member = Command::new("setpriv")
        .arg(format!("--reuid={BOB}"))
        .arg(format!("--regid={TEAM}"))
        .arg("--clear-groups")
        .arg(home.path().join("lore"))
        .arg("--socket")
        .arg(home.socket())
        .args(["call", "status", "{}"])
        .env_clear()
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(member.status.success(), "{member:?}");

    home.configure(&settings(""));
    daemon.signal(rustix::process::Signal::HUP);
    tests::until("Ada to be out", std::time::Duration::from_secs(60), || {
        let output = call_as(&home, ADA, "--clear-groups", "status", &json!({}));
        (output.status.code() == Some(1)).then_some(())
    });
    daemon.stop();
}

fn start_for_all(home: &Home) -> Daemon {
    let mut command = home.command();
    command.args(["serve", "--system"]);
    let daemon = home.spawn_command(command);
    tests::until(
        "the daemon of all users",
        std::time::Duration::from_secs(60),
        || daemon.try_connect("").is_ok().then_some(()),
    );
    daemon
}

/// HTTP for all users is refused as an invalid setting, with an exit code that prevents restarts.
#[test]
fn http_is_for_one_user() {
    let home = home!();
    home.configure("[http]\nlisten = \"127.0.0.1:0\"\n");
    let output = home.run(&["serve", "--system"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("http.listen"), "{said}");
}

/// In a system-wide daemon each user has a separate tenant: equal ids name different things, no tenant sees
/// another, and a restart preserves that.
#[test]
#[cfg_attr(not(as_root), ignore = "acts as several users: run it as root")]
fn each_user_has_a_memory_of_its_own() {
    let home = open_home("");
    let daemon = start_for_all(&home);
    assert_eq!(mode(&home.socket()), 0o666);
    for (uid, secret) in [(ADA, "apple"), (BOB, "berry")] {
        reply_to(&home, uid, "create_session", &json!({"session": "mine"}));
        let args = json!({"session": "mine", "tool": "t", "result": {"id": secret}, "key": "same"});
        assert_eq!(reply_to(&home, uid, "record_step", &args)["step"], 1);
    }
    daemon.stop();
    let daemon = start_for_all(&home);
    for (uid, own, other) in [(ADA, "apple", "berry"), (BOB, "berry", "apple")] {
        let names = json!({"session": "mine", "names": ["ID_FROM_STEP_1"]});
        let resolved = reply_to(&home, uid, "resolve_variables", &names);
        assert_eq!(resolved["resolutions"][0]["value"], own, "{resolved}");
        let events = reply_to(&home, uid, "read_events", &json!({}));
        assert!(!events.to_string().contains(other), "{events}");
        let found = reply_to(&home, uid, "search", &json!({"query": other}));
        assert!(!found["results"].to_string().contains(other), "{found}");
        let folder = home.data().join("users").join(uid.to_string());
        assert_eq!(mode(&folder), 0o700);
        let status = reply_to(&home, uid, "status", &json!({}));
        assert_eq!(status["data"], folder.to_str().unwrap());
    }
    // The daemon's own user has a tenant, too, and it is empty.
    let sessions = daemon.call("list_sessions", json!({}));
    assert_eq!(sessions["sessions"], json!([]));
    daemon.stop();
}

/// Runs the client as another user, in that user's folder.
fn lore_as(home: &Home, uid: u32, arguments: &[&str]) -> Output {
    Command::new("setpriv")
        .arg(format!("--reuid={uid}"))
        .arg(format!("--regid={uid}"))
        .arg("--clear-groups")
        .arg(home.path().join("lore"))
        .arg("--socket")
        .arg(home.socket())
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .env("LORE_DAEMON", home.path().join("lored"))
        .current_dir("/")
        .output()
        .expect("setpriv, of util-linux, is there")
}

/// Creates a private folder of a user.
fn folder_of(uid: u32, files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    for (file, says) in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, says).unwrap();
    }
    let owned = Command::new("chown")
        .args(["-R", &format!("{uid}:{uid}")])
        .arg(folder.path())
        .status();
    assert!(owned.unwrap().success());
    folder
}

/// A system-wide daemon neither reads, watches nor writes its users' files, and suggests the alternative: their
/// clients upload the contents.
#[test]
#[cfg_attr(not(as_root), ignore = "acts as several users: run it as root")]
fn files_of_users_are_sent_by_their_clients() {
    let home = open_home("");
    let daemon = home.path().join("lored");
    std::fs::hard_link(home.program(), &daemon)
        .or_else(|_| std::fs::copy(home.program(), &daemon).map(drop))
        .unwrap();
    let daemon = start_for_all(&home);
    let folder = folder_of(
        ADA,
        &[
            ("a.md", b"# A\n\nThe gyroscope hums.\n"),
            ("sub/b.txt", b"Second."),
            ("sub/c.md", b"Third."),
            ("left/d.md", b"no"),
            (".loreignore", b"left/\n"),
            ("broken.docx", b"PK\x03\x04 no archive"),
            ("picture.png", b"\x89PNG\r\n\x1a\n\0\0"),
        ],
    );
    let path = folder.path().to_str().unwrap();
    let reported = reply_to(&home, ADA, "add_source", &json!({"path": path}));
    assert_eq!(reported["error"]["code"], "FORBIDDEN", "{reported}");
    assert_eq!(
        reported["error"]["details"]["reaches_files"], false,
        "{reported}"
    );

    let add = |more: &[&str]| {
        let arguments = [&["docs", "add", path, "--json"], more].concat();
        let output = lore_as(&home, ADA, &arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let reported = serde_json::from_str::<Value>(&text);
        reported.unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    let counts = |reported: &Value| {
        ["found", "sent", "unchanged", "removed"].map(|name| reported[name].as_u64().unwrap())
    };
    let first = add(&[]);
    assert_eq!(counts(&first), [5, 3, 0, 0], "{first:#}");
    assert_eq!(first["failures"][0]["path"], "broken.docx", "{first:#}");
    let search = |uid: u32, query: &str| {
        let found = reply_to(&home, uid, "search_documents", &json!({"query": query}));
        let paths = found["results"].as_array().unwrap().iter();
        let paths = paths.map(|one| one["file_path"].as_str().unwrap().to_owned());
        paths.collect::<Vec<String>>()
    };
    let found = search(ADA, "gyroscope");
    assert!(found[0].ends_with("/a.md"), "{found:?}");
    assert_eq!(search(BOB, "gyroscope"), [""; 0], "it is hers alone");

    // Again: only changes are uploaded, and removed files are no longer found.
    let again = add(&[]);
    assert_eq!(counts(&again), [5, 0, 3, 0], "{again:#}");
    std::fs::write(folder.path().join("a.md"), "# A\n\nThe turbine hums.\n").unwrap();
    std::fs::remove_file(folder.path().join("sub/c.md")).unwrap();
    let changed = add(&[]);
    assert_eq!(counts(&changed), [4, 1, 1, 1], "{changed:#}");
    assert_eq!(changed["source"], first["source"]);
    assert_eq!(changed["created"], false);
    assert!(search(ADA, "turbine")[0].ends_with("/a.md"));
    let listed = reply_to(&home, ADA, "list_sources", &json!({}));
    assert_eq!(listed["sources"][0]["documents"], 2, "{listed:#}");

    // Other settings apply to existing documents, too; `rescan` uses them.
    let set = add(&["--context", "WI-9", "--exclude", "*.txt"]);
    assert_eq!(counts(&set), [3, 1, 0, 1], "{set:#}");
    let rescan = lore_as(&home, ADA, &["docs", "rescan", path, "--json"]);
    let rescan: Value = serde_json::from_slice(&rescan.stdout).unwrap();
    assert_eq!(counts(&rescan), [3, 0, 1, 0], "{rescan:#}");

    // Files that the user may not read are not read on their behalf, and a missing folder is reported by name.
    let other = folder_of(BOB, &[("secret.md", b"Secret.")]);
    for path in [other.path(), Path::new("/nowhere")] {
        let output = lore_as(&home, ADA, &["docs", "add", path.to_str().unwrap()]);
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(path.to_str().unwrap()), "{said}");
    }
    let listed = reply_to(&home, ADA, "list_sources", &json!({}));
    assert_eq!(listed["sources"].as_array().unwrap().len(), 1, "{listed:#}");

    // A file too long to be uploaded is reported with the limit; the others are uploaded.
    let long = folder_of(ADA, &[("a.md", b"# A\n\nShort."), ("long.md", b"")]);
    let file = std::fs::File::options()
        .write(true)
        .open(long.path().join("long.md"));
    file.unwrap().set_len((45 << 20) + 1).unwrap();
    let output = lore_as(
        &home,
        ADA,
        &["docs", "add", long.path().to_str().unwrap(), "--json"],
    );
    let reported: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts(&reported), [2, 1, 0, 0], "{reported:#}");
    let reason = "has 47185921 bytes; at most 47185920 are read, so split it";
    assert_eq!(
        reported["failures"],
        json!([{"path": "long.md", "reason": reason}])
    );

    // An agent uploads a document directly.
    let args = json!({"name": "plan.md", "text": "# Plan\n\nThe propeller.\n"});
    let put = reply_to(&home, BOB, "put_document", &args);
    assert_eq!(put["status"], "taken", "{put}");
    assert_eq!(search(BOB, "propeller"), ["sent/plan.md"]);
    daemon.stop();
}

/// Nor does it access them for templates of a project, or to check whether a path is a file.
#[test]
#[cfg_attr(not(as_root), ignore = "acts as several users: run it as root")]
fn files_of_users_are_not_looked_at() {
    let home = open_home("");
    let daemon = start_for_all(&home);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.md"), "# A\n\ntext\n").unwrap();
    let templates = folder.path().join(".lore/templates");
    std::fs::create_dir_all(&templates).unwrap();
    std::fs::write(templates.join("mine.toml"), "not = a template").unwrap();
    let project = reply_to(
        &home,
        ADA,
        "list_templates",
        &json!({"project_id": folder.path()}),
    );
    assert!(!project.to_string().contains("mine"), "{project}");
    let file = folder.path().join("a.md");
    let project = reply_to(&home, ADA, "init_project", &json!({"path": file}));
    assert_eq!(project["path"], file.to_str().unwrap(), "{project}");
    daemon.stop();
}

/// A project shared by its owner can be read, or written, by the named users only. Their writes have their uid in
/// the owner's log, and revoked access ends at once.
#[test]
#[cfg_attr(not(as_root), ignore = "acts as several users: run it as root")]
fn a_project_is_shared() {
    const CARL: u32 = 61_003;
    let home = open_home("");
    let daemon = start_for_all(&home);
    let made = reply_to(&home, ADA, "init_project", &json!({"path": "/srv/shop"}));
    let project = made["project"].as_str().unwrap().to_owned();
    let summary = |entry: &str| {
        format!("# Session Summary\n\n## 2025-03-01: turn 1\n\n### Added\n\n- {entry}\n")
    };
    let apples = json!({"project_id": project, "file_type": "session_summary", "content": summary("apples")});
    let written = reply_to(&home, ADA, "update_context", &apples);
    assert_eq!(written["status"], "success", "{written}");
    let theirs = format!("{ADA}/{project}");
    let read = json!({"project_id": theirs, "file_type": "session_summary"});
    let write = json!({"project_id": theirs, "file_type": "session_summary", "content": summary("berries")});
    let code = |uid, name, args: &Value| reply_to(&home, uid, name, args)["error"]["code"].clone();
    assert_eq!(code(BOB, "get_context", &read), "PROJECT_NOT_FOUND");

    let share = |user: u32, access: &str| {
        let args = json!({"project_id": project, "user": user.to_string(), "access": access});
        reply_to(&home, ADA, "share_project", &args)
    };
    let reported = share(BOB, "read");
    assert_eq!(reported["project_id"], theirs, "{reported}");
    let seen = reply_to(&home, BOB, "get_context", &read);
    has_words(&seen["content"], &["apples"]);
    assert_eq!(code(BOB, "update_context", &write), "PROJECT_NOT_FOUND");
    assert_eq!(code(CARL, "get_context", &read), "PROJECT_NOT_FOUND");

    share(BOB, "write");
    let written = reply_to(&home, BOB, "update_context", &write);
    assert_eq!(written["status"], "success", "{written}");
    let seen = reply_to(
        &home,
        ADA,
        "get_context",
        &json!({"project_id": project, "file_type": "session_summary"}),
    );
    has_words(&seen["content"], &["berries"]);
    let events = reply_to(&home, ADA, "read_events", &json!({})).to_string();
    assert!(events.contains(&format!("\"uid\":{BOB}")), "{events}");
    let shares = reply_to(&home, ADA, "list_shares", &json!({"project_id": project}));
    assert_eq!(shares["shares"][0]["access"], "write", "{shares}");
    // Nothing else of the owner can be reached that way, and no tenant is created for a user without one.
    let own = reply_to(&home, BOB, "list_projects", &json!({}));
    assert!(!own.to_string().contains(&project), "{own}");
    let nobody = json!({"project_id": "61999/shop", "file_type": "session_summary"});
    assert_eq!(code(BOB, "get_context", &nobody), "PROJECT_NOT_FOUND");
    assert!(!home.data().join("users/61999").exists());

    share(BOB, "none");
    assert_eq!(code(BOB, "get_context", &read), "PROJECT_NOT_FOUND");
    daemon.stop();
}

/// If all users share one memory, sharing a project is refused.
#[test]
fn one_memory_needs_no_sharing() {
    let (_home, daemon) = serve!();
    let folder = tempfile::tempdir().unwrap();
    let made = daemon.call("init_project", json!({"path": folder.path()}));
    let args = json!({"project_id": made["project"], "user": "1"});
    let refused = daemon.refusal("share_project", args);
    assert_eq!(refused.code, lore::protocol::Code::Forbidden);
    assert!(refused.hint.unwrap().contains("access.allow_users"));
    daemon.stop();
}
