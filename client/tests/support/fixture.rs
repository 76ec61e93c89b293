//! The program against a daemon that knows sessions, messages, entities and packs by heart.

use std::path::Path;
use std::sync::{Arc, Mutex};

use lore::protocol::{Code, ErrorBody};
use serde_json::Value;

use super::cli::{self, Answer};

/// The program, its home, and what it sent.
pub struct Fixture {
    home: tempfile::TempDir,
    pub sent: Arc<Mutex<Vec<(String, String)>>>,
}

impl Fixture {
    pub fn new() -> Self {
        Self::with(reply)
    }

    /// With a daemon that replies this.
    pub fn with(reply: impl Fn(&str, &str) -> Answer + Send + 'static) -> Self {
        let home = tempfile::tempdir().unwrap();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&sent);
        cli::serve(home.path(), move |name, args| {
            recorded.lock().unwrap().push((name.into(), args.into()));
            reply(name, args)
        });
        Self { home, sent }
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Exit code, standard output, standard error.
    pub fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        cli::run(self.home(), arguments)
    }

    /// What a run that ends well prints.
    pub fn out(&self, arguments: &[&str]) -> String {
        let (code, out, err) = self.run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    }

    /// What the last call said.
    pub fn last(&self) -> (String, String) {
        self.sent.lock().unwrap().last().unwrap().clone()
    }

    /// Checks the requests that runs send: arguments, operation, and its arguments.
    pub fn check_sent(&self, wanted: &[(&[&str], &str, &str)]) {
        for (arguments, operation, args) in wanted {
            let (called, sent) = self.sends(arguments);
            let [sent, args] =
                [&sent, *args].map(|json| serde_json::from_str::<Value>(json).unwrap());
            assert_eq!((&*called, sent), (*operation, args), "{arguments:?}");
        }
    }

    /// What a run sends; its end does not matter.
    pub fn sends(&self, arguments: &[&str]) -> (String, String) {
        self.sent.lock().unwrap().clear();
        let (_, _, err) = self.run(arguments);
        let sent = self.sent.lock().unwrap().clone();
        assert_eq!(sent.len(), 1, "{arguments:?}: {err}");
        self.last()
    }
}

