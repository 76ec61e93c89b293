//! Input schemas use only features that every MCP host accepts: no combinators at the root, no unions of types,
//! no references, no `null` defaults.
#![cfg(feature = "schema")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use lore::protocol::{
    checkpoints, documents, entities, hooks, log, messages, packs, projects, search, sessions,
    status, steps,
};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().into()
}

fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("record_step", schema::<steps::RecordStepArgs>()),
        ("resolve_variables", schema::<steps::ResolveVariablesArgs>()),
        (
            "resolve_parameters",
            schema::<steps::ResolveParametersArgs>(),
        ),
        ("get_step", schema::<steps::GetStepArgs>()),
        ("list_steps", schema::<steps::ListStepsArgs>()),
        ("follow_events", schema::<log::FollowEventsArgs>()),
        ("commit_cursor", schema::<log::CommitCursorArgs>()),
        ("list_cursors", schema::<log::ListCursorsArgs>()),
        ("list_extractors", schema::<steps::ListExtractorsArgs>()),
        (
            "register_extractor",
            schema::<steps::RegisterExtractorArgs>(),
        ),
        (
            "register_field_mapping",
            schema::<steps::RegisterFieldMappingArgs>(),
        ),
        (
            "workflow_checkpoint_save",
            schema::<checkpoints::SaveArgs>(),
        ),
        (
            "workflow_checkpoint_load",
            schema::<checkpoints::LoadArgs>(),
        ),
        (
            "workflow_checkpoint_list",
            schema::<checkpoints::ListArgs>(),
        ),
        ("workflow_mark_critical", schema::<checkpoints::MarkArgs>()),
        (
            "workflow_checkpoint_delete",
            schema::<checkpoints::DeleteArgs>(),
        ),
        (
            "workflow_checkpoint_diff",
            schema::<checkpoints::DiffArgs>(),
        ),
        (
            "workflow_checkpoint_fork",
            schema::<checkpoints::ForkArgs>(),
        ),
        (
            "workflow_context_compress",
            schema::<checkpoints::CompressArgs>(),
        ),
        (
            "workflow_context_prioritize",
            schema::<checkpoints::PrioritizeArgs>(),
        ),
        ("compact", schema::<log::CompactArgs>()),
        ("export_log", schema::<log::ExportLogArgs>()),
        ("import_log", schema::<log::ImportLogArgs>()),
        ("backup", schema::<log::BackupArgs>()),
        ("backup_blob", schema::<log::BackupBlobArgs>()),
        ("backup_objects", schema::<log::BackupObjectsArgs>()),
        ("create_session", schema::<sessions::CreateSessionArgs>()),
        ("update_session", schema::<sessions::UpdateSessionArgs>()),
        ("close_session", schema::<sessions::CloseSessionArgs>()),
        ("get_session", schema::<sessions::GetSessionArgs>()),
        ("list_sessions", schema::<sessions::ListSessionsArgs>()),
        ("lease_session", schema::<sessions::LeaseSessionArgs>()),
        ("release_session", schema::<sessions::ReleaseSessionArgs>()),
        ("fork_session", schema::<sessions::ForkSessionArgs>()),
        ("diff_session", schema::<sessions::DiffSessionArgs>()),
        ("forget", schema::<log::ForgetArgs>()),
        ("forget_session", schema::<sessions::ForgetSessionArgs>()),
        ("metrics", schema::<sessions::MetricsArgs>()),
        ("record_hook", schema::<hooks::RecordHookArgs>()),
        ("record_message", schema::<messages::RecordMessageArgs>()),
        ("record_tool", schema::<messages::RecordToolArgs>()),
        ("list_messages", schema::<messages::ListMessagesArgs>()),
        ("list_entities", schema::<entities::ListEntitiesArgs>()),
        ("get_entity", schema::<entities::GetEntityArgs>()),
        ("relate_entities", schema::<entities::RelateEntitiesArgs>()),
        ("resolve_entity", schema::<entities::ResolveEntityArgs>()),
        ("unmerge_entity", schema::<entities::UnmergeEntityArgs>()),
        ("enrich_message", schema::<packs::EnrichMessageArgs>()),
        ("context_pack", schema::<packs::ContextPackArgs>()),
        ("prune_session", schema::<packs::PruneSessionArgs>()),
        ("reset_pruning", schema::<packs::ResetPruningArgs>()),
        ("why", schema::<packs::WhyArgs>()),
        ("get_context", schema::<projects::GetContextArgs>()),
        ("update_context", schema::<projects::UpdateContextArgs>()),
        ("append_context", schema::<projects::AppendContextArgs>()),
        ("clear_context", schema::<projects::ClearContextArgs>()),
        ("context_history", schema::<projects::ContextHistoryArgs>()),
        ("diff_context", schema::<projects::DiffContextArgs>()),
        ("list_contexts", schema::<projects::ListContextsArgs>()),
        ("get_template", schema::<projects::GetTemplateArgs>()),
        ("list_templates", schema::<projects::ListTemplatesArgs>()),
        ("init_project", schema::<projects::InitProjectArgs>()),
        ("list_projects", schema::<projects::ListProjectsArgs>()),
        ("share_project", schema::<projects::ShareProjectArgs>()),
        ("list_shares", schema::<projects::ListSharesArgs>()),
        ("add_source", schema::<documents::AddSourceArgs>()),
        ("remove_source", schema::<documents::RemoveSourceArgs>()),
        ("list_sources", schema::<documents::ListSourcesArgs>()),
        ("put_document", schema::<documents::PutDocumentArgs>()),
        ("remove_document", schema::<documents::RemoveDocumentArgs>()),
        ("list_documents", schema::<documents::ListDocumentsArgs>()),
        ("rescan", schema::<documents::RescanArgs>()),
        (
            "get_document_contexts",
            schema::<documents::GetDocumentContextsArgs>(),
        ),
        (
            "get_index_summary",
            schema::<documents::GetIndexSummaryArgs>(),
        ),
        (
            "explore_document_structure",
            schema::<documents::ExploreDocumentStructureArgs>(),
        ),
        (
            "get_document_content",
            schema::<documents::GetDocumentContentArgs>(),
        ),
        ("search_documents", schema::<search::SearchDocumentsArgs>()),
        ("search", schema::<search::SearchArgs>()),
        ("search_work_items", schema::<search::SearchWorkItemsArgs>()),
        (
            "search_by_work_item",
            schema::<search::SearchByWorkItemArgs>(),
        ),
        ("semantic_search", schema::<search::SemanticSearchArgs>()),
        ("search_by_chunk", schema::<search::SearchByChunkArgs>()),
        (
            "search_file_chunks",
            schema::<search::SearchFileChunksArgs>(),
        ),
        (
            "search_chunk_range",
            schema::<search::SearchChunkRangeArgs>(),
        ),
        (
            "get_work_item_list",
            schema::<search::GetWorkItemListArgs>(),
        ),
        (
            "get_work_item_summary",
            schema::<search::GetWorkItemSummaryArgs>(),
        ),
        ("export_session", schema::<sessions::ExportSessionArgs>()),
        ("import_session", schema::<sessions::ImportSessionArgs>()),
        ("read_events", schema::<log::ReadEventsArgs>()),
        ("verify_log", schema::<log::VerifyLogArgs>()),
        ("status", schema::<status::StatusArgs>()),
    ]
}

