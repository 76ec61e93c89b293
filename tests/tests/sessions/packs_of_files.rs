//! Context packs: passages of the project's context files.

use serde_json::{Value, json};
use tests::{Daemon, has, has_words, serve};

use super::context_packs::enrich;

const MENTAL_MODEL: &str =
    include_str!("../../../daemon/src/projects/validate/cases/mm_crlf_and_byte_order_mark.md");
const BUGS: &str =
    include_str!("../../../daemon/src/projects/validate/cases/bugs_open_and_none_resolved.md");

/// Creates a project `shop` with a mental model and bugs.
fn project(home: &tests::Home, daemon: &Daemon) {
    let dir = home.path().join("shop");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join(".lore.toml"), "id = \"shop\"\n").unwrap();
    daemon.call("init_project", json!({"path": dir}));
    write_file(daemon, "mental_model", MENTAL_MODEL);
    write_file(daemon, "bugs", BUGS);
}

/// Writes a context file and returns the position of the new version.
fn write_file(daemon: &Daemon, file_type: &str, content: &str) -> Value {
    let args = json!({"project_id": "shop", "file_type": file_type, "content": content});
    let written = daemon.call("update_context", args);
    assert_eq!(written["success"], true, "{written}");
    written["position"].clone()
}

/// Returns the passages of context files in a pack: file, version, section.
fn passages(pack: &Value) -> Vec<(String, u64, String)> {
    let sections = pack["sections"].as_array().unwrap().iter();
    let files = sections.filter(|section| section["name"] == "context_files");
    files
        .flat_map(|section| section["pieces"].as_array().unwrap())
        .map(|piece| {
            let file = &piece["file"];
            assert_eq!(piece["kind"], "context_file");
            assert_eq!(file["project"], "shop");
            assert_eq!(piece["session"], Value::Null);
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let version = file["version"].as_u64().unwrap();
            (text(&file["file_type"]), version, text(&file["section"]))
        })
        .collect()
}

/// Passages of the project's context files about a message are in its pack, with file, version and section; a new
/// version makes another pack. `why` works in both directions, and quotations are recognised.
#[test]
fn a_message_draws_on_context_files() {
    let (home, daemon) = serve!();
    project(&home, &daemon);
    let session = daemon.call(
        "create_session",
        json!({"project": "shop", "topic": "photos"}),
    );
    let session = session["session"].clone();
    let ask = "Why are thumbnails of portrait photos upside down?";
    let pack = enrich(&daemon, &session, ask, 4_000);
    let found = passages(&pack);
    let bug = "Open Issues / BUG-3: Thumbnails are upside down (2025-02-11)".to_owned();
    assert_eq!(found[0], ("bugs".to_owned(), 1, bug.clone()), "{found:?}");
    let prompt = pack["prompt"].as_str().unwrap();
    let (before, behind) = prompt
        .split_once("From the project's context files:\n[")
        .unwrap();
    assert_eq!(before, "", "{before}");
    assert!(
        behind.contains("]\n```\n- **Context**: portrait photos from the old phone\n"),
        "{behind}"
    );
    has_words(behind, &["\n\nCurrent conversation topic: photos\n\n"]);
    let piece = &pack["sections"][0]["pieces"][0];
    let events = daemon.call(
        "read_events",
        json!({"from": piece["position"], "limit": 1}),
    );
    assert_eq!(events["events"][0]["kind"], "ContextWritten", "{piece}");
    assert_eq!(enrich(&daemon, &session, ask, 4_000)["cached"], true);

    let why = daemon.call("why", json!({"pack": pack["pack"]}));
    let rested = &why["pack"]["rests_on"][0];
    has(
        rested,
        json!({"id": "bugs 1", "event": "ContextWritten", "position": piece["position"]}),
    );
    let old = json!({"position": piece["position"]});
    let why = daemon.call("why", old.clone());
    assert_eq!(why["of"]["file"]["version"], 1, "{why}");
    assert_eq!(why["used_by"][0]["pack"], pack["pack"]);

    let new = BUGS.replace("from the old phone", "from the old camera");
    let position = write_file(&daemon, "bugs", &new);
    let second = enrich(&daemon, &session, ask, 4_000);
    assert_eq!(second["cached"], false);
    assert_eq!(passages(&second)[0], ("bugs".to_owned(), 2, bug));
    let used = |of: &Value| daemon.call("why", json!({"position": of}))["used_by"].clone();
    let [of_old, of_new] = [used(&piece["position"]), used(&position)];
    assert_eq!(of_old.as_array().unwrap().len(), 1, "{of_old}");
    assert_eq!(of_old[0]["pack"], pack["pack"]);
    assert_eq!(of_new[0]["pack"], second["pack"]);

    let end = second["sections"][0]["end"].as_u64().unwrap() as usize;
    let quote = &second["prompt"].as_str().unwrap()[..end];
    let quote = json!({"session": session, "sender": "assistant", "content": quote});
    let quoting = daemon.call("record_message", quote);
    // A closing fence alone is not a quotation.
    assert!(quoting["tokens"].as_u64() < Some(5), "{quoting}");
    assert!(
        quoting["quoted_bytes"].as_u64() > Some(end as u64 - 10),
        "{quoting}"
    );

    let clearing = json!({"project_id": "shop", "file_type": "bugs"});
    daemon.call("clear_context", clearing);
    let third = enrich(&daemon, &session, ask, 4_000);
    assert!(!third["prompt"].as_str().unwrap().contains("[bugs v"));
    assert!(passages(&enrich(&daemon, &session, "Hello!", 4_000)).is_empty());
    daemon.call("forget_session", json!({"session": session}));
    assert_eq!(daemon.call("why", old)["used_by"], json!([]));
}

/// A task in a project without sessions gets passages of its context files. If none describes the project, it gets
/// the overview of the mental model.
#[test]
fn a_task_draws_on_context_files() {
    let (home, daemon) = serve!();
    project(&home, &daemon);
    let pack = |query: &str, max_tokens: u64| {
        let args = json!({"project": "shop", "query": query, "max_tokens": max_tokens});
        daemon.call("context_pack", args)
    };
    let transfer = ("mental_model".to_owned(), 1, "System Overview".to_owned());
    assert_eq!(
        passages(&pack("Count to ten.", 4_000)),
        std::slice::from_ref(&transfer)
    );
    let bug = passages(&pack("Fix the EXIF orientation of the resizer", 4_000));
    assert_eq!((&*bug[0].0, bug[0].1), ("bugs", 1), "{bug:?}");
    let links = passages(&pack("Mend README.md", 4_000));
    assert_eq!(
        links,
        [("mental_model".to_owned(), 1, "Context Links".to_owned())]
    );
    assert_eq!(pack("Count to ten.", 4_000)["cached"], true);
    let task = "Count to ten, the indexer and the thumbnails.";
    for max_tokens in [60, 200, 400, 500, 1_000, 2_000] {
        let pack = pack(task, max_tokens);
        assert!(pack["tokens"].as_u64().unwrap() <= max_tokens, "{pack}");
        let sections = pack["sections"].as_array().unwrap().iter();
        let files: Vec<_> = sections
            .filter(|one| one["name"] == "context_files")
            .collect();
        for files in &files {
            assert!(
                files["tokens"].as_u64().unwrap() <= max_tokens / 4,
                "{pack}"
            );
        }
        let left_out = pack["left_out"].as_array();
        let is_told = left_out.is_some_and(|all| all.iter().any(|one| one["why"] == "share"));
        assert!(is_told || max_tokens > 500, "{pack}");
        assert!(!files.is_empty() || max_tokens < 500, "{pack}");
    }
}