/// What the daemon replies, whatever is said but for a few words.
pub fn reply(name: &str, args: &str) -> Answer {
    let json = match name {
        "create_session" => {
            r#"{"session":"s-new","position":1,"durable":true,"warnings":["nearly\u001b full"]}"#
        }
        "list_sessions" if args.contains("nobody") => {
            r#"{"sessions":[],"position":9,"durable":true}"#
        }
        "list_sessions" => {
            r#"{"sessions":[{"session":"s1","state":"active","title":"log\u001b[31min","tags":["a","b"],"agents":["x"],"created_at":"2026-01-01T00:00:00Z","last_activity":"2026-01-02T00:00:00Z","steps":3}],"next":"c-1","position":9,"durable":true}"#
        }
        "get_session" => SESSION,
        "update_session" => {
            r#"{"session":"s1","title":"t\u202e","tags":["a"],"preferences":{"theme":"dark"},"position":9,"durable":true}"#
        }
        "close_session" => {
            return Err(ErrorBody::new(Code::Conflict, "the lease is lost").hint("take it again"));
        }
        "fork_session" => {
            r#"{"session":"s2","parent":{"session":"s1","position":7},"position":9,"durable":true}"#
        }
        "diff_session" if args.contains("\"a\":9") => {
            r#"{"session":"s1","a":9,"b":9,"messages_added":0,"messages_missing":0,"position":9,"durable":true}"#
        }
        "diff_session" => DIFF,
        "lease_session" => {
            r#"{"session":"s1","name":"w","token":8,"until":"2026-01-01T00:00:30Z","renewed":false,"position":8,"durable":true}"#
        }
        "release_session" => r#"{"session":"s1","name":"w","position":9,"durable":true}"#,
        "forget_session" => {
            r#"{"session":"s1","events":1,"bytes":2048,"position":9,"durable":true}"#
        }
        "prune_session" if args.contains("aggressive") => {
            r#"{"session":"s1","pruned":true,"strategy":"aggressive","tokens_before":5000,"tokens_after":900,"messages":31,"tools":1,"entities":2,"position":9,"durable":true}"#
        }
        "prune_session" => {
            r#"{"session":"s1","pruned":false,"strategy":"comprehensive","tokens_before":50,"tokens_after":50,"messages":0,"tools":0,"entities":0,"position":9,"durable":true}"#
        }
        "reset_pruning" => {
            r#"{"session":"s1","tokens_before":900,"tokens_after":5000,"position":9,"durable":true}"#
        }
        "metrics" => {
            r#"{"session":"s1","context_size":9,"entity_count":2,"token_usage":30,"points":[{"position":4,"at":"2026-01-01T00:00:00Z","context_size":10,"entity_count":1,"token_usage":10}],"position":9,"durable":true}"#
        }
        "record_message" => {
            r#"{"session":"s1","message":"m-1","tokens":4,"entities":[{"kind":"device","name":"sw\u001b-1","key":"sw-1","how":"pattern"}],"quoted_bytes":12,"position":9,"durable":true}"#
        }
        "list_messages" if args.contains("assistant") => {
            r#"{"session":"s1","messages":[],"position":9,"durable":true}"#
        }
        "list_messages" => {
            r#"{"session":"s1","messages":[{"message":"m-1","position":4,"sender":"user","type":"query","content":"is it\n\u202eup\u009b?","tools":[{"name":"ping"}],"tokens":4,"entities":[{"kind":"device","name":"sw-1","key":"sw-1","how":"known"}],"pack":"p-1","at":"2026-01-01T00:00:00Z","agent":"x"}],"position":9,"durable":true}"#
        }
        "list_entities" => ENTITIES,
        "get_entity" => ENTITY,
        "relate_entities" => {
            r#"{"session":"s1","from":{"kind":"device","name":"a"},"relation":"connected_to","to":{"kind":"ip_address","name":"fe80::1"},"position":9,"durable":true}"#
        }
        "unmerge_entity" => {
            r#"{"session":"s1","entities":[{"kind":"device","name":"sw-1"},{"kind":"device","name":"Switch 1"}],"position":9,"durable":true}"#
        }
        "resolve_entity" if args.contains("nope") => {
            r#"{"session":"s1","resolved":false,"how":"unresolved","position":9,"durable":true,"warnings":["netbox does not answer"]}"#
        }
        "resolve_entity" => {
            r#"{"session":"s1","resolved":true,"how":"upstream","entity":{"kind":"device","name":"sw-1","key":"sw-1","id":"7","mentions":1,"first_mentioned":"2026-01-01T00:00:00Z","last_mentioned":"2026-01-01T00:00:00Z","relevance":5.5,"resolved":true},"data":{"status":"act\u202eive"},"resolver":"netbox","position":9,"durable":true}"#
        }
        "enrich_message" => {
            r#"{"session":"s1","pack":"p-1","prompt":"before\u009b\n\nnow","tokens":20,"max_tokens":30,"sections":[{"name":"history","start":0,"end":8,"tokens":12,"pieces":[{"kind":"message","id":"m-1","session":"s1","position":4}]},{"name":"message","start":10,"end":13,"tokens":8}],"left_out":[{"kind":"step","id":"2.1","session":"s1","position":5,"part":"text","bytes":90,"why":"budget"}],"cached":true,"position":9,"durable":true}"#
        }
        "context_pack" => {
            r#"{"pack":"p-2","prompt":"task","tokens":2,"max_tokens":4000,"sections":[],"cached":false,"position":9,"durable":true}"#
        }
        "why" if args.contains("m-9") => {
            r#"{"of":{"kind":"message","id":"m-9","session":"s1","position":6,"event":"MessageRecorded","at":"2026-01-01T00:00:00Z","agent":"x"},"used_by":[],"position":9,"durable":true}"#
        }
        "why" => WHY,
        _ => {
            return Err(ErrorBody::new(
                Code::UnknownOperation,
                "operation not found",
            ));
        }
    };
    Ok((json.to_owned(), None))
}

