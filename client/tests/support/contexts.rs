//! Canned replies about context files and projects.

use lore::protocol::{Code, ErrorBody};
use serde_json::{Value, json};

use super::cli::Answer;

/// Returns the reply for an operation, which depends on few of its arguments.
pub fn reply(name: &str, args: &str) -> Answer {
    let json = match name {
        "get_context" if args.contains("features") => NOT_WRITTEN,
        "get_context" if args.contains("cleared") => {
            r#"{"project":"p","file_type":"cleared","version":4,"updated_at":"2026-01-01T00:00:00Z","updated_by":"x","change":"cleared","path":"/d/cleared.md","position":9,"durable":true}"#
        }
        "get_context" if args.contains("draft") => DRAFT,
        "get_context" => WRITTEN,
        "update_context" if args.contains("\"expected_version\":1") => {
            return Err(conflict(Some("# Both\r\n\u{9b}")));
        }
        "update_context" if args.contains("\"expected_version\":2") => return Err(conflict(None)),
        "update_context" if args.contains("\"expected_version\":3") => {
            return Err(ErrorBody::new(Code::Conflict, "others write").hint("Read it."));
        }
        "update_context" if args.contains("fits not") => UNFIT,
        "update_context" if args.contains("never fits") => NEVER_FIT,
        "update_context" | "append_context" => {
            r#"{"success":true,"status":"success","message":"Context updated successfully","project":"p","file_type":"bugs","version":7,"attempt_count":1,"validation_result":{"valid":true,"errors":[{"type":"content_quality","line":3,"message":"Looks like placeholder text: TODO","severity":"warning","correction_prompt":"replace it","template_example":"x"}],"confidence":0.98},"path":"/d/bugs.md","position":9,"durable":true,"warnings":["this replaced version 6 by `x\u001b`"]}"#
        }
        "clear_context" if args.contains("features") => {
            r#"{"project":"p","file_type":"features","version":0,"cleared":false,"position":9,"durable":true}"#
        }
        "clear_context" => {
            r#"{"project":"p","file_type":"bugs","version":8,"archived_version":7,"cleared":true,"position":9,"durable":true}"#
        }
        "context_history" if args.contains("features") => {
            r#"{"project":"p","file_type":"features","versions":[],"position":9,"durable":true}"#
        }
        "context_history" => HISTORY,
        "diff_context" => {
            r#"{"project":"p","file_type":"bugs","from":1,"to":2,"changed_sections":["open_issues"],"added":1,"removed":2,"diff":"--- bugs version 1\n+++ bugs version 2\n-a\n-b\n+c\u009b\n","position":9,"durable":true}"#
        }
        "list_contexts" => FILES,
        "list_templates" => TEMPLATES,
        "get_template" => {
            r##"{"file_type":"runbook","title":"Runbook","description":"d","origin":"project","path":"/s/.lore/templates/runbook.toml","template":"name = \"runbook\"\n","example":"# Runbook\n","required_sections":["steps"],"schema":{},"project":"p","position":9,"durable":true}"##
        }
        "init_project" => {
            r#"{"project":"shop-1","name":"Shop\u202e","path":"/s/shop","context_path":"/d/projects/shop-1","created":true,"worktree":"/s/fix","branch":"fix/it","position":9,"durable":true}"#
        }
        "list_projects" if args.contains("limit") => {
            r#"{"projects":[],"position":9,"durable":true}"#
        }
        "list_projects" => PROJECTS,
        _ => {
            return Err(ErrorBody::new(
                Code::UnknownOperation,
                "operation not found",
            ));
        }
    };
    Ok((json.to_owned(), None))
}

/// Returns a conflict with two versions, merged or not.
fn conflict(merged: Option<&str>) -> ErrorBody {
    let mut details = json!({
        "base": {"version": 1, "content": "# A\n"},
        "theirs": {"version": 5, "content": "# B\n", "agent": "x"},
    });
    if let (Some(merged), Some(reported)) = (merged, details.as_object_mut()) {
        reported.insert("merged".to_owned(), Value::from(merged));
    }
    ErrorBody::new(
        Code::Conflict,
        "`bugs` is at version 5, by `x`; you changed version 1",
    )
    .hint("`details.merged` has both changes")
    .details(details)
}

