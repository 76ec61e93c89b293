//! The most expensive arguments of each operation.

use serde_json::{Value, json};

use crate::store::{Store, deep, dense, large_bytes, wide, words};

/// Maximum size of a page of an export, in bytes.
const PAGE_BYTES_MAX: usize = 32 << 20;
/// Size of the largest preferences, about, in bytes.
const PREFERENCES_BYTES: usize = 16_000;
/// Size of a large context file that is not too large, in bytes.
const CONTEXT_BYTES: usize = 1_000_000;
/// Maximum size of a name, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// Maximum number of items of a page.
const PAGE_MAX: u64 = 500;
/// Maximum of a number in a schema without one.
const MOST: u64 = u32::MAX as u64;

/// Returns the most expensive arguments of an operation, as JSON texts; `None` for an operation that has none here.
pub fn expensive(store: &Store, name: &str) -> Option<Vec<String>> {
    let session = store.session;
    let each = |list: Vec<Value>| Some(list.iter().map(Value::to_string).collect());
    let one = |value: Value| each(vec![value]);
    let [old, new] = &store.checkpoints;
    let project = &store.project;
    let file = |more: Value| {
        let mut args = json!({"project_id": project, "file_type": "features"});
        args.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        args
    };
    match name {
        "resolve_variables" => each(variables(session)),
        "resolve_parameters" => Some(parameters(session)),
        "get_step" => each(
            (1..=5)
                .map(|step| json!({"session": session, "step": step}))
                .collect(),
        ),
        "list_messages" => each(vec![
            json!({"session": session, "limit": PAGE_MAX}),
            json!({"session": session, "message": store.message}),
        ]),
        "list_steps" => one(json!({"session": session, "limit": MOST})),
        "list_entities" => one(json!({"session": session, "limit": PAGE_MAX})),
        "list_extractors" | "get_session" | "reset_pruning" => one(json!({"session": session})),
        "register_extractor" => each(
            [1, 8]
                .map(|times| {
                    let pattern = "(a|b|c|[a-z]{1,50}){1,50}".repeat(times);
                    json!({"session": session, "name": "x".repeat(64), "pattern": pattern})
                })
                .into(),
        ),
        "register_field_mapping" => one(json!({"session": session, "field": "f",
            "aliases": numbered(64)})),
        "record_step" => Some(vec![
            format!(
                r#"{{"session":"{session}","tool":"t","result":{}}}"#,
                dense(8 * large_bytes())
            ),
            format!(
                r#"{{"session":"{session}","tool":"t","result":"r","parameters":{{"a":{}}}}}"#,
                dense(8 * large_bytes())
            ),
        ]),
        "record_tool" => Some(vec![
            format!(
                r#"{{"session":"{session}","tool":"t","result":{}}}"#,
                wide(8 * large_bytes())
            ),
            format!(
                r#"{{"session":"{session}","tool":"t","result":"r","parameters":{{"a":{}}}}}"#,
                dense(8 * large_bytes())
            ),
        ]),
        "record_message" => {
            one(json!({"session": session, "sender": "user", "content": words(2 * large_bytes())}))
        }
        "record_hook" => one(
            json!({"host": "claude", "payload": json!({"session_id": "h",
            "hook_event_name": "UserPromptSubmit", "prompt": words(large_bytes())}).to_string()}),
        ),
        "remember" => each(vec![
            json!({"session": session, "text": words(1000)}),
            json!({"session": session, "text": words(large_bytes())}),
        ]),
        "create_session" => Some(vec![
            json!({"preferences": {"a": words(PREFERENCES_BYTES)}}).to_string(),
            format!(r#"{{"preferences":{{"a":{}}}}}"#, dense(4 * large_bytes())),
        ]),
        "update_session" => Some(vec![
            json!({"session": session, "preferences": {"a": words(PREFERENCES_BYTES)}}).to_string(),
            format!(
                r#"{{"session":"{session}","preferences":{{"a":{}}}}}"#,
                dense(4 * large_bytes())
            ),
        ]),
        "list_sessions" => one(json!({"state": "any", "limit": PAGE_MAX})),
        "close_session" => one(json!({"session": "small"})),
        "forget_session" => one(json!({"session": "small", "dry_run": true})),
        "lease_session" => {
            one(json!({"session": session, "name": "n".repeat(100), "ms": 3_600_000}))
        }
        "release_session" => one(json!({"session": session, "token": MOST})),
        "fork_session" => one(json!({"session": session})),
        "export_session" => each(vec![
            json!({"session": session, "bytes_max": PAGE_BYTES_MAX}),
            json!({"session": session, "bytes_max": PAGE_BYTES_MAX, "format": "markdown"}),
        ]),
        "export_log" => one(json!({"bytes_max": PAGE_BYTES_MAX})),
        "import_session" => each(
            [90_000, large_bytes()]
                .map(|lines| json!({"content": store.export.clone() + &"\n".repeat(lines)}))
                .into(),
        ),
        "import_transcripts" => {
            let long = format!("/{}", words(large_bytes() / 64));
            let folders = vec![json!({"path": long, "host": "codex"}); 64];
            each(vec![
                json!({"folders": [{"path": store.transcripts}]}),
                json!({"hosts": vec!["claude-code"; 1000], "folders": folders}),
            ])
        }
        "import_log" => one(json!({"content": words(8 * large_bytes())})),
        "diff_session" => {
            one(json!({"session": session, "a": "1", "b": store.position.to_string()}))
        }
        "metrics" => one(json!({"since_ms": 31_536_000_000_u64, "limit": 10_000})),
        "get_entity" | "resolve_entity" | "unmerge_entity" => each(vec![
            json!({"session": session, "name": "PROJ-1"}),
            json!({"session": session, "name": words(large_bytes())}),
        ]),
        "relate_entities" => each(
            [NAME_BYTES_MAX, large_bytes()]
                .map(|bytes| {
                    let entity = |name: &str| json!({"kind": "ticket", "name": name.repeat(bytes)});
                    json!({"session": session, "from": entity("a"), "relation": "blocks", "to": entity("b")})
                })
                .into(),
        ),
        "enrich_message" => each(vec![
            json!({"session": session, "message": words(large_bytes()), "max_tokens": 1_000_000}),
            json!({"session": session, "message": words(1 << 16), "max_tokens": 1_000_000}),
        ]),
        "context_pack" => each(vec![
            json!({"session": session, "query": "word1 of line 2", "max_tokens": 1_000_000}),
            json!({"project": project, "query": words(large_bytes()), "max_tokens": 1_000_000}),
        ]),
        "prune_session" => one(json!({"session": session, "strategy": "aggressive", "target": 1})),
        "why" => each(vec![
            json!({"pack": store.pack}),
            json!({"session": session, "step": 1}),
            json!({"checkpoint": new}),
        ]),
        "brief" => one(json!({"max_tokens": 16_000})),
        "handoff" => one(json!({"session": session, "max_tokens": 16_000})),
        "continue_session" => one(json!({"from": session, "max_tokens": 16_000})),
        "memory_tool" => each(vec![
            json!({"command": "view", "path": "/memories", "project_id": project}),
            json!({"command": "create", "path": "/memories/large.txt", "project_id": project,
                "file_text": "x".repeat(CONTEXT_BYTES)}),
        ]),
        "export_trace" => one(json!({"project": project})),
        "list_facts" => one(json!({"project": project, "include_replaced": true, "limit": PAGE_MAX})),
        "undo" => one(json!({"session": session, "dry_run": true, "limit": PAGE_MAX})),
        "who" => one(json!({"project": project})),
        "watch" => one(json!({"session": session, "after": 0})),
        "pause_capture" => one(json!({"ms": 1})),
        "resume_capture" | "compact" | "get_work_item_list" | "get_work_item_summary" => {
            one(json!({}))
        }
        "workflow_checkpoint_load" => each(vec![
            json!({"checkpointId": new}),
            json!({"checkpointId": new, "maxTokens": 1_000_000}),
        ]),
        "workflow_checkpoint_list" => one(json!({"sessionId": session, "limit": 100})),
        "workflow_checkpoint_diff" => one(json!({"from": old, "to": new, "limit": 10_000})),
        "workflow_checkpoint_save" => Some(
            [
                dense(8 * large_bytes()),
                wide(8 * large_bytes()),
                deep(large_bytes()),
            ]
            .map(|value| format!(r#"{{"sessionId":"{session}","context":{{"a":{value}}}}}"#))
            .into(),
        ),
        "workflow_context_compress" | "workflow_context_prioritize" => {
            let mut all: Vec<String> = [dense(8 * large_bytes()), wide(8 * large_bytes())]
                .map(|value| format!(r#"{{"maxTokens":100000,"context":{{"a":{value}}}}}"#))
                .into();
            all.push(json!({"checkpointId": new, "maxTokens": 100_000}).to_string());
            Some(all)
        }
        "workflow_mark_critical" => each(
            [1000, large_bytes()]
                .map(|bytes| json!({"sessionId": session, "contextKey": words(bytes)}))
                .into(),
        ),
        "workflow_checkpoint_fork" => one(json!({"checkpointId": new})),
        "workflow_checkpoint_delete" => one(json!({"checkpointId": old})),
        "init_project" => each(
            [NAME_BYTES_MAX, large_bytes()]
                .map(|bytes| json!({"path": project, "name": "n".repeat(bytes)}))
                .into(),
        ),
        "get_context" => one(file(json!({"max_tokens": MOST}))),
        "update_context" => each(
            [CONTEXT_BYTES, 2 * large_bytes()]
                .map(|bytes| file(json!({"content": words(bytes)})))
                .into(),
        ),
        "append_context" => each(
            [CONTEXT_BYTES, 2 * large_bytes()]
                .map(|bytes| file(json!({"entry": words(bytes)})))
                .into(),
        ),
        "clear_context" => each(
            [1000, large_bytes()]
                .map(|bytes| file(json!({"reason": words(bytes)})))
                .into(),
        ),
        "context_history" => one(file(json!({"limit": PAGE_MAX}))),
        "diff_context" => one(file(json!({"from": 1}))),
        "get_template" => one(json!({"file_type": "features"})),
        "list_contexts" | "list_shares" | "list_templates" => one(json!({"project_id": project})),
        "share_project" => one(json!({"project_id": project, "user": words(large_bytes())})),
        "list_projects" => one(json!({"limit": PAGE_MAX})),
        "list_cursors" => one(json!({"limit": MOST})),
        "add_source" => {
            one(json!({"path": project, "include": numbered(100), "exclude": numbered(100)}))
        }
        "remove_source" | "list_documents" => one(json!({"source": words(large_bytes())})),
        "rescan" | "list_sources" => one(json!({})),
        "put_document" => each(vec![
            json!({"name": "a.md", "text": format!("# A\n\n{}", words(4 * large_bytes()))}),
            json!({"name": "a.json", "text": dense(large_bytes())}),
        ]),
        "remove_document" => one(json!({"document": words(large_bytes())})),
        "get_document_content" => {
            one(json!({"documents": vec![store.document.clone(); 100], "max_chunks": 200}))
        }
        "get_document_contexts" => one(json!({"include_counts": true})),
        "get_index_summary" => one(json!({"detail_level": "comprehensive"})),
        "explore_document_structure" => each(
            ["contexts", "files", "chunks", "categories"]
                .map(|kind| json!({"structure_type": kind, "max_items": 200}))
                .into(),
        ),
        "search" | "search_documents" => each(vec![
            json!({"query": "word1 of line", "max_results": 50, "include_content": true}),
            json!({"query": words(large_bytes())}),
        ]),
        "recall" => each(vec![
            json!({"question": "which word of line 1", "limit": 20}),
            json!({"question": words(large_bytes())}),
        ]),
        "search_by_chunk" => one(json!({"chunk_pattern": words(large_bytes()), "query": "word1"})),
        "search_by_work_item" => {
            one(json!({"work_item_id": words(large_bytes()), "query": "word1"}))
        }
        "search_chunk_range" => one(json!({"file_name": "hurt.md", "start": 0, "end": MOST})),
        "search_file_chunks" => one(json!({"file_name": "hurt.md", "query": words(large_bytes())})),
        "search_work_items" | "semantic_search" => {
            let key = if name == "semantic_search" {
                "concept"
            } else {
                "query"
            };
            each(vec![
                json!({key: words(large_bytes())}),
                json!({"query": "word1 of line"}),
            ])
        }
        "read_events" | "follow_events" => each(vec![
            json!({"from": 1, "limit": MOST}),
            json!({"from": 1, "limit": 1000}),
        ]),
        "commit_cursor" => one(json!({"name": "c".repeat(100), "position": 1})),
        "timeline" => one(json!({"limit": 4000})),
        "open_page" | "diagnose" => one(json!({})),
        "status" => one(json!({"prometheus": true})),
        "verify_log" => one(json!({})),
        "backup" => one(json!({"bytes_max": 16 << 20})),
        "backup_blob" => one(json!({"blob": "a".repeat(64), "bytes": large_bytes()})),
        "backup_objects" => one(json!({"objects": vec!["a".repeat(64); 256]})),
        "forget" => each(vec![
            json!({"session": session, "dry_run": true}),
            json!({"of_agent": "unknown", "dry_run": true}),
        ]),
        "list_suspects" => one(json!({"include_reviewed": true, "limit": PAGE_MAX})),
        "review" => one(json!({"event": 1, "judgement": "open"})),
        _ => None,
    }
}

fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("name{number}")).collect()
}

/// Names over each large result, as many as a call takes: distinct ones, so that none is known already.
fn variables(session: &str) -> Vec<Value> {
    let every = |name: &dyn Fn(usize) -> String, count| {
        let names: Vec<String> = (0..count).map(name).collect();
        json!({"session": session, "names": names, "all": true})
    };
    let mut all = vec![
        every(
            &|number| format!("{}RESULT_FROM_STEP_4", " ".repeat(number)),
            300,
        ),
        every(
            &|number| format!("RESULT_FROM_STEP_{}", number % 4 + 1),
            300,
        ),
        every(&|_| "COMBINED_RESULTS_FROM_STEPS_1_TO_4".to_owned(), 100),
        every(
            &|number| format!("ERROR_FROM_STEP_{}", 5 + number % 12),
            300,
        ),
    ];
    for step in 1..=4 {
        for name in [
            "A",
            "A_JSON",
            "ALL_IDS",
            "NAME",
            "ALL_NAMES",
            "A_A",
            "COUNT",
            "NOTHING",
        ] {
            let (field, form) = name
                .strip_suffix("_JSON")
                .map_or((name, ""), |field| (field, "_JSON"));
            all.push(every(&|_| format!("{field}_FROM_STEP_{step}{form}"), 20));
        }
    }
    all
}

/// Parameters that name large values often, and parameters of many values.
fn parameters(session: &str) -> Vec<String> {
    let names = |name: &str, count: usize| vec![format!("{name}"); count];
    let mut all: Vec<String> = [
        json!({"a": names("RESULT_FROM_STEP_4", 300)}),
        json!({"a": names("text {{RESULT_FROM_STEP_1}} and {{RESULT_FROM_STEP_4}}", 300)}),
        json!({"_MULTIPLE_IDS": "ALL_IDS_FROM_STEP_1", "id": 1, "b": words(100_000)}),
        json!({"_IF_NOT_EMPTY": names("RESULT_FROM_STEP_4", 300), "b": 1}),
        json!({"_LIST_ID": "ALL_IDS_FROM_STEP_1", "a": "{ID_FROM_LIST} {NAME_FROM_LIST}",
            "_LIST_NAME": "ALL_NAMES_FROM_STEP_1"}),
    ]
    .iter()
    .map(|parameters| json!({"session": session, "parameters": parameters}).to_string())
    .collect();
    let large = dense(8 * large_bytes());
    all.push(format!(
        r#"{{"session":"{session}","parameters":{{"a":{large}}}}}"#
    ));
    all.push(format!(
        r#"{{"session":"{session}","parameters":{{}},"defaults":{{"a":{large}}}}}"#
    ));
    all
}