const SESSION: &str = r#"{"session":"s1","state":"active","title":"log\u001bin","preferences":{"theme":"da\u202erk"},"agents":["x","y"],"parent":{"session":"s0","position":3},"created_at":"2026-01-01T00:00:00Z","last_activity":"2026-01-02T00:00:00Z","changed":8,"messages":3,"steps":2,"entities":1,"checkpoints":2,"total_size_bytes":2048,"active_entities":[{"kind":"device","name":"sw-1","key":"sw-1","mentions":2,"first_mentioned":"2026-01-01T00:00:00Z","last_mentioned":"2026-01-02T00:00:00Z","relevance":9.61,"parent":{"kind":"site","name":"NYC"},"resolved":false}],"tool_history":[{"tool":"ping","status":"completed","at":"2026-01-01T00:00:00Z","agent":"x","position":4,"step":2,"attempt":1}],"last_tool_results":{},"token_usage":{"total":9,"user":4,"assistant":5,"system":0,"tool":0,"packs":20},"context_size":9,"pruning_history":[{"position":7,"at":"2026-01-01T00:00:00Z","strategy":"aggressive","tokens_before":50,"tokens_after":9,"undone":true}],"leases":[{"name":"w","agent":"y","until":"2026-01-02T00:00:30Z"}],"position":9,"durable":true}"#;
const DIFF: &str = r#"{"session":"s1","a":2,"b":9,"fields":[{"field":"title","before":"a","after":"b\u202e"},{"field":"topic","after":"x"},{"field":"preferences.n","before":1}],"messages":["m-1"],"messages_added":3,"messages_missing":1,"entities":[{"kind":"device","name":"sw-1","mentions_before":0,"mentions_after":2},{"kind":"site","name":"NYC","mentions_before":1,"mentions_after":4}],"values":[{"step":1,"after":"x"},{"step":2,"before":"x","after":"y\u001b"}],"keys":["/goal changed","/a b added"],"position":9,"durable":true}"#;
const ENTITIES: &str = r#"{"entities":[{"kind":"device","name":"sw\u202e-1","key":"sw-1","mentions":2,"first_mentioned":"2026-01-01T00:00:00Z","last_mentioned":"2026-01-02T00:00:00Z","relevance":9.61,"parent":{"kind":"site","name":"NYC"},"resolved":false}],"kinds":{"device":1,"site":2},"position":9,"durable":true}"#;
const ENTITY: &str = r#"{"session":"s1","entity":{"kind":"device","name":"sw-1","key":"sw-1","id":"7","mentions":2,"first_mentioned":"2026-01-01T00:00:00Z","last_mentioned":"2026-01-02T00:00:00Z","relevance":9.61,"resolved":true},"children":[{"kind":"interface","name":"eth0"}],"relations":[{"relation":"<connected_to","kind":"device","name":"r1","key":"r1","count":2}],"mentions":[{"position":4,"at":"2026-01-01T00:00:00Z","message":"m-1","snippet":"is sw-1\nup"},{"position":5,"at":"2026-01-01T00:00:00Z","step":2,"attempt":3}],"data":{"status":"up\u009b"},"data_from":"netbox","position":9,"durable":true}"#;
const WHY: &str = r#"{"of":{"kind":"message","id":"m-1","session":"s1","position":4,"event":"MessageRecorded","at":"2026-01-01T00:00:00Z","agent":""},"pack":{"pack":"p-1","made_for":"message","wanted":"ab","session":"s1","position":3,"at":"2026-01-01T00:00:00Z","agent":"x","tokens":20,"max_tokens":30,"sections":[{"name":"history","tokens":12},{"name":"message","tokens":8}],"rests_on":[{"kind":"step","id":"2.1"}]},"used_by":[{"pack":"p-2","position":8}],"position":9,"durable":true}"#;
