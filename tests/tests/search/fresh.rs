//! Acknowledged data is found when the reply arrives; removed data is no longer found.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use tests::{home, serve, until};

use super::{LIMIT, add, folder, ids};

/// Eight writers each find their own write at once.
#[test]
fn an_acknowledged_write_is_found_at_once() {
    let home = home!();
    let daemon = Arc::new(home.start());
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let daemon = Arc::clone(&daemon);
            std::thread::spawn(move || {
                let session = format!("w{writer}");
                daemon.call("create_session", json!({"session": session}));
                for number in 0..25 {
                    let word = format!("zebra{writer}x{number}");
                    let said = daemon.call(
                        "record_message",
                        json!({"session": session, "sender": "user", "content": format!("it is {word}")}),
                    );
                    let reply = daemon.call(
                        "search",
                        json!({"query": word, "search_type": "text", "kinds": ["message"]}),
                    );
                    assert!(reply.get("partial").is_none(), "{reply:#}");
                    assert!(
                        ids(&reply).contains(&said["message"].as_str().unwrap().to_owned()),
                        "{word}: {reply:#}"
                    );
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
}

/// A forgotten session, a removed source, a deleted file and a changed one are no longer found.
#[test]
fn what_is_gone_is_not_found() {
    let (home, daemon) = serve!();
    let docs = folder(
        &home,
        "docs",
        &[("a.md", "An ostrich runs."), ("b.md", "A heron stands.")],
    );
    let source = add(&daemon, &docs, json!({}));
    let total = |query: &str| {
        let args = json!({"query": query, "search_type": "text"});
        daemon.call("search", args)["total"].as_u64().unwrap()
    };
    assert_eq!((total("ostrich"), total("heron")), (1, 1));
    fs::write(docs.join("a.md"), "An emu runs.").unwrap();
    until("the change is taken in", LIMIT, || {
        (total("emu") == 1).then_some(())
    });
    assert_eq!(total("ostrich"), 0);
    fs::remove_file(docs.join("b.md")).unwrap();
    until("the file is gone", LIMIT, || {
        (total("heron") == 0).then_some(())
    });
    daemon.call("remove_source", json!({"source": source}));
    assert_eq!(total("emu"), 0);

    daemon.call("create_session", json!({"session": "s1"}));
    daemon.call(
        "record_message",
        json!({"session": "s1", "sender": "user", "content": "a flamingo"}),
    );
    assert_eq!(total("flamingo"), 1);
    daemon.call("forget_session", json!({"session": "s1"}));
    assert_eq!(total("flamingo"), 0);
    for search_type in ["vector", "hybrid", "semantic"] {
        let args = json!({"query": "flamingo emu", "search_type": search_type});
        let reply = daemon.call("search", args);
        assert!(ids(&reply).is_empty(), "{search_type}: {reply:#}");
    }
}

/// A changed file in an unwatched source is reported as changed.
#[test]
fn a_changed_file_is_told() {
    let (home, daemon) = serve!();
    let docs = folder(&home, "docs", &[("a.md", "A toucan sings.")]);
    add(&daemon, &docs, json!({"watch": false}));
    let search = || daemon.call("search_documents", json!({"query": "toucan"}));
    assert_eq!(search()["results"][0]["changed"], json!(false));
    fs::write(docs.join("a.md"), "Something else.").unwrap();
    assert_eq!(search()["results"][0]["changed"], json!(true));
    daemon.call("rescan", json!({}));
    until("it is taken in again", LIMIT, || {
        let args = json!({"query": "toucan", "search_type": "text"});
        let reply = daemon.call("search_documents", args);
        (reply["total"] == 0).then_some(())
    });
}
