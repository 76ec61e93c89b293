//! Moving all recorded data between daemons: equal line by line, no duplicates, and imports from other programs.

use std::path::Path;

use serde_json::{Value, json};
use tests::{ColdHome, cold, has_words};

use super::{good, refused, text};

pub fn call(cold: &ColdHome, name: &str, args: &Value) -> Value {
    serde_json::from_str(&good(&cold.run(&["call", name, &args.to_string()]))).unwrap()
}

pub fn position(cold: &ColdHome) -> u64 {
    call(cold, "status", &json!({}))["position"]
        .as_u64()
        .unwrap()
}

pub fn events(cold: &ColdHome) -> u64 {
    call(cold, "verify_log", &json!({}))["events"]
        .as_u64()
        .unwrap()
}

/// Records two sessions, and a project with two versions of a context file.
pub fn lived(cold: &ColdHome, folder: &Path) -> String {
    let project = folder.join("web");
    std::fs::create_dir_all(&project).unwrap();
    let made = call(cold, "init_project", &json!({"path": project}));
    let id = made["project"].as_str().unwrap().to_owned();
    let template = call(cold, "get_template", &json!({"file_type": "bugs"}));
    let example = template["example"].as_str().unwrap();
    for content in [example.to_owned(), format!("{example}\n")] {
        let args = json!({"project_id": id, "file_type": "bugs", "content": content});
        call(cold, "update_context", &args);
    }
    for session in ["b-2", "a-1"] {
        call(
            cold,
            "create_session",
            &json!({"session": session, "title": "Uplinks", "project": id}),
        );
        let said = json!({"session": session, "sender": "user", "content": "compare switch-nyc-01 with router-la-02"});
        call(cold, "record_message", &said);
        let large = "large result, ".repeat(6000);
        call(
            cold,
            "record_step",
            &json!({"session": session, "tool": "fetch", "result": large}),
        );
        let context = json!({"goal": "compare", "log": "x".repeat(5000)});
        call(
            cold,
            "workflow_checkpoint_save",
            &json!({"sessionId": session, "context": context}),
        );
    }
    id
}

/// An import exports as the same lines; importing the same file again, or into its origin, records nothing.
#[test]
fn everything_moves_and_nothing_twice() {
    let (here, there) = (cold!(), cold!());
    let folder = tempfile::tempdir().unwrap();
    let project = lived(&here, folder.path());
    let file = folder.path().join("all.jsonl");
    good(&here.run(&["export", "--output", text(&file)]));
    let lines = std::fs::read_to_string(&file).unwrap();
    assert_eq!(good(&here.run(&["export"])), lines);
    let mut sessions = lines.lines().filter(|line| line.contains("lore-session"));
    assert!(sessions.next().unwrap().contains("a-1") && sessions.next().unwrap().contains("b-2"));

    let dry = good(&there.run(&["import", text(&file), "--dry-run"]));
    assert!(
        dry.starts_with("2 sessions") && dry.contains("1 projects and 2 versions"),
        "{dry}"
    );
    assert_eq!(position(&there), 0, "nothing was recorded");
    let reported = good(&there.run(&["import", text(&file)]));
    assert!(
        reported.contains("were imported") && !reported.contains("already"),
        "{reported}"
    );
    assert_eq!(good(&there.run(&["export"])), lines);
    let before = events(&there);
    for home in [&there, &here] {
        let again = good(&home.run(&["import", text(&file)]));
        assert!(
            again.starts_with("0 sessions")
                && again.contains("5 sessions, projects, versions and documents were there"),
            "{again}"
        );
    }
    assert_eq!(events(&there), before);
    let context = |home: &ColdHome| {
        let args = json!({"project_id": project, "file_type": "bugs"});
        call(home, "get_context", &args)["content"].take()
    };
    assert_eq!(context(&here), context(&there));

    let one = good(&here.run(&["--session", "a-1", "export"]));
    // An id could contain the name by chance.
    assert!(one.contains("\"a-1\"") && !one.contains("\"b-2\"") && !one.contains("ContextVersion"));
    let of_project = good(&here.run(&["export", "--project", &project]));
    assert_eq!(of_project, lines);
    refused(
        &here.run(&["export", "--project", "nowhere"]),
        &["`nowhere` not found"],
    );
    refused(
        &here.run(&["--session", "nowhere", "export"]),
        &["session `nowhere` not found"],
    );
}

