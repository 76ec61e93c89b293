//! Exported files, and refused imports: nothing hangs, other users cannot read recorded data, and the suggested
//! remedies work.

use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use tests::{cold, until};

use super::everything::{call, lived};
use super::{good, refused, text};

/// A process that is killed with the test.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An import that is refused while the converter has more output than a pipe holds ends with the reason.
#[test]
fn a_refusal_ends_the_conversion() {
    let cold = cold!();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    // More than the import limit of one session, and many entities after it.
    let observation = "tea ".repeat(1 << 18);
    let entity = |n: u32| json!({"type": "entity", "name": format!("Ada {n}"), "entityType": "person", "observations": [observation]});
    let content: String = (0..40).map(|n| format!("{}\n", entity(n))).collect();
    std::fs::write(&file, content).unwrap();
    let import = cold
        .lore(&["import", "--from", "memory", text(&file)])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut import = ChildGuard(import.unwrap());
    let status = until("the refusal", Duration::from_secs(120), || {
        import.0.try_wait().unwrap()
    });
    let mut said = String::new();
    import
        .0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("the limit of one import"), "{said}");
    assert!(!said.contains("Broken pipe"), "{said}");
}

/// An exported file is readable by its owner alone, like the store. A link at its temporary path is not followed,
/// and neither is one at its path.
#[test]
fn exported_files_are_their_owners() {
    let cold = cold!();
    let folder = tempfile::tempdir().unwrap();
    lived(&cold, folder.path());
    let precious = folder.path().join("precious");
    std::fs::write(&precious, "precious").unwrap();
    let commands: [&[&str]; 2] = [&["export"], &["--session", "a-1", "session", "export"]];
    for (n, command) in commands.into_iter().enumerate() {
        let file = folder.path().join(format!("out-{n}.jsonl"));
        let part = folder.path().join(format!("out-{n}.jsonl.part"));
        for link in [&file, &part] {
            symlink(&precious, link).unwrap();
        }
        good(&cold.run(&[command, &["--output", text(&file)]].concat()));
        assert!(std::fs::read_to_string(&precious).unwrap() == "precious");
        let made = std::fs::symlink_metadata(&file).unwrap();
        assert!(made.is_file(), "{command:?}");
        assert_eq!(made.permissions().mode() & 0o777, 0o600, "{command:?}");
        let others = std::fs::symlink_metadata(&part).unwrap();
        assert!(others.is_symlink(), "{command:?}: it is somebody's");
        let left = std::fs::read_dir(folder.path()).unwrap().flatten();
        let is_draft = |name: &str| name.starts_with('.') && name.ends_with(".part");
        let names = left.map(|entry| entry.file_name().into_string().unwrap());
        assert_eq!(names.filter(|name| is_draft(name)).count(), 0);
        assert!(std::fs::read_to_string(&file).unwrap() == good(&cold.run(command)));
    }
}

/// Data changed since its import is imported as the error suggests, in addition to the existing data: under
/// separate ids of sessions and checkpoints, so that it can grow, too.
#[test]
fn what_differs_comes_in_under_other_ids() {
    let cold = cold!();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/langgraph.sqlite");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("before.jsonl");
    let converted = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lored-under-test"));
        command.args(["convert", "langgraph", text(&golden)]);
        good(&command.args(arguments).output().unwrap())
    };
    let before = converted(&[]).replacen("LangGraph thread", "Another thread", 1);
    std::fs::write(&file, before).unwrap();
    good(&cold.run(&["import", text(&file)]));
    let import = ["import", "--from", "langgraph", text(&golden)];
    let output = cold.run(&import);
    refused(&output, &["`langgraph-thread-1`", "`--prefix`"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("forget"), "{said}");

    let again = [&import[..], &["--prefix", "again"]].concat();
    // The state with about three checkpoints.
    let lines = converted(&["--prefix", "again"]);
    let session = lines.lines().skip(1).take(8);
    let session: String = session.map(|line| format!("{line}\n")).collect();
    std::fs::write(&file, session + "{\"end\":{\"events\":7}}\n").unwrap();
    good(&cold.run(&["import", text(&file)]));
    let reported = cold.run(&again);
    assert!(
        good(&reported).starts_with("2 sessions and what is new of 1 others"),
        "{reported:?}"
    );
    let said = String::from_utf8_lossy(&reported.stderr);
    assert!(!said.contains("its id is taken"), "{said}");
    let reported = good(&cold.run(&again));
    assert!(
        reported.starts_with("0 sessions with 0 events"),
        "{reported}"
    );
    let checkpoints = |session: &str| {
        let args = json!({"sessionId": session});
        let listed = call(&cold, "workflow_checkpoint_list", &args);
        listed.as_array().unwrap().len()
    };
    for session in ["langgraph-thread-1", "again-langgraph-thread-1"] {
        assert_eq!(checkpoints(session), 5, "{session}");
    }
    let bad = [&import[..], &["--prefix", "no id"]].concat();
    refused(&cold.run(&bad), &["--prefix", "id"]);
    let of_folder = ["import", "--from", "markdown", text(folder.path())];
    let of_folder = [&of_folder[..], &["--prefix", "again"]].concat();
    refused(&cold.run(&of_folder), &["`--project`"]);
    call(&cold, "verify_log", &json!({}));
}
