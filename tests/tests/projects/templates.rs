//! User templates: a template file takes effect at once.

use std::fs;
use std::path::Path;

use lore::protocol::Code;
use serde_json::{Value, json};
use tests::{Daemon, has, home, is_refusal, serve};

use super::{folder, get, init, text, update, warns, write};

/// A type of file with one section.
pub const NOTES: &str = r##"name = "notes"
description = "What is to be remembered"
required_sections = ["to_remember"]
examples = ["# Notes\n\n## To Remember\n\nThe key of the till is under the mat.\n"]

[section_schemas.to_remember]
name = "To Remember"
format = "freeform"
min_length = 10

[correction_prompts]
missing_to_remember = "add a `## To Remember` section with what is to be remembered"
"##;

const NOTE: &str = "# Notes\n\n## To Remember\n\nThe stall opens at seven.\n";

fn templates(daemon: &Daemon, args: Value) -> Value {
    daemon.call("list_templates", args)
}

fn origin(list: &Value, file_type: &str) -> String {
    let found = list["templates"].as_array().unwrap().iter();
    let mut found = found.filter(|one| one["file_type"] == file_type);
    found
        .next()
        .map_or_else(String::new, |one| text(&one["origin"]).to_owned())
}

/// A template file adds a type without a restart: in the user's folder for all projects, in a project's folder for
/// that project. The type is listed, shown, used for validation and written to disk, and removed with its file.
#[test]
fn a_new_type_is_a_new_file() {
    let (home, daemon) = serve!();
    let (one, two) = (init(&home, &daemon, "one"), init(&home, &daemon, "two"));
    let args = json!({"project_id": one, "file_type": "notes"});
    let refused = daemon.refusal("get_context", args.clone());
    is_refusal(&refused, Code::InvalidInput, &["`bugs`", "template"]);

    let own = folder(&home, "one/.lore/templates");
    let own = Path::new(&own).join("notes.toml");
    fs::write(&own, NOTES).unwrap();
    let empty = get(&daemon, &one, "notes");
    assert_eq!(
        empty["template"]["required_sections"],
        json!(["to_remember"])
    );
    assert_eq!(empty["template"]["description"], "What is to be remembered");
    assert!(text(&empty["template"]["example"]).contains("under the mat"));
    let other = json!({"project_id": two, "file_type": "notes"});
    let refused = daemon.refusal("get_context", other.clone());
    is_refusal(&refused, Code::InvalidInput, &["notes"]);
    let bad = update(
        &daemon,
        &one,
        "notes",
        "# Notes\n\nThe stall opens at seven.\n",
    );
    assert_eq!(bad["status"], "correction_needed");
    let guidance = &bad["correction_guidance"];
    assert_eq!(
        guidance["primary_issue"],
        "Missing required section: to_remember"
    );
    assert!(text(&guidance["retry_instructions"]).contains("with what is to be remembered"));
    assert_eq!(write(&daemon, &one, "notes", NOTE), 1);
    assert_eq!(
        fs::read_to_string(super::path_of(&home, &one, "notes")).unwrap(),
        NOTE
    );
    assert_eq!(
        origin(&templates(&daemon, json!({"project_id": one})), "notes"),
        "project"
    );
    assert_eq!(
        origin(&templates(&daemon, json!({"project_id": two})), "notes"),
        ""
    );

    let users = home.path().join("templates");
    fs::create_dir(&users).unwrap();
    fs::write(users.join("notes.toml"), NOTES).unwrap();
    assert_eq!(
        origin(&templates(&daemon, json!({"project_id": two})), "notes"),
        "user"
    );
    assert_eq!(
        origin(&templates(&daemon, json!({"project_id": one})), "notes"),
        "project"
    );
    assert_eq!(write(&daemon, &two, "notes", NOTE), 1);
    let shown = daemon.call("get_template", json!({"file_type": "notes"}));
    has(&shown, json!({"origin": "user", "template": NOTES}));
    assert_eq!(shown["title"], "Notes");

    // Without a template nothing new is written; existing content can still be read and cleared.
    fs::remove_file(&own).unwrap();
    fs::remove_file(users.join("notes.toml")).unwrap();
    let left = get(&daemon, &one, "notes");
    assert_eq!(left["content"], json!(NOTE));
    assert_eq!(left.get("validation"), None);
    assert!(
        warns(&left, "template `notes` no longer exists"),
        "{left:#}"
    );
    let args = json!({"project_id": one, "file_type": "notes", "content": NOTE});
    let refused = daemon.refusal("update_context", args);
    is_refusal(&refused, Code::InvalidInput, &["notes", "`bugs`"]);
    let cleared = daemon.call(
        "clear_context",
        json!({"project_id": one, "file_type": "notes"}),
    );
    has(&cleared, json!({"cleared": true, "archived_version": 1}));
    daemon.verify();
}