/// A broken line is reported with its number in the file, and with the number of events recorded before it.
/// Once the line is fixed, the same call imports the rest.
#[test]
fn a_broken_line_is_named_and_can_be_mended() {
    let (here, there) = (cold!(), cold!());
    let folder = tempfile::tempdir().unwrap();
    lived(&here, folder.path());
    let lines = good(&here.run(&["export"]));
    let file = folder.path().join("all.jsonl");
    // In the second session.
    let at = lines
        .lines()
        .position(|line| line.contains("\"b-2\""))
        .unwrap()
        + 2;
    let broken: Vec<String> = lines
        .lines()
        .enumerate()
        .map(|(n, line)| match n + 1 == at {
            true => line.replace("SessionCreated", "SessionPainted"),
            false => line.to_owned(),
        })
        .collect();
    std::fs::write(&file, broken.join("\n")).unwrap();
    let named = format!("line {at}:");
    refused(
        &there.run(&["import", text(&file)]),
        &[&named, "SessionPainted", "before that, 1 sessions"],
    );
    std::fs::write(&file, &lines).unwrap();
    let reported = good(&there.run(&["import", text(&file)]));
    assert!(reported.starts_with("1 sessions"), "{reported}");
    let all: Vec<&str> = lines.split_inclusive('\n').collect();
    // The end of a session is missing from the file, with and without the last line.
    for missing in [1, 2] {
        std::fs::write(&file, all[..all.len() - missing].concat()).unwrap();
        refused(&there.run(&["import", text(&file)]), &["truncated"]);
    }
    std::fs::write(&file, "{\"format\":\"lore-export\",\"version\":9}\n").unwrap();
    refused(
        &there.run(&["import", text(&file)]),
        &["line 1", "newer program"],
    );
    let other = lines.replacen("Uplinks", "Downlinks", 1);
    std::fs::write(&file, other).unwrap();
    let output = there.run(&["import", text(&file)]);
    refused(&output, &["`a-1`", "says something else"]);
    assert_eq!(output.status.code(), Some(5), "a conflict");
    call(&there, "verify_log", &json!({}));
}

/// Forgetting leaves gaps in the versions of a file and the attempts of a step: such an export is imported with the
/// same numbers.
#[test]
fn gaps_of_what_was_forgotten_move() {
    let (here, there) = (cold!(), cold!());
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("web");
    std::fs::create_dir_all(&project).unwrap();
    let made = call(&here, "init_project", &json!({"path": project}));
    let project = &made["project"];
    call(&here, "create_session", &json!({"session": "s"}));
    let summary =
        |n| format!("# Session Summary\n\n## 2025-03-01: turn {n}\n\n### Added\n\n- {n}\n");
    for (n, agent) in ["ada", "bob", "ada"].into_iter().enumerate() {
        let context = json!({"project_id": project, "file_type": "session_summary", "content": summary(n), "agent": agent});
        call(&here, "update_context", &context);
        let step = json!({"session": "s", "step": 1, "tool": "fetch", "result": format!("result {n}"), "agent": agent});
        call(&here, "record_step", &step);
    }
    let reported = call(&here, "forget", &json!({"of_agent": "bob"}));
    // The merge of the second and the third write holds the text of the second: it goes, too.
    assert_eq!(reported["context_versions"], 2, "{reported}");
    let file = folder.path().join("all.jsonl");
    good(&here.run(&["export", "--output", text(&file)]));
    let lines = std::fs::read_to_string(&file).unwrap();
    let numbers = |field: &str| -> Vec<u64> {
        let all = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        all.filter_map(|line| line["payload"][field].as_u64())
            .collect()
    };
    // The third write knew nothing of the second, so their merge was a version of its own; the last one is without that.
    assert_eq!(numbers("version"), [1, 3, 5]);
    assert_eq!(numbers("step"), [1, 1]);
    assert!(lines.contains("\"step\":1,\"attempt\":3"), "{lines}");

    good(&there.run(&["import", text(&file), "--dry-run"]));
    good(&there.run(&["import", text(&file)]));
    assert_eq!(good(&there.run(&["export"])), lines);
    let again = good(&there.run(&["import", text(&file)]));
    assert!(again.starts_with("0 sessions"), "{again}");
    let step = json!({"session": "s", "step": 1, "tool": "fetch", "result": "next"});
    assert_eq!(call(&there, "record_step", &step)["attempt"], 4);
    call(&there, "verify_log", &json!({}));
}

