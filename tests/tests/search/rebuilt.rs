//! Indexes are disposable: deleted, damaged, or killed while being written, they are rebuilt with equal results.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::{Daemon, serve};

use super::{add, folder};

/// Returns the results of a few searches, with their scores.
fn answers(daemon: &Daemon) -> Vec<Value> {
    let mut found = Vec::new();
    for search_type in ["text", "vector", "hybrid", "semantic"] {
        for query in ["the slow river", "boats", "an old bridge over water"] {
            let args = json!({"query": query, "search_type": search_type});
            let mut reply = daemon.call("search", args);
            assert!(reply.get("partial").is_none(), "{reply:#}");
            for result in reply["results"].as_array_mut().unwrap() {
                // A file that was just written is read once more after a start.
                result.as_object_mut().unwrap().remove("modified");
            }
            found.push(json!([reply["results"].take(), reply["total"]]));
        }
    }
    found
}

/// Reports only the first different answer, to keep the message short.
#[track_caller]
fn same(found: &[Value], expected: &[Value], when: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found[1], expected[1], "{when}: totals");
        let results = |answer: &Value| answer[0].as_array().unwrap().clone();
        for (found, expected) in results(found).iter().zip(&results(expected)) {
            assert_eq!(found, expected, "{when}");
        }
        assert_eq!(results(found).len(), results(expected).len(), "{when}");
    }
}

fn fill(daemon: &Daemon, docs: &Path) {
    add(daemon, docs, json!({}));
    daemon.call("create_session", json!({"session": "s1"}));
    for number in 0..60 {
        daemon.call(
            "record_message",
            json!({"session": "s1", "sender": "user",
                "content": format!("boat {number} passed the bridge over the slow river")}),
        );
        daemon.call(
            "record_step",
            json!({"session": "s1", "tool": "count", "result": {"boats": number, "bridge": "old"}}),
        );
    }
}

/// Deleted while stopped, killed, or with damaged files: reads continue, and results are the same.
#[test]
fn a_rebuilt_index_answers_the_same() {
    let (home, daemon) = serve!();
    let text = "# River\n\nThe river is slow here. An old bridge crosses it. ".repeat(20);
    let docs = folder(
        &home,
        "docs",
        &[("a.md", &text), ("b.md", "Boats pass the bridge.")],
    );
    fill(&daemon, &docs);
    let expected = answers(&daemon);
    assert!(
        expected
            .iter()
            .all(|answer| answer[1].as_u64().unwrap() > 0)
    );
    let index = home.data().join("index");
    let mut daemon = daemon;
    for damage in ["kill", "stop", "text", "vectors", "all", "torn", "zeros"] {
        if damage == "kill" {
            daemon.kill();
        } else {
            daemon.stop();
        }
        match damage {
            "text" | "vectors" => fs::remove_dir_all(index.join(damage)).unwrap(),
            "all" => fs::remove_dir_all(&index).unwrap(),
            "torn" => each_file(&index, &mut |path| {
                let bytes = fs::read(path).unwrap();
                fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
            }),
            "zeros" => each_file(&index, &mut |path| {
                let bytes = fs::read(path).unwrap();
                fs::write(path, vec![0; bytes.len()]).unwrap();
            }),
            _ => {}
        }
        daemon = home.start();
        same(&answers(&daemon), &expected, damage);
    }
    daemon.verify();
}

/// Deleted while the daemon runs: reads continue, also after the next start.
#[test]
fn an_index_deleted_while_running() {
    let (home, daemon) = serve!();
    let docs = folder(
        &home,
        "docs",
        &[("b.md", "Boats pass the old bridge over the river.")],
    );
    fill(&daemon, &docs);
    let expected = answers(&daemon);
    fs::remove_dir_all(home.data().join("index")).unwrap();
    same(&answers(&daemon), &expected, "running");
    daemon.stop();
    let daemon = home.start();
    same(&answers(&daemon), &expected, "restarted");
}

fn each_file(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => each_file(&entry.path(), visit),
            false => visit(&entry.path()),
        }
    }
}
