//! Forgetting outside sessions: whole projects with their files on disk, removed sources, replaced texts, and the
//! rules of retention.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tests::{Daemon, Random, has, has_words, seed, serve, until};

use super::{found, rows_of, words};

const LIMIT: Duration = Duration::from_secs(60);

fn needles(texts: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    let part = |text: &str| text.as_bytes()[text.len() / 2 - 10..][..20].to_vec();
    let named = texts
        .iter()
        .map(|(name, text)| ((*name).to_owned(), part(text)));
    named.collect()
}

fn summary(entry: &str) -> String {
    format!("# Session Summary\n\n## 2025-03-01: turn 1\n\n### Added\n\n- {entry}\n")
}

/// A project is forgotten with its sessions, its context files, their history and their files on disk; another
/// project is unchanged. When an agent works in the folder again, a new project starts.
#[test]
fn a_project_goes_whole() {
    let mut random = Random::new(seed());
    let (home, daemon) = serve!();
    let (first, second) = (words(400, &mut random), words(400, &mut random));
    let step = words(400, &mut random);
    let mut projects = Vec::new();
    for name in ["one", "two"] {
        let path = home.path().join("work").join(name);
        fs::create_dir_all(&path).unwrap();
        let project = daemon.call("init_project", json!({"path": path}))["project"].clone();
        projects.push((project.as_str().unwrap().to_owned(), path));
    }
    let (project, path) = projects[0].clone();
    let write = |project: &str, content: &str| {
        let args = json!({
            "project_id": project, "file_type": "session_summary", "content": summary(content),
        });
        let reply = daemon.call("update_context", args);
        assert_eq!(reply["success"], true, "{reply:#}");
    };
    write(&project, &first);
    write(&project, &second);
    write(&projects[1].0, "stays");
    daemon.call(
        "create_session",
        json!({"session": "s", "project": project}),
    );
    daemon.call(
        "record_step",
        json!({"session": "s", "tool": "t", "result": step}),
    );
    let folder = home.data().join("projects").join(&project);
    until("the file", LIMIT, || {
        folder.join("session_summary.md").exists().then_some(())
    });
    let texts = needles(&[("first", &first), ("second", &second), ("step", &step)]);
    assert_eq!(found(&home.data(), &texts).len(), 3);

    let reported = daemon.call("forget", json!({"project": project}));
    assert_eq!(reported["projects"], 1, "{reported}");
    assert_eq!(reported["sessions"], 1, "{reported}");
    assert_eq!(reported["context_versions"], 2, "{reported}");
    assert!(!folder.exists());
    assert_eq!(found(&home.data(), &texts), [""; 0]);
    let list = daemon.call("list_projects", json!({}));
    assert_eq!(list["projects"].as_array().unwrap().len(), 1, "{list}");
    let log = daemon.call("verify_log", json!({}));
    assert_eq!(log["ok"], true, "{log:#}");
    assert_eq!(log["events_forgotten"][0]["project"], project.as_str());
    let again = daemon.call("init_project", json!({"path": path}));
    has(&again, json!({"project": project, "created": true}));
    write(&project, "anew");
    daemon.verify();
    daemon.stop();
    let daemon = home.start();
    assert_eq!(found(&home.data(), &texts), [""; 0]);
    daemon.verify();
}

fn put(folder: &Path, file: &str, says: &str) {
    fs::write(folder.join(file), says).unwrap();
}

fn until_found(daemon: &Daemon, query: &str, count: usize) {
    until(query, LIMIT, || {
        let args = json!({"query": query, "search_type": "text"});
        let reply = daemon.call("search", args);
        (reply["results"].as_array().unwrap().len() == count).then_some(())
    });
}