/// A file sent in parts can be validated with a dry run: a later part's reference to the project of an earlier one
/// is not refused, although nothing was recorded.
#[test]
fn a_dry_run_goes_on_behind_its_first_part() {
    let (here, there) = (cold!(), cold!());
    let folder = tempfile::tempdir().unwrap();
    lived(&here, folder.path());
    let lines = good(&here.run(&["export"]));
    // The project and its first version, then the second one.
    let lines: Vec<&str> = lines.split_inclusive('\n').collect();
    let parts = [(1, lines[..3].concat()), (4, lines[3].to_owned())];
    assert!(parts[1].1.contains("ContextVersion"), "{}", parts[1].1);
    for (line, content) in &parts {
        let args = json!({"content": content, "line": line, "dry_run": true});
        let reply = call(&there, "import_log", &args);
        assert_eq!(reply["versions"], 1, "{reply}");
    }
    assert_eq!(position(&there), 0, "nothing was recorded");
    let (line, content) = &parts[1];
    let args = json!({"content": content, "line": line});
    let alone = there.run(&["call", "import_log", &args.to_string()]);
    assert_eq!(alone.status.code(), Some(1));
    let said = String::from_utf8_lossy(&alone.stdout);
    has_words(&said, &["line 4", "project `", "not found"]);
}

/// Files of the reference memory server: entities and relations keep their types, observations are found, and the
/// same file again changes nothing.
#[test]
fn the_memory_servers_file_is_imported() {
    let cold = cold!();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let lines = [
        json!({"type": "entity", "name": "Ada_Lovelace", "entityType": "person", "observations": ["Prefers pair programming on Fridays", "Owns the billing service"]}),
        json!({"type": "entity", "name": "billing", "entityType": "Service Name", "observations": []}),
        json!({"type": "relation", "from": "Ada_Lovelace", "to": "billing", "relationType": "is responsible-for"}),
    ];
    let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&file, &content).unwrap();
    let dry = good(&cold.run(&["import", "--from", "memory", text(&file), "--dry-run"]));
    assert!(
        dry.starts_with("1 sessions with") && dry.contains("would be"),
        "{dry}"
    );
    good(&cold.run(&["import", "--from", "memory", text(&file)]));
    let listed = call(&cold, "list_entities", &json!({"all": true}));
    let all = listed["entities"].as_array().unwrap();
    let ada = all
        .iter()
        .find(|one| one["name"] == "Ada_Lovelace")
        .unwrap();
    assert_eq!(ada["kind"], "person");
    assert!(
        all.iter()
            .any(|one| one["kind"] == "service_name" && one["name"] == "billing"),
        "{listed}"
    );
    let shown = call(
        &cold,
        "get_entity",
        &json!({"session": "imported-memory", "kind": "person", "name": "Ada_Lovelace"}),
    );
    assert!(shown.to_string().contains("is_responsible_for"), "{shown}");
    let found = call(
        &cold,
        "search",
        &json!({"query": "who prefers pair programming", "search_type": "text"}),
    );
    assert!(found.to_string().contains("Fridays"), "{found}");
    let before = events(&cold);
    let again = good(&cold.run(&["import", "--from", "memory", text(&file)]));
    assert!(
        again.starts_with("0 sessions") && again.contains("there already"),
        "{again}"
    );
    assert_eq!(events(&cold), before);
    std::fs::write(
        &file,
        format!("{content}{{\"type\":\"relation\",\"from\":\"a\"}}\n"),
    )
    .unwrap();
    refused(
        &cold.run(&["import", "--from", "memory", text(&file)]),
        &["line 4", "`to`"],
    );
}

