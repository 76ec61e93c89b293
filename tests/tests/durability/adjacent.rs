//! What a daemon serves beside the log and its views: searches from the indexes, cursors of readers, checkpoints.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tests::{Daemon, Random, noise, until};

use super::flips::{DamageReport, ask};

/// Time limit for indexing, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Answers that a store gave before a fault.
pub struct Adjacent {
    /// The arguments of a search, and the ids that it found, in order.
    searches: Vec<(Value, Vec<String>)>,
    cursors: Value,
    /// The id of a checkpoint, and its context.
    checkpoints: Vec<(String, Value)>,
}

fn found(reply: &Value) -> Vec<String> {
    let results = reply["results"].as_array().unwrap();
    let ids = results.iter().map(|hit| hit["id"].as_str().unwrap());
    ids.map(str::to_owned).collect()
}

/// Searches until everything is searched.
fn search(daemon: &Daemon, args: &Value) -> Result<Vec<String>, DamageReport> {
    until("a search of everything", LIMIT, || {
        match ask(daemon, "search", args.clone()) {
            Ok(reply) if reply.get("partial").is_some() => None,
            Ok(reply) => Some(Ok(found(&reply))),
            Err(report) => Some(Err(report)),
        }
    })
}

impl Adjacent {
    /// Adds to a store with the session `w` and these keys of steps, and waits until its indexes are on disk.
    pub fn add(daemon: &Daemon, data: &Path, keys: &[String]) -> Self {
        let contexts = [
            json!({"goal": "small"}),
            json!({"goal": noise(150_000, &mut Random::new(3))}),
        ];
        let checkpoints = contexts.into_iter().map(|context| {
            let args = json!({"sessionId": "w", "context": context});
            let saved = daemon.call("workflow_checkpoint_save", args);
            (saved["checkpointId"].as_str().unwrap().to_owned(), context)
        });
        let checkpoints = checkpoints.collect();
        daemon.call("commit_cursor", json!({"name": "reader", "position": 5}));
        let searches = keys.iter().map(|key| {
            let args = json!({"query": key, "search_type": "text", "kinds": ["step"], "limit": 20});
            let ids = search(daemon, &args).ok().unwrap();
            assert!(!ids.is_empty(), "{key} is found");
            (args, ids)
        });
        let searches = searches.collect();
        // Written last, once the files of a segment are complete.
        let list = data.join("index/text/meta.json");
        until("an index on disk", LIMIT, || {
            let list: Value = serde_json::from_slice(&std::fs::read(&list).ok()?).ok()?;
            let segments = list["segments"].as_array()?;
            (!segments.is_empty()).then_some(())
        });
        Self {
            searches,
            cursors: daemon.call("list_cursors", json!({}))["cursors"].take(),
            checkpoints,
        }
    }

    /// Compares the answers of a daemon. Damage may be reported; another answer is a failure.
    pub fn compare(&self, daemon: &Daemon) -> Result<(), DamageReport> {
        for (args, ids) in &self.searches {
            assert_eq!(search(daemon, args)?, *ids, "{args} finds something else");
        }
        let cursors = ask(daemon, "list_cursors", json!({}))?;
        if cursors["cursors"] != self.cursors {
            // Readers continue from an earlier position then, and it is said in the log.
            return Err(DamageReport(format!("cursors: {cursors}")));
        }
        for (id, context) in &self.checkpoints {
            let loaded = ask(
                daemon,
                "workflow_checkpoint_load",
                json!({"checkpointId": id}),
            )?;
            assert!(loaded["context"] == *context, "{id} is another");
        }
        Ok(())
    }
}