/// Texts of a replaced and of a removed file are forgotten by their path. A removed source is forgotten as a whole;
/// before its removal that is refused.
#[test]
fn texts_of_documents_go() {
    let mut random = Random::new(seed());
    let (home, daemon) = serve!();
    let docs = home.path().join("docs");
    fs::create_dir_all(&docs).unwrap();
    let docs = fs::canonicalize(docs).unwrap();
    let secret: Vec<String> = (0..3).map(|_| words(30, &mut random)).collect();
    let text =
        |word: &str, secret: &str| format!("# Birds\n\nThe {word} lives here, {secret} too.\n");
    put(&docs, "a.md", &text("pelican", &secret[0]));
    put(&docs, "b.md", &text("heron", &secret[1]));
    let source = daemon.call("add_source", json!({"path": docs}))["source"].clone();
    until_found(&daemon, "pelican", 1);
    until_found(&daemon, "heron", 1);
    put(&docs, "a.md", &text("ostrich", &secret[2]));
    until_found(&daemon, "ostrich", 1);
    let texts = needles(&[("old", &secret[0]), ("b", &secret[1]), ("new", &secret[2])]);

    let origin = json!({"origin": format!("file:{}", docs.display())});
    let reported = daemon.call("forget", origin.clone());
    has(&reported, json!({"documents": 1, "events": 1}));
    assert_eq!(reported["kept"].as_array().unwrap().len(), 2, "{reported}");
    let seen = found(&home.data(), &texts);
    assert!(
        !seen.contains(&"old") && seen.contains(&"b") && seen.contains(&"new"),
        "{seen:?}"
    );
    until_found(&daemon, "ostrich", 1);

    let of_source = json!({"origin": format!("source:{}", source.as_str().unwrap())});
    let refused = daemon.refusal("forget", of_source.clone());
    assert_eq!(refused.code.as_str(), "CONFLICT", "{}", refused.message);
    daemon.call("remove_source", json!({"source": source}));
    let reported = daemon.call("forget", of_source);
    has(&reported, json!({"sources": 1, "documents": 2}));
    assert_eq!(found(&home.data(), &texts), [""; 0]);
    until_found(&daemon, "heron", 0);
    daemon.verify();
    // The same folder may be a source again.
    daemon.call("add_source", json!({"path": docs}));
    until_found(&daemon, "ostrich", 1);
    daemon.verify();
}

