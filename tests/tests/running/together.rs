//! Agents of one project beside each other: who works on what, handing over, undoing, facts, and memory that can be carried.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tests::{ColdHome, cold};

/// A project on a machine, and two hosts in it.
struct Shared {
    cold: ColdHome,
    folder: PathBuf,
}

impl Shared {
    fn new(cold: ColdHome) -> Self {
        let folder = cold.home.path().join("shop");
        std::fs::create_dir_all(folder.join(".git")).unwrap();
        std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let folder = folder.canonicalize().unwrap();
        Self { cold, folder }
    }

    /// `lore` in the project's folder, without a session.
    fn lore(&self, arguments: &[&str]) -> Command {
        let mut command = self.cold.lore(arguments);
        command.current_dir(&self.folder);
        command
    }

    /// `lore` in a session of Claude Code.
    fn of(&self, session: &str, arguments: &[&str]) -> Command {
        let mut command = self.lore(arguments);
        command.env("CLAUDE_CODE_SESSION_ID", session);
        command
    }

    fn hook(&self, session: &str, event: &str, fields: Value) -> String {
        let mut payload =
            json!({"session_id": session, "cwd": self.folder, "hook_event_name": event});
        let object = payload.as_object_mut().unwrap();
        object.extend(fields.as_object().unwrap().clone());
        let mut command = self.lore(&["hook", "claude-code"]);
        command.env("LORE_HOOK_TIMEOUT_MS", "10000");
        text(&with_input(command, &payload.to_string()))
    }

    fn prompt(&self, session: &str, id: &str, text: &str) -> String {
        let fields = json!({"prompt": text, "prompt_id": id});
        self.hook(session, "UserPromptSubmit", fields)
    }

    fn edit(&self, session: &str, id: &str, file: &str) -> String {
        let path = self.folder.join(file);
        let call = json!({
            "tool_name": "Edit", "tool_use_id": id,
            "tool_input": {"file_path": path, "old_string": "a = 1", "new_string": "a = 2"},
        });
        let told = self.hook(session, "PreToolUse", call.clone());
        let mut done = call;
        done["tool_response"] = json!({"filePath": path});
        self.hook(session, "PostToolUse", done);
        told
    }
}