/// A project's own form of a built-in type applies to that project alone.
#[test]
fn a_type_is_another_in_one_project() {
    let (home, daemon) = serve!();
    let (one, two) = (init(&home, &daemon, "one"), init(&home, &daemon, "two"));
    let own = folder(&home, "one/.lore/templates");
    let form = NOTES.replace("name = \"notes\"", "name = \"bugs\"");
    fs::write(Path::new(&own).join("whatever.toml"), form).unwrap();
    assert_eq!(update(&daemon, &one, "bugs", NOTE)["status"], "success");
    let other = update(&daemon, &two, "bugs", NOTE);
    assert_eq!(other["status"], "correction_needed", "{other:#}");
    let whose = |project: &str| {
        let args = json!({"project_id": project, "file_type": "bugs"});
        text(&daemon.call("get_template", args)["origin"]).to_owned()
    };
    assert_eq!(whose(&one).as_str(), "project");
    assert_eq!(whose(&two).as_str(), "built_in");
}

/// A template that breaks while the daemon runs is reported with file, line and reason by the list, by `status` and
/// by reads of such a file. The last good one stays in force until the file is valid again.
#[test]
fn a_broken_template_leaves_the_last_good_one() {
    let home = home!();
    let users = home.path().join("templates");
    fs::create_dir(&users).unwrap();
    let file = users.join("notes.toml");
    fs::write(&file, NOTES).unwrap();
    let daemon = home.start();
    let project = init(&home, &daemon, "stall");
    write(&daemon, &project, "notes", NOTE);
    for (broken, line, word) in [
        ("name = ", 1, "TOML"),
        (
            &NOTES.replace("freeform", "freeforn"),
            8,
            "did you mean `freeform`",
        ),
        (
            &NOTES.replace("min_length = 10", "pattern = \"(\""),
            9,
            "pattern",
        ),
        (
            &NOTES.replace("min_length = 10", "min_length = 1000"),
            4,
            "example",
        ),
    ] {
        fs::write(&file, broken).unwrap();
        let list = templates(&daemon, json!({}));
        let [reported] = &list["broken"].as_array().unwrap()[..] else {
            panic!("{list:#}")
        };
        has(reported, json!({"path": file, "line": line}));
        assert!(text(&reported["reason"]).contains(word), "{reported:#}");
        assert_eq!(origin(&list, "notes"), "user", "the last good one");
        let place = format!("notes.toml:{line}");
        assert!(warns(&daemon.call("status", json!({})), &place));
        let now = get(&daemon, &project, "notes");
        assert!(warns(&now, &place), "{now:#}");
        assert_eq!(now["validation"]["valid"], true);
        let bad = update(&daemon, &project, "notes", "# Notes\n");
        assert_eq!(bad["success"], false, "it is still checked: {bad:#}");
    }
    fs::write(&file, NOTES.replace("min_length = 10", "min_length = 12")).unwrap();
    let list = templates(&daemon, json!({}));
    assert_eq!(list["broken"].as_array().map_or(0, Vec::len), 0, "{list:#}");
    assert!(!warns(&daemon.call("status", json!({})), "notes.toml"));
    assert!(!warns(&get(&daemon, &project, "notes"), "notes.toml"));
}