/// In a folder of Markdown, files with a template in the project become context files; the others are reported.
#[test]
fn a_markdown_folder_is_imported() {
    let cold = cold!();
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("shop");
    let bank = project.join("memory-bank");
    std::fs::create_dir_all(&bank).unwrap();
    std::fs::write(
        bank.join("mentalModel.md"),
        "# Mental model\n\nThe shop sells tea.\n",
    )
    .unwrap();
    std::fs::write(bank.join("progress.md"), "# Progress\n\nHalf done.\n").unwrap();
    let arguments = [
        "import",
        "--from",
        "markdown",
        text(&bank),
        "--project",
        text(&project),
    ];
    let output = cold.run(&arguments);
    let reported = good(&output);
    assert!(reported.contains("1 projects and 1 versions"), "{reported}");
    let aside = String::from_utf8_lossy(&output.stderr).into_owned();
    has_words(&aside, &["progress.md", "lore docs add"]);
    let listed = call(&cold, "list_projects", &json!({}));
    let id = listed["projects"][0]["project"].as_str().unwrap();
    let args = json!({"project_id": id, "file_type": "mental_model"});
    let context = call(&cold, "get_context", &args);
    has_words(&context["content"], &["sells tea"]);
    let again = good(&cold.run(&arguments));
    assert!(
        again.contains("2 sessions, projects, versions and documents were there already"),
        "{again}"
    );
}

/// A LangGraph database: threads become sessions, checkpoints load with their contents, and writes of tasks become
/// steps. The same file again changes nothing.
#[test]
fn langgraphs_checkpoints_are_imported() {
    let cold = cold!();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/langgraph.sqlite");
    let arguments = ["import", "--from", "langgraph", text(&golden)];
    let dry = good(&cold.run(&[&arguments[..], &["--dry-run"]].concat()));
    assert!(dry.starts_with("3 sessions with 26 events"), "{dry}");
    assert_eq!(position(&cold), 0);
    good(&cold.run(&arguments));
    let id = "1f0fe9a0-0000-6002-8000-000000000000";
    let loaded = call(
        &cold,
        "workflow_checkpoint_load",
        &json!({"checkpointId": id}),
    );
    assert_eq!(
        loaded["context"]["extra"]["at"]["value"],
        "2026-01-31T12:00:00+00:00"
    );
    let listed = call(
        &cold,
        "workflow_checkpoint_list",
        &json!({"sessionId": "langgraph-thread-1"}),
    );
    let times: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["createdAt"].as_str())
        .collect();
    assert!(
        times.len() == 5 && times.iter().all(|time| time.starts_with("2026-01-31")),
        "{listed}"
    );
    let steps = call(
        &cold,
        "list_steps",
        &json!({"session": "langgraph-thread-1"}),
    );
    assert!(steps.to_string().contains("ValueError"), "{steps}");
    let again = good(&cold.run(&arguments));
    assert!(
        again.starts_with("0 sessions") && again.contains("3 sessions, projects"),
        "{again}"
    );
    call(&cold, "verify_log", &json!({}));
}