fn with_input(mut command: Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// What a command printed, which succeeded.
fn text(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn printed(mut command: Command) -> String {
    text(&command.output().unwrap())
}

fn json_of(mut command: Command) -> Value {
    command.arg("--json");
    serde_json::from_str(&printed(command)).unwrap()
}

#[test]
fn two_agents_see_who_works_on_a_file_and_are_told_at_the_edit() {
    let shared = Shared::new(cold!());
    shared.prompt("alpha", "p1", "Raise the limit of the gateway");
    shared.edit("alpha", "t1", "src/gateway.rs");
    let who = printed(shared.lore(&["who"]));
    assert!(
        who.contains("Raise the limit of the gateway") && who.contains("src/gateway.rs"),
        "{who}"
    );

    shared.prompt("beta", "q1", "Log every refused request");
    let told = shared.edit("beta", "u1", "src/gateway.rs");
    assert!(told.contains("src/gateway.rs"), "{told}");
    assert!(!told.contains("\"ask\""), "{told}");
    let other = shared.edit("beta", "u2", "src/other.rs");
    assert!(!other.contains("gateway"), "{other}");

    // The first learns at its next step that its file was changed, and a monitor prints it.
    let read = json!({
        "tool_name": "Read", "tool_use_id": "t2",
        "tool_input": {"file_path": shared.folder.join("src/gateway.rs")},
    });
    shared.hook("alpha", "PreToolUse", read);
    let seen = printed(shared.of("alpha", &["watch", "--after", "0", "--no-follow"]));
    assert!(seen.contains("gateway.rs"), "{seen}");

    shared.hook("beta", "SessionEnd", json!({"reason": "exit"}));
    let who = printed(shared.lore(&["who"]));
    assert!(!who.contains("Log every refused request"), "{who}");
    assert!(who.contains("Raise the limit"), "{who}");
}

#[test]
fn the_setting_asks_instead_of_warning() {
    let cold = cold!();
    cold.home.configure("[capture]\ncoordination = \"ask\"\n");
    let shared = Shared::new(cold);
    shared.prompt("alpha", "p1", "Raise the limit of the gateway");
    shared.edit("alpha", "t1", "src/gateway.rs");
    shared.prompt("beta", "q1", "Log every refused request");
    let told = shared.edit("beta", "u1", "src/gateway.rs");
    let reply: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        reply["hookSpecificOutput"]["permissionDecision"], "ask",
        "{told}"
    );
}

/// A host that writes its arguments down instead of working.
fn fake_host(folder: &Path, name: &str) {
    let program = folder.join(name);
    let script =
        "#!/bin/sh\nfor one in \"$@\"; do printf '%s\\n' \"$one\"; done >\"$0.arguments\"\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn another_host_continues_the_work() {
    let shared = Shared::new(cold!());
    shared.prompt(
        "alpha",
        "p1",
        "Move the invoices to the new store. Never touch the archive.",
    );
    shared.edit("alpha", "t1", "src/invoices.rs");
    let stop = json!({"last_assistant_message": "The store is moved; the index is left to do."});
    shared.hook("alpha", "Stop", stop);

    let first = printed(shared.lore(&["handoff", "--to", "codex"]));
    for words in [
        "Move the invoices",
        "Never touch the archive",
        "src/invoices.rs",
        "the index is left to do",
    ] {
        assert!(first.contains(words), "no {words:?} in {first}");
    }
    // Each is recorded, so only the position differs.
    let again = printed(shared.lore(&["handoff", "--to", "codex"]));
    let words = |text: &str| text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&first), words(&again));

    // Codex is started with the text, and its session is linked by its first prompt.
    let programs = shared.cold.home.path().join("fake");
    std::fs::create_dir_all(&programs).unwrap();
    fake_host(&programs, "codex");
    let sessions = json_of(shared.lore(&["session", "list"]));
    let id = sessions["sessions"][0]["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut start = shared.lore(&[
        "continue", &id, "--exec", "--to", "codex", "--", "-m", "large",
    ]);
    start.env("PATH", &programs);
    printed(start);
    let arguments = std::fs::read_to_string(programs.join("codex.arguments")).unwrap();
    assert!(
        arguments.starts_with("-m\nlarge\n") && arguments.contains("Move the invoices"),
        "{arguments}"
    );
    let given = arguments.trim_start_matches("-m\nlarge\n");
    shared.prompt("beta", "q1", given);
    let sessions = json_of(shared.lore(&["session", "list"]));
    let linked = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["session"] != id.as_str())
        .unwrap()["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let after = json_of(shared.lore(&["session", "show", &linked]));
    assert_eq!(after["continues"][0]["session"], id.as_str(), "{after}");

    // And on to a third: the chain keeps what was asked first.
    shared.edit("beta", "u1", "src/index.rs");
    let second = printed(shared.lore(&["handoff", "--session", &linked]));
    for words in ["Never touch the archive", "src/invoices.rs", "src/index.rs"] {
        assert!(second.contains(words), "no {words:?} in {second}");
    }

    let mut absent = shared.lore(&["continue", &id, "--exec", "--to", "codex"]);
    absent.env("PATH", "/nonexistent");
    let output = absent.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && words.contains("`codex` cannot be started"),
        "{words}"
    );
    let unknown = shared
        .lore(&["continue", &id, "--exec", "--to", "nano"])
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&unknown.stderr);
    assert!(words.contains("codex") && words.contains("nano"), "{words}");
}