fn walk(path: &str, value: &Value, faults: &mut Vec<String>) {
    if let Some(object) = value.as_object() {
        for (key, inner) in object {
            let path = format!("{path}/{key}");
            // The daemon publishes a closed list of names as an `enum`.
            let is_names = |list: &Value| {
                let list = list.as_array();
                list.is_some_and(|list| list.iter().all(|one| one.get("const").is_some()))
            };
            let bad = match key.as_str() {
                "oneOf" if is_names(inner) => false,
                "oneOf" | "anyOf" | "allOf" | "$ref" | "$defs" => true,
                "type" => inner.is_array(),
                "default" => inner.is_null(),
                _ => false,
            };
            if bad {
                faults.push(format!("{path}: {inner}"));
            }
            walk(&path, inner, faults);
        }
    }
    for (place, inner) in value.as_array().into_iter().flatten().enumerate() {
        walk(&format!("{path}/{place}"), inner, faults);
    }
}

#[test]
fn input_schemas_suit_every_host() {
    let mut faults = Vec::new();
    for (name, schema) in all() {
        assert_eq!(schema["type"], "object", "{name}: {schema}");
        assert_eq!(schema["additionalProperties"], false, "{name}: {schema}");
        walk(name, &schema, &mut faults);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn only_what_must_be_there_is_required() {
    let required = |name: &str| {
        let schema = all()
            .into_iter()
            .find(|(known, _)| *known == name)
            .unwrap()
            .1;
        schema["required"].as_array().cloned().unwrap_or_default()
    };
    assert_eq!(required("record_step"), ["tool"]);
    assert_eq!(required("resolve_variables"), ["names"]);
    assert_eq!(required("register_field_mapping"), ["field", "aliases"]);
    assert_eq!(required("import_session"), ["content"]);
    assert_eq!(required("record_message"), ["sender", "content"]);
    assert_eq!(required("record_tool"), ["tool"]);
    assert_eq!(required("fork_session"), ["session"]);
    assert_eq!(required("diff_session"), ["a"]);
    assert_eq!(required("get_entity"), ["name"]);
    assert_eq!(required("get_context"), ["project_id", "file_type"]);
    assert_eq!(
        required("update_context"),
        ["project_id", "file_type", "content"]
    );
    assert_eq!(required("get_template"), ["file_type"]);
    assert_eq!(required("init_project"), ["path"]);
    for name in [
        "get_session",
        "list_sessions",
        "list_messages",
        "list_entities",
        "lease_session",
        "list_templates",
        "list_projects",
    ] {
        assert!(required(name).is_empty(), "{name}");
    }
    assert_eq!(required("search_work_items"), ["query"]);
    assert_eq!(required("search_by_work_item"), ["work_item_id"]);
    assert_eq!(required("search_by_chunk"), ["chunk_pattern"]);
    assert_eq!(required("search_file_chunks"), ["file_name"]);
    assert_eq!(required("search_chunk_range"), ["file_name"]);
    assert!(required("get_work_item_list").is_empty());
    assert!(required("export_session").is_empty());
    assert!(required("list_steps").is_empty());
    assert_eq!(required("workflow_checkpoint_save"), ["context"]);
    assert!(required("workflow_checkpoint_list").is_empty());
    assert_eq!(required("workflow_mark_critical"), ["contextKey"]);
    assert_eq!(required("workflow_checkpoint_diff"), ["from", "to"]);
    assert_eq!(required("workflow_context_compress"), ["maxTokens"]);
    assert!(required("workflow_checkpoint_load").is_empty());
    assert!(required("workflow_context_prioritize").is_empty());
}