/// An agent's versions of a context file are forgotten except for the current one.
#[test]
fn present_versions_stay() {
    let (home, daemon) = serve!();
    let path = home.path().join("work");
    fs::create_dir_all(&path).unwrap();
    let project = daemon.call("init_project", json!({"path": path}))["project"].clone();
    for (agent, entry) in [("ada", "one"), ("bob", "two"), ("bob", "three")] {
        let args = json!({
            "project_id": project, "file_type": "session_summary", "content": summary(entry),
            "agent": agent,
        });
        daemon.call("update_context", args);
    }
    let reported = daemon.call("forget", json!({"of_agent": "bob"}));
    assert_eq!(reported["context_versions"], 1, "{reported}");
    has_words(&reported["kept"][0], &["version 3"]);
    let args = json!({"project_id": project, "file_type": "session_summary"});
    let history: Value = daemon.call("context_history", args);
    let versions: Vec<u64> = history["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["version"].as_u64().unwrap())
        .collect();
    assert_eq!(versions, [3, 1]);
    daemon.verify();
}

/// Entries of an agent are in the versions that others made of its own: appended to, merged, and current. No byte of them
/// is left once the agent is forgotten, and what others wrote stays.
#[test]
fn entries_of_an_agent_leave_the_versions_of_others() {
    let mut random = Random::new(seed());
    let (home, daemon) = serve!();
    let path = home.path().join("work");
    fs::create_dir_all(&path).unwrap();
    let project = daemon.call("init_project", json!({"path": path}))["project"].clone();
    let texts = [(); 5].map(|()| words(60, &mut random));
    let [ada, bob, carol, bob_again, late] = texts.each_ref();
    let write = |operation: &str, agent: &str, args: Value| {
        let mut all = json!({
            "project_id": project, "file_type": "session_summary", "agent": agent,
        });
        for (key, value) in args.as_object().unwrap() {
            all[key] = value.clone();
        }
        let reply = daemon.call(operation, all);
        assert_eq!(reply["success"], true, "{reply:#}");
        reply
    };
    let entry = |day: u32, text: &str| {
        format!("## 2025-03-{day:02}: turn {day}\n\n### Added\n\n- {text}\n")
    };
    let first = format!("# Session Summary\n\n{}", entry(1, ada));
    write("update_context", "ada", json!({"content": first}));
    let read = json!({"project_id": project, "file_type": "session_summary", "agent": "carol"});
    daemon.call("get_context", read);
    write("append_context", "bob", json!({"entry": entry(2, bob)}));
    // Made from the first version, so it is merged with that of bob.
    let merged = format!("{first}\n{}", entry(3, carol));
    write("update_context", "carol", json!({"content": merged}));
    write(
        "append_context",
        "bob",
        json!({"entry": entry(4, bob_again)}),
    );
    write("append_context", "ada", json!({"entry": entry(5, late)}));
    let of_bob = needles(&[("bob", bob), ("bob again", bob_again)]);
    let others = needles(&[("ada", ada), ("late", late), ("carol", carol)]);
    let content = || {
        let args = json!({"project_id": project, "file_type": "session_summary"});
        daemon.call("get_context", args)["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let before = content();
    assert!(
        [ada, carol, late].iter().all(|text| before.contains(*text)),
        "{before}"
    );

    let counted = daemon.call("forget", json!({"of_agent": "bob", "dry_run": true}));
    assert!(content() == before, "{counted}");
    let reported = daemon.call("forget", json!({"of_agent": "bob"}));
    assert!(reported["kept"].is_null(), "{reported}");
    let after = content();
    assert!(
        [ada, carol, late].iter().all(|text| after.contains(*text)),
        "{after}"
    );
    assert!(
        !after.contains("turn 2") && !after.contains("turn 4"),
        "{after}"
    );
    let file = home.data().join("projects").join(project.as_str().unwrap());
    until("a file without bob's entries", LIMIT, || {
        let text = fs::read_to_string(file.join("session_summary.md")).ok()?;
        (text == after).then_some(())
    });
    assert_eq!(found(&home.data(), &of_bob), [""; 0]);
    assert_eq!(found(&home.data(), &others).len(), 3);
    daemon.verify();
}

/// A pack built across a project contains names from its sessions: no row and no file has the name once the
/// session, or the mentioning part of it, is forgotten.
#[test]
fn packs_across_a_project_keep_no_name() {
    for is_part in [false, true] {
        let (home, daemon) = serve!();
        let name = "db-payroll-7";
        let needles = BTreeMap::from([("name".to_owned(), name.as_bytes().to_vec())]);
        let create = json!({"session": "s", "project": "shop", "agent": "ada"});
        daemon.call("create_session", create);
        let step = json!({"session": "s", "tool": "t", "result": "fine", "agent": "ada"});
        daemon.call("record_step", step);
        let said = json!({
            "session": "s", "sender": "user", "content": format!("{name} is down"), "agent": "bob",
        });
        daemon.call("record_message", said);
        let task = json!({"project": "shop", "query": format!("Mend {name}")});
        let pack = daemon.call("context_pack", task)["pack"].clone();
        let why = daemon.call("why", json!({"pack": pack}));
        assert!(why["pack"]["rests_on"].to_string().contains(name), "{why}");
        daemon.stop();
        assert_eq!(found(&home.data(), &needles), ["name"]);

        let daemon = home.start();
        match is_part {
            false => daemon.call("forget_session", json!({"session": "s"})),
            true => daemon.call("forget", json!({"of_agent": "bob"})),
        };
        assert_eq!(found(&home.data(), &needles), [""; 0]);
        let refused = daemon.refusal("why", json!({"pack": pack}));
        assert_eq!(refused.code.as_str(), "NOT_FOUND", "{}", refused.message);
        daemon.verify();
        daemon.stop();
        let rows = rows_of(&home);
        assert!(!rows.windows(name.len()).any(|part| part == name.as_bytes()));
    }
}

/// Forgetting an agent erases its replaced uploads. A current one is listed as retained, and erased after its
/// removal by the next call.
#[test]
fn documents_that_an_agent_sent_go() {
    let mut random = Random::new(seed());
    let (home, daemon) = serve!();
    let texts: Vec<String> = (0..2).map(|_| words(60, &mut random)).collect();
    let mut document = Value::Null;
    for text in &texts {
        let put = json!({"name": "a.md", "text": text, "agent": "scraper"});
        document = daemon.call("put_document", put)["document"].clone();
    }
    let needles = needles(&[("old", &texts[0]), ("new", &texts[1])]);
    let reported = daemon.call("forget", json!({"of_agent": "scraper"}));
    assert_eq!(reported["documents"], 1, "{reported}");
    let kept = reported["kept"].as_array().unwrap();
    let is_named = |line: &Value| line.as_str().unwrap().contains(document.as_str().unwrap());
    assert!(kept.len() == 1 && is_named(&kept[0]), "{reported}");
    let seen = found(&home.data(), &needles);
    assert!(!seen.contains(&"old") && seen.contains(&"new"), "{seen:?}");
    daemon.call("remove_document", json!({"document": document}));
    let reported = daemon.call("forget", json!({"of_agent": "scraper"}));
    assert_eq!(reported["documents"], 1, "{reported}");
    assert_eq!(reported["kept"], Value::Null, "{reported}");
    assert_eq!(found(&home.data(), &needles), [""; 0]);
    daemon.verify();
}
