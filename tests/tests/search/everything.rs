//! One search over all kinds, and messages found by the context of earlier messages.

use serde_json::{Value, json};
use tests::serve;

use super::{add, folder, ids};

fn kinds(reply: &Value) -> Vec<&str> {
    let results = reply["results"].as_array().unwrap().iter();
    results
        .map(|result| result["kind"].as_str().unwrap())
        .collect()
}

/// What `record_tool` records is found like the result of a step, once for all updates of a call.
#[test]
fn results_of_tool_calls_are_found() {
    let (_home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "s1"}));
    let begin = json!({"session": "s1", "tool": "get_lighthouse", "status": "starting"});
    let execution = daemon.call("record_tool", begin)["execution"].clone();
    for height in ["unknown", "forty metres"] {
        daemon.call(
            "record_tool",
            json!({"session": "s1", "tool": "get_lighthouse", "execution": execution,
                "result": {"content": [{"type": "text", "text": format!("The lantern's height is {height}.")}]}}),
        );
    }
    let ask = json!({"query": "height of the lantern", "kinds": ["step"]});
    let reply = daemon.call("search", ask);
    assert_eq!(reply["total"], 1, "{reply:#}");
    let hit = &reply["results"][0];
    assert_eq!(hit["id"], execution);
    assert_eq!(hit["title"], "get_lighthouse");
    assert_eq!(hit["preview"], "The lantern's height is forty metres.");

    for number in 0..12 {
        let content = format!("Something else, number {number}.");
        let args = json!({"session": "s1", "sender": "user", "content": content});
        daemon.call("record_message", args);
        let args = json!({"session": "s1", "tool": "other", "result": content});
        daemon.call("record_tool", args);
    }
    let ask = json!({"session": "s1", "message": "How high is the lantern?", "max_tokens": 2000});
    let pack = daemon.call("enrich_message", ask);
    let prompt = pack["prompt"].as_str().unwrap();
    assert_eq!(
        prompt.matches("height is forty metres").count(),
        1,
        "{prompt}"
    );
}

/// One search finds documents, messages, steps, context files and checkpoints, and each kind can be searched alone.
#[test]
fn all_kinds_are_found() {
    let (home, daemon) = serve!();
    let docs = folder(
        &home,
        "docs",
        &[("pelican.md", "# Birds\n\nA pelican eats fish.")],
    );
    add(&daemon, &docs, json!({}));
    daemon.call("create_session", json!({"session": "s1", "title": "Birds"}));
    daemon.call(
        "record_message",
        json!({"session": "s1", "sender": "user", "content": "Where does the pelican live?"}),
    );
    daemon.call(
        "record_step",
        json!({"session": "s1", "tool": "lookup", "parameters": {"bird": "pelican"},
            "result": {"habitat": "pelican: lakes and coasts"}}),
    );
    daemon.call(
        "workflow_checkpoint_save",
        json!({"sessionId": "s1", "context": {"a": 1}, "metadata": {"name": "pelican found"}}),
    );
    let work = home.path().join("work");
    std::fs::create_dir_all(&work).unwrap();
    let project = daemon.call("init_project", json!({"path": work}))["project"].clone();
    let model = "# Mental model\n\n## System overview\n\nThe pelican tracker counts every pelican that \
        lands near the lake and tells the office about it each morning.\n\n## Key components\n\n\
        - counter: counts what lands\n- reporter: writes to the office\n- store: keeps all counts\n\n\
        ## Data flow\n\nLandings go from the counter to the store, and the reporter reads them there.\n";
    let written = daemon.call(
        "update_context",
        json!({"project_id": project, "file_type": "mental_model", "content": model}),
    );
    let has_context = written["success"] == json!(true);

    let reply = daemon.call("search", json!({"query": "pelican", "max_results": 20}));
    let mut found = kinds(&reply);
    found.sort_unstable();
    found.dedup();
    let mut expected = vec!["checkpoint", "document", "message", "step"];
    if has_context {
        expected.insert(1, "context");
    }
    assert_eq!(found, expected, "{reply:#} {written:#}");
    for kind in expected {
        let args = json!({"query": "pelican", "kinds": [kind], "search_type": "text"});
        let reply = daemon.call("search", args);
        assert!(!kinds(&reply).is_empty(), "{kind}");
        assert!(kinds(&reply).iter().all(|found| *found == kind), "{kind}");
    }
    let reply = daemon.call("search", json!({"query": "pelican", "session": "s1"}));
    assert!(!kinds(&reply).contains(&"document"));
    let message = reply["results"].as_array().unwrap().iter();
    let message = message
        .clone()
        .find(|result| result["kind"] == "message")
        .unwrap();
    assert_eq!(message["context_name"], "Birds");
    assert_eq!(message["title"], "user");
}

/// A checkpoint is found by what was saved, until it is deleted.
#[test]
fn a_checkpoint_is_found_by_its_content() {
    let (_home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "s1"}));
    let context =
        json!({"task": "migrate the billing database", "plan": ["dump", "restore on heron-04"]});
    let saved = daemon.call(
        "workflow_checkpoint_save",
        json!({"sessionId": "s1", "context": context}),
    );
    let search = || {
        let args = json!({"query": "billing database on heron-04", "kinds": ["checkpoint"]});
        daemon.call("search", args)
    };
    let reply = search();
    let id = saved["checkpointId"].as_str().unwrap();
    assert!(ids(&reply)[0].starts_with(id), "{reply:#}");
    let preview = reply["results"][0]["preview"].as_str().unwrap();
    assert!(
        preview.contains("task: migrate the billing database"),
        "{preview}"
    );
    daemon.call("workflow_checkpoint_delete", json!({"checkpointId": id}));
    assert!(ids(&search()).is_empty());
}

/// An answer without the words of the query is found by the question before it.
#[test]
fn a_message_is_found_by_those_before_it() {
    let (_home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "s1"}));
    for (sender, content) in [
        ("user", "Which harbour did the freighter Aurora leave from?"),
        ("assistant", "Rotterdam, on Tuesday."),
        ("user", "Something else: what is for lunch?"),
        ("assistant", "Soup."),
        ("user", "And for dinner?"),
        ("assistant", "Bread."),
    ] {
        daemon.call(
            "record_message",
            json!({"session": "s1", "sender": sender, "content": content}),
        );
    }
    let args =
        json!({"query": "freighter Aurora harbour", "kinds": ["message"], "search_type": "text"});
    let reply = daemon.call("search", args);
    let texts: Vec<&str> = reply["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["preview"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts.first(),
        Some(&"Which harbour did the freighter Aurora leave from?")
    );
    assert!(texts.contains(&"Rotterdam, on Tuesday."), "{texts:?}");
    assert!(!texts.contains(&"Bread."), "{texts:?}");
    // Each result once, whichever ranking found it.
    let mut found = ids(&reply);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), texts.len());
}