const WRITTEN: &str = r##"{"project":"p","file_type":"bugs","content":"# Bugs\r\n\u009b","version":3,"updated_at":"2026-01-01T00:00:00Z","updated_by":"file","change":"edited","validation":{"valid":false,"errors":[{"type":"missing_section","section":"resolved_issues","line":1,"message":"Missing required section: resolved_issues\u001b","severity":"error","correction_prompt":"add it","template_example":"x"}],"more":2,"confidence":0.9},"sections":["bugs"],"tokens":9,"truncated":true,"path":"/d/bugs.md","position":9,"durable":true}"##;
const DRAFT: &str = r##"{"project":"p","file_type":"bugs","content":"# Bugs\n","version":3,"updated_at":"2026-01-01T00:00:00Z","updated_by":"","attempt_count":2,"path":"/d/bugs.md","position":9,"durable":true}"##;
const NOT_WRITTEN: &str = r##"{"project":"p","file_type":"features","version":0,"template":{"description":"What it can do","required_sections":["a","b"],"example":"# A\n","next_steps":"Write it."},"path":"/d/features.md","position":9,"durable":true}"##;
const UNFIT: &str = r###"{"success":false,"status":"correction_needed","message":"Content needs correction","project":"p","file_type":"bugs","attempt_count":2,"validation_result":{"valid":false,"confidence":0.8},"validation_errors":[{"type":"missing_section","section":"open_issues","line":1,"message":"Missing required section: open_issues","severity":"error","correction_prompt":"add a section\nwith bugs","template_example":"x"},{"type":"schema_violation","line":7,"message":"no \u001bdate","severity":"error","correction_prompt":"","template_example":""}],"correction_guidance":{"primary_issue":"Missing required section: open_issues","step_by_step_fix":["1. Add a new section header: ## open issues","then: no date (line 7)"],"template_to_follow":"## Open Issues\n\nNone.\n","example_fix":"x","retry_instructions":"Take your original content"},"next_steps":"Your content has validation issues.","path":"/d/bugs.md","position":9,"durable":true}"###;
const NEVER_FIT: &str = r#"{"success":false,"status":"max_attempts_reached","message":"Content did not fit in 4 attempts","project":"p","file_type":"bugs","attempt_count":4,"validation_result":{"valid":false,"confidence":0.9},"next_steps":"Read the draft.","path":"/d/bugs.md","position":9,"durable":true,"validation_errors":[{"type":"schema_violation","line":7,"message":"no date","severity":"error","correction_prompt":"give it","template_example":""}]}"#;
const HISTORY: &str = r#"{"project":"p","file_type":"bugs","versions":[{"version":3,"position":8,"at":"2026-01-03T00:00:00Z","agent":"file","change":"edited","bytes":2048,"errors":1,"warnings":0,"base":1,"beside":2,"changed_sections":["open_issues","resolved_issues"]},{"version":2,"position":7,"at":"2026-01-02T00:00:00Z","agent":"","change":"cleared","bytes":0,"errors":0,"warnings":0,"reason":"moved\u202e"}],"next":"c-1","position":9,"durable":true}"#;
const FILES: &str = r#"{"project":"p","contexts":[{"file_type":"bugs","description":"d","written":true,"version":3,"updated_at":"2026-01-03T00:00:00Z","updated_by":"x","bytes":2048,"errors":1,"drafts":["y",""],"path":"/d/bugs.md"},{"file_type":"features","description":"What it can do","written":false,"version":0,"bytes":0,"errors":0,"path":"/d/features.md"}],"position":9,"durable":true}"#;
const TEMPLATES: &str = r#"{"templates":[{"file_type":"bugs","title":"Bugs","description":"What is wrong","origin":"built_in","required_sections":["open_issues"]},{"file_type":"runbook","title":"Runbook","description":"What to do","origin":"user","path":"/c/templates/runbook.toml","required_sections":[]}],"broken":[{"path":"/c/templates/b\u001b.toml","line":3,"reason":"unknown key `nmae`; did you mean `name`?"}],"position":9,"durable":true}"#;
const PROJECTS: &str = r#"{"projects":[{"project":"shop-1","name":"Shop","path":"/s/shop","context_path":"/d/projects/shop-1","contexts":["bugs","features"],"templates":["bugs"],"worktrees":[{"path":"/s/shop","branch":"main","noted_at":"2026-01-01T00:00:00Z"},{"path":"/s/fix","noted_at":"2026-01-01T00:00:00Z"}],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z"},{"project":"other","name":"other","path":"/s/other","context_path":"/d/projects/other","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}],"current":"shop-1","next":"c-2","position":9,"durable":true}"#;