#[test]
fn an_agent_undoes_what_it_wrote_and_nothing_else() {
    let shared = Shared::new(cold!());
    printed(shared.lore(&["remember", "The staging host is lima."]));
    printed(shared.of("alpha", &["remember", "The staging host is quito."]));
    let found = |shared: &Shared| printed(shared.lore(&["search", "staging host"]));
    assert!(found(&shared).contains("quito"));
    let session = json_of(shared.of("alpha", &["session", "show"]))["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let dry = printed(shared.of("alpha", &["undo", &session, "--dry-run"]));
    assert!(dry.contains("quito") && !dry.contains("lima"), "{dry}");

    // What another session wrote, only a person undoes.
    let refused = shared
        .of("beta", &["undo", &session, "--yes"])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(words.contains("person"), "{words}");
    assert!(found(&shared).contains("quito"));

    printed(shared.of("alpha", &["undo", &session, "--yes"]));
    let after = found(&shared);
    assert!(
        !after.contains("quito") && after.contains("lima"),
        "{after}"
    );
    printed(shared.of("alpha", &["undo", &session, "--redo", "--yes"]));
    assert!(found(&shared).contains("quito"));
}

#[test]
fn a_fact_has_versions() {
    let shared = Shared::new(cold!());
    printed(shared.lore(&["remember", "The invoice service listens on port 8080."]));
    let replaced = json_of(shared.lore(&["remember", "The invoice service listens on port 9090."]));
    assert!(
        !replaced["contradicts"].is_null() || !replaced["replaces"].is_null(),
        "{replaced}"
    );
    let facts = printed(shared.lore(&["facts"]));
    assert!(facts.contains("9090"), "{facts}");
}

#[test]
fn notes_are_kept_with_the_memory_tool_of_a_model() {
    let shared = Shared::new(cold!());
    let run = |input: Value| {
        let mut command = shared.lore(&["memory-tool"]);
        command.stdin(Stdio::piped());
        with_input(command, &input.to_string())
    };
    let path = "/memories/plan.md";
    let created = run(json!({"command": "create", "path": path, "file_text": "one\ntwo\n"}));
    assert_eq!(
        text(&created),
        format!("File created successfully at: {path}\n")
    );
    let again = run(json!({"command": "create", "path": path, "file_text": "three"}));
    assert_eq!(again.status.code(), Some(1));
    let viewed = text(&run(json!({"command": "view", "path": path})));
    assert!(viewed.contains("     1\tone\n     2\ttwo"), "{viewed}");
    let outside = run(json!({"command": "view", "path": "/memories/../etc"}));
    assert!(!outside.status.success());
    let broken = with_input(shared.lore(&["memory-tool"]), "[1]");
    assert_eq!(broken.status.code(), Some(2));
    let found = printed(shared.lore(&["search", "two"]));
    assert!(found.contains("plan.md"), "{found}");
}

/// All files below a folder, with their content.
fn tree(folder: &Path) -> Vec<(PathBuf, String)> {
    let files = tests::disk::files(folder).into_iter();
    let mut files: Vec<_> = files
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn memory_is_carried_in_markdown() {
    let shared = Shared::new(cold!());
    printed(shared.lore(&["remember", "The staging host is quito."]));
    shared.prompt("alpha", "p1", "Raise the limit of the gateway");
    shared.edit("alpha", "t1", "src/gateway.rs");
    let out = shared.cold.home.path().join("pages");
    let export = |shared: &Shared, folder: &Path| {
        printed(shared.lore(&["export", "--markdown", folder.to_str().unwrap()]))
    };
    export(&shared, &out);
    let first = tree(&out);
    assert!(
        first
            .iter()
            .any(|(_, page)| page.contains("The staging host is quito.")),
        "{first:?}"
    );
    export(&shared, &out);
    for (one, two) in first.iter().zip(tree(&out)) {
        assert_eq!(*one, two, "a second export changed something");
    }

    let other = Shared::new(cold!());
    let from = ["import", "--from", "markdown", out.to_str().unwrap()];
    printed(other.lore(&from));
    let found = printed(other.lore(&["search", "staging host"]));
    assert!(found.contains("quito"), "{found}");
    let again = printed(other.lore(&from));
    let found_again = printed(other.lore(&["search", "staging host"]));
    assert_eq!(found, found_again, "{again}");
}

#[test]
fn edits_are_exported_as_an_agent_trace() {
    let shared = Shared::new(cold!());
    let file = shared.folder.join("src/gateway.rs");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "let a = 2;\n").unwrap();
    shared.prompt("alpha", "p1", "Raise the limit of the gateway");
    shared.edit("alpha", "t1", "src/gateway.rs");
    let printed = printed(shared.lore(&["export", "--agent-trace"]));
    let trace: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(trace["files"][0]["path"], "src/gateway.rs", "{trace}");
    let ranges = &trace["files"][0]["conversations"][0]["ranges"][0];
    assert_eq!(ranges["start_line"], 1, "{trace}");
}
