//! Another kind of file in the place of a context file is neither read nor written through: it is reported, and the
//! last good content stays.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;
use tests::{Daemon, Home, has, serve, until};

use super::{LIMIT, get, history, init, path_of, summary, until_says, update, warns, write};

const FILE: &str = "session_summary";

/// Replaces a file by another kind.
type Put = fn(&Path);

fn link(path: &Path) {
    let secret = path.parent().unwrap().with_file_name("secret.txt");
    fs::write(&secret, SECRET).unwrap();
    symlink(secret, path).unwrap();
}

fn pipe(path: &Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

fn directory(path: &Path) {
    fs::create_dir(path).unwrap();
    fs::write(path.join("inside"), "x").unwrap();
}

fn huge(path: &Path) {
    fs::write(path, vec![b'x'; 20 << 20]).unwrap();
}

fn binary(path: &Path) {
    fs::write(path, b"\x7fELF\0\xff\xfe").unwrap();
}

const SECRET: &str = "what nobody is to read\n";
const PUTS: [(&str, Put, &str); 5] = [
    ("link", link, "is a symbolic link"),
    ("pipe", pipe, "is a named pipe"),
    ("directory", directory, "is a folder"),
    ("huge", huge, "at most"),
    ("binary", binary, "is not UTF-8 text"),
];

fn until_told(daemon: &Daemon, words: &str) {
    until("the warning in status", LIMIT, || {
        warns(&daemon.call("status", json!({})), words).then_some(())
    });
}

/// A project with a valid file that will be replaced.
struct ReplacedFileCase {
    name: &'static str,
    project: String,
    path: PathBuf,
    put: Put,
    words: &'static str,
}

fn good() -> String {
    summary(&["a till"])
}

fn cases(home: &Home, daemon: &Daemon) -> Vec<ReplacedFileCase> {
    PUTS.map(|(name, put, words)| {
        let project = init(home, daemon, name);
        let path = path_of(home, &project, FILE);
        write(daemon, &project, FILE, &good());
        until_says(&path, &good());
        ReplacedFileCase {
            name,
            project,
            path,
            put,
            words,
        }
    })
    .into()
}

impl ReplacedFileCase {
    /// Replaces the file within a moment: a file that is missing only briefly does not count as deleted.
    fn put(&self) {
        fs::remove_file(&self.path).unwrap();
        (self.put)(&self.path);
    }

    fn take_away(&self) {
        if fs::symlink_metadata(&self.path).unwrap().is_dir() {
            fs::remove_dir_all(&self.path).unwrap();
        } else {
            fs::remove_file(&self.path).unwrap();
        }
    }
}

/// Each kind is refused and reported by `status`, by reads and by writes, and left unchanged. Once it is gone, the
/// file is written again from the log without a manual edit.
#[test]
fn what_is_no_file_is_left_alone() {
    let (home, daemon) = serve!();
    let cases = cases(&home, &daemon);
    let changed = summary(&["a till", "a lamp"]);
    cases.iter().for_each(ReplacedFileCase::put);
    for case in &cases {
        let ReplacedFileCase {
            name,
            project,
            path,
            words,
            ..
        } = case;
        until_told(&daemon, words);
        let now = get(&daemon, project, FILE);
        assert!(
            warns(&now, words) && warns(&now, &format!("{FILE}.md")),
            "{name}: {now:#}"
        );
        has(&now, json!({"content": good(), "version": 1}));
        let reply = update(&daemon, project, FILE, &changed);
        assert_eq!(
            reply["success"], true,
            "{name}: it is in the log: {reply:#}"
        );
        assert!(warns(&reply, words), "{name}: {reply:#}");
        let there = fs::symlink_metadata(path).unwrap();
        let is_text = there.is_file() && fs::read(path).unwrap().starts_with(b"# ");
        assert!(!is_text, "{name}: it is left as it is");
    }
    cases.iter().for_each(ReplacedFileCase::take_away);
    for case in &cases {
        until_says(&case.path, &changed);
        until("the warning to go", LIMIT, || {
            (!warns(&daemon.call("status", json!({})), case.words)).then_some(())
        });
        assert!(!warns(&get(&daemon, &case.project, FILE), case.words));
        assert_eq!(
            history(&daemon, &case.project, FILE).len(),
            2,
            "{}",
            case.name
        );
    }
    let secret = home.data().join("projects").join("secret.txt");
    assert_eq!(fs::read_to_string(secret).unwrap(), SECRET);
    daemon.verify();
}

/// The same when it is removed without an update in between, and when it exists at the start.
#[test]
fn what_is_no_file_is_no_deletion() {
    let (home, mut daemon) = serve!();
    let cases = cases(&home, &daemon);
    for is_stopped in [false, true] {
        if is_stopped {
            daemon.stop();
            cases.iter().for_each(ReplacedFileCase::put);
            daemon = home.start();
        } else {
            cases.iter().for_each(ReplacedFileCase::put);
        }
        for case in &cases {
            until("the warning", LIMIT, || {
                warns(&get(&daemon, &case.project, FILE), case.words).then_some(())
            });
            assert_eq!(get(&daemon, &case.project, FILE)["content"], good());
        }
        cases.iter().for_each(ReplacedFileCase::take_away);
        for case in &cases {
            until_says(&case.path, &good());
            assert_eq!(
                history(&daemon, &case.project, FILE).len(),
                1,
                "{}",
                case.name
            );
        }
    }
    daemon.verify();
}

/// A project folder that is a link is not followed: nothing is read from its target or written there.
#[test]
fn a_linked_folder_is_not_followed() {
    let (home, daemon) = serve!();
    let project = init(&home, &daemon, "stall");
    let path = path_of(&home, &project, FILE);
    write(&daemon, &project, FILE, &summary(&["a till"]));
    until_says(&path, &summary(&["a till"]));
    daemon.stop();
    let elsewhere = home.path().join("elsewhere");
    let folder = path.parent().unwrap();
    fs::rename(folder, &elsewhere).unwrap();
    fs::write(elsewhere.join(format!("{FILE}.md")), "# Elsewhere\n").unwrap();
    symlink(&elsewhere, folder).unwrap();
    let daemon = home.start();
    until_told(&daemon, "symbolic link");
    let reply = update(&daemon, &project, FILE, &summary(&["a lamp"]));
    assert!(warns(&reply, "symbolic link"), "{reply:#}");
    let there = fs::read_to_string(elsewhere.join(format!("{FILE}.md"))).unwrap();
    assert_eq!(there, "# Elsewhere\n");
    assert_eq!(
        get(&daemon, &project, FILE)["content"],
        summary(&["a lamp"])
    );
    assert_eq!(history(&daemon, &project, FILE).len(), 2);
    daemon.verify();
}
