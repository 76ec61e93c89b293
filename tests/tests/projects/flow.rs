//! Guided correction: invalid content is returned with its fixes, under the tool names that agents know.

use serde_json::{Value, json};
use tests::{Daemon, Home, McpHost, McpRevision, has, has_words, serve};

use super::{folder, get, history, model, path_of, text, version};

/// An agent on an MCP host that writes one project's mental model.
struct Agent {
    lines: McpHost,
    dir: String,
    name: &'static str,
}

impl Agent {
    fn new(home: &Home, daemon: &Daemon, era: McpRevision, name: &'static str) -> Self {
        Self {
            lines: McpHost::connect(daemon, era),
            dir: folder(home, &format!("{era:?}")),
            name,
        }
    }

    fn tell(&mut self, tool: &str, mut args: Value) -> Value {
        args["project_id"] = self.dir.as_str().into();
        args["file_type"] = "mental_model".into();
        args["agent"] = self.name.into();
        let result = self.lines.call(tool, &args);
        assert_ne!(result["isError"], true, "{result:#}");
        let reply: Value = serde_json::from_str(text(&result["content"][0]["text"])).unwrap();
        if let Some(structured) = result.get("structuredContent") {
            assert_eq!(*structured, reply, "both forms say the same");
        }
        reply
    }

    fn update(&mut self, content: &str) -> Value {
        self.tell("update_context", json!({"content": content}))
    }

    fn draft(&mut self) -> Value {
        self.tell("get_context", json!({"draft": true}))
    }
}

const ERAS: [McpRevision; 2] = [McpRevision::Older, McpRevision::Newest];

fn whole() -> String {
    model("Stall", "Sales", "how a till is set up")
}

/// Returns the contents that an agent tries, the worst first, with the first diagnostic of each.
fn tries() -> [(String, &'static str, &'static str); 3] {
    let prose = "The till takes sales and keeps them.";
    let list = "- **Till**\n  - **Purpose**: Takes sales\n  - **Location**: `till/`\n  \
                - **Dependencies**: Ledger\n  - **Key Functions**: `Till::sell()`\n  \
                - **Last Verified**: 2025-02-03";
    let flowing = whole();
    let body = flowing.split("## Data Flow\n\n").nth(1).unwrap();
    let body = body.split("\n\n## Key").next().unwrap();
    assert!(flowing.contains(list));
    let without_list = flowing.replace(list, prose);
    [
        (
            without_list.replace(&format!("## Data Flow\n\n{body}\n\n"), ""),
            "missing_section",
            "data_flow",
        ),
        (without_list, "format_error", "components"),
        (
            flowing.replace(body, "Soon."),
            "content_quality",
            "data_flow",
        ),
    ]
}

/// Three invalid attempts, each with another diagnostic first, then a valid one: with the names and texts of the
/// plan that this feature implements.
#[test]
fn three_bad_tries_then_success() {
    let (home, daemon) = serve!();
    for era in ERAS {
        let mut agent = Agent::new(&home, &daemon, era, "ada");
        let mut said = Vec::new();
        for (attempt, (content, kind, section)) in (1..).zip(tries()) {
            let reply = agent.update(&content);
            assert_eq!(reply["success"], false, "{reply:#}");
            assert_eq!(reply["status"], "correction_needed");
            assert_eq!(reply["message"], "Content needs correction");
            assert_eq!(reply["attempt_count"], attempt);
            assert!(text(&reply["project"]).len() > 9, "{reply:#}");
            assert_eq!(reply.get("version"), None, "nothing was written");
            let result = &reply["validation_result"];
            assert_eq!(result["valid"], false);
            assert!(result["confidence"].as_f64().unwrap() < 1.0);
            assert_eq!(result.get("errors"), None, "each error is there once");
            is_flaw(&reply["validation_errors"], kind, section);
            assert!(reply.to_string().len() < 4096, "{reply:#}");
            let guidance = &reply["correction_guidance"];
            is_guidance(guidance, kind, section);
            let steps = format!(
                "Your content has validation issues. {}",
                text(&guidance["retry_instructions"])
            );
            assert_eq!(reply["next_steps"], steps);
            said.push(guidance.clone());
        }
        for field in ["primary_issue", "step_by_step_fix", "template_to_follow"] {
            assert_ne!(said[0][field], said[1][field], "{field}");
            assert_ne!(said[1][field], said[2][field], "{field}");
        }
        let reply = agent.update(&whole());
        assert_eq!(reply["success"], true, "{reply:#}");
        assert_eq!(reply["status"], "success");
        assert_eq!(reply["message"], "Context updated successfully");
        has(&reply, json!({"attempt_count": 4, "version": 1}));
        assert_eq!(reply["validation_result"]["valid"], true);
        for field in ["validation_errors", "correction_guidance", "next_steps"] {
            assert_eq!(reply.get(field), None, "{field}");
        }
        let project = text(&reply["project"]);
        assert_eq!(get(&daemon, project, "mental_model")["content"], whole());
        // A success resets the count.
        let reply = agent.update(&tries()[1].0);
        assert_eq!(reply["attempt_count"], 1);
        assert_eq!(reply["status"], "correction_needed");
        assert_eq!(version(&daemon, project, "mental_model", 1), whole());
        assert_eq!(history(&daemon, project, "mental_model").len(), 1);
    }
    daemon.verify();
}

fn is_flaw(errors: &Value, kind: &str, section: &str) {
    let found = errors.as_array().unwrap().iter();
    let mut found = found.filter(|one| one["type"] == kind && one["section"] == section);
    let diagnostic = found
        .next()
        .unwrap_or_else(|| panic!("no {kind} of {section}: {errors:#}"));
    assert_eq!(diagnostic["severity"], "error");
    assert!(diagnostic["line"].as_u64().unwrap() >= 1);
    for field in ["message", "correction_prompt"] {
        assert!(
            !text(&diagnostic[field]).trim().is_empty(),
            "{field} of {diagnostic:#}"
        );
    }
}

fn is_guidance(guidance: &Value, kind: &str, section: &str) {
    let first = match kind {
        "missing_section" => {
            assert_eq!(
                guidance["primary_issue"],
                format!("Missing required section: {section}")
            );
            format!(
                "1. Add a new section header: ## {}",
                section.replace('_', " ")
            )
        }
        "format_error" => format!("1. Review the format requirements for section: {section}"),
        "content_quality" => format!("1. Expand the content in section: {section}"),
        other => panic!("{other}"),
    };
    assert_eq!(guidance["step_by_step_fix"][0], first, "{guidance:#}");
    let retry = text(&guidance["retry_instructions"]);
    assert!(
        retry.starts_with("Take your original content and "),
        "{retry}"
    );
    assert!(
        retry.ends_with("Then call update_context again with your corrected content."),
        "{retry}"
    );
    for field in ["primary_issue", "template_to_follow", "example_fix"] {
        assert!(!text(&guidance[field]).trim().is_empty(), "{field}");
    }
}

/// A fourth invalid attempt is reported as such. Nothing is written, the previous content stays, the last draft can
/// be read, and another agent has a separate count.
#[test]
fn four_bad_tries() {
    let (home, daemon) = serve!();
    for era in ERAS {
        let mut agent = Agent::new(&home, &daemon, era, "ada");
        let mut other = Agent::new(&home, &daemon, era, "bob");
        let project = agent.update(&tries()[0].0)["project"].clone();
        agent.update(&tries()[1].0);
        let others = other.update(&tries()[0].0);
        has(&others, json!({"attempt_count": 1, "project": project}));
        assert_eq!(agent.update(&tries()[2].0)["attempt_count"], 3);
        let last = tries()[1].0.replace("keeps them", "loses them");
        for (attempt, content) in [(4, &tries()[0].0), (5, &last)] {
            let reply = agent.update(content);
            assert_eq!(reply["status"], "max_attempts_reached", "{reply:#}");
            assert_eq!(reply["success"], false);
            assert_eq!(reply["attempt_count"], attempt);
            assert_eq!(reply.get("correction_guidance"), None);
            assert_eq!(reply["validation_result"]["valid"], false);
            assert!(!reply["validation_errors"].as_array().unwrap().is_empty());
            assert_eq!(reply["validation_result"].get("errors"), None);
            assert!(reply.to_string().len() < 4096, "{reply:#}");
            has_words(&reply["next_steps"], &["get_template"]);
            assert_eq!(reply.get("version"), None);
        }
        let project = text(&project);
        let nothing = get(&daemon, project, "mental_model");
        assert_eq!(nothing["version"], 0);
        assert_eq!(nothing.get("content"), None);
        assert!(!path_of(&home, project, "mental_model").exists());
        let draft = agent.draft();
        assert_eq!(draft["content"], last);
        has(&draft, json!({"attempt_count": 5, "updated_by": "ada"}));
        assert_eq!(draft["validation"]["valid"], false);
        assert_eq!(other.draft()["content"], tries()[0].0);
        let list = daemon.call("list_contexts", json!({"project_id": project}));
        let files = list["contexts"].as_array().unwrap();
        let file = files
            .iter()
            .find(|file| file["file_type"] == "mental_model");
        assert_eq!(file.unwrap()["drafts"], json!(["ada", "bob"]));

        // A later fix is accepted and resets the count.
        assert_eq!(agent.update(&whole())["attempt_count"], 6);
        assert_eq!(
            other.update(&tries()[1].0)["attempt_count"],
            2,
            "of the other one it stays"
        );
        assert_eq!(agent.update(&tries()[1].0)["attempt_count"], 1);
        assert_eq!(get(&daemon, project, "mental_model")["content"], whole());
    }
    daemon.verify();
}

/// The number of attempts and the period for which they count are settings; a restart does not reset the count.
#[test]
fn attempts_are_counted_across_a_start() {
    let (home, daemon) = serve!("[projects]\nattempts_max = 1\n");
    let bad = &tries()[0].0;
    let mut agent = Agent::new(&home, &daemon, McpRevision::Newest, "ada");
    assert_eq!(agent.update(bad)["status"], "correction_needed");
    daemon.stop();
    let daemon = home.start();
    let mut agent = Agent::new(&home, &daemon, McpRevision::Newest, "ada");
    let reply = agent.update(bad);
    assert_eq!(reply["status"], "max_attempts_reached");
    assert_eq!(reply["attempt_count"], 2);
}

/// An append that does not fit is corrected by an append: its guidance is about the entry, its draft is the entry, and
/// the file stays as it is.
#[test]
fn an_append_is_corrected_by_an_append() {
    let (home, daemon) = serve!();
    let project = super::init(&home, &daemon, "stall");
    let feature = |name: &str, status: &str| {
        format!("## {name}\n\n- **Status**: {status}\n- **Description**: sells lamps\n")
    };
    let first = format!(
        "# Features\n\n{}\n{}",
        feature("A", "Active"),
        feature("B", "Active")
    );
    super::write(&daemon, &project, "features", &first);
    let append = |entry: &str| {
        let args = json!({"project_id": project, "file_type": "features", "entry": entry});
        let reply = daemon.call("append_context", args);
        assert!(reply.to_string().len() < 4096, "{reply:#}");
        reply
    };
    let reply = append(&feature("C", "Done"));
    assert_eq!(reply["status"], "correction_needed", "{reply:#}");
    let guidance = &reply["correction_guidance"];
    for words in [&guidance["retry_instructions"], &reply["next_steps"]] {
        has_words(words, &["append_context", "entry"]);
        assert!(!text(words).contains("update_context"), "{words}");
    }
    let fix = text(&guidance["example_fix"]);
    assert!(
        fix.starts_with("## C\n\n- **Status**: <how far it is"),
        "{fix}"
    );
    assert_eq!(
        append(fix)["status"],
        "correction_needed",
        "gaps are rejected"
    );
    let draft = daemon.call(
        "get_context",
        json!({"project_id": project, "file_type": "features", "draft": true}),
    );
    assert_eq!(draft["content"], fix.trim_end());
    let reply = append(&feature("C", "Active"));
    has(
        &reply,
        json!({"status": "success", "version": 2, "attempt_count": 3}),
    );
    let missing = reply["validation_result"]["errors"].as_array().unwrap();
    assert!(missing.iter().all(|one| one["severity"] == "warning") && !missing.is_empty());
    let content = text(&get(&daemon, &project, "features")["content"]).to_owned();
    for name in ["## A\n", "## B\n", "## C\n"] {
        assert!(content.contains(name), "{content}");
    }
    // One line is enough, and the file stays valid.
    for entry in [
        "Dark mode",
        "- Gift cards",
        "**Vouchers** - Status: Planned; Confidence: Low",
    ] {
        assert_eq!(append(entry)["status"], "success", "{entry}");
    }
    let args =
        json!({"project_id": project, "file_type": "bugs", "entry": "Lamps flicker at night"});
    let reply = daemon.call("append_context", args);
    has(&reply, json!({"status": "success", "version": 1}));
    let bugs = get(&daemon, &project, "bugs");
    has_words(&bugs["content"], &["### BUG-1: Lamps flicker at night ("]);
    for file in ["bugs", "features"] {
        assert_eq!(
            get(&daemon, &project, file)["validation"]["valid"],
            true,
            "{file}"
        );
    }
    // A whole content that lacks entries says so.
    let reply = super::update(&daemon, &project, "features", &first);
    assert!(
        super::warns(&reply, "`Dark mode`") && super::warns(&reply, "append_context"),
        "{reply:#}"
    );
    daemon.verify();
}

/// Five missing sections are five errors, once each, in a reply below 4 KB.
#[test]
fn a_reply_has_each_error_once_and_is_short() {
    let (home, daemon) = serve!();
    let project = super::init(&home, &daemon, "stall");
    let many = format!(
        "# Mental Model\n\n## Components\n\n{}",
        "- **part**: TODO\n".repeat(300)
    );
    for content in ["# Mental Model\n\nWe sell lamps.\n", &many] {
        let reply = super::update(&daemon, &project, "mental_model", content);
        let written = reply.to_string();
        assert!(written.len() < 4096, "{} bytes: {reply:#}", written.len());
        let errors = reply["validation_errors"].as_array().unwrap();
        let mut seen = std::collections::HashSet::new();
        assert!(
            errors
                .iter()
                .all(|one| seen.insert((&one["message"], &one["line"]))),
            "{reply:#}"
        );
        if content.len() < 100 {
            assert_eq!(errors.len(), 5, "{reply:#}");
        } else {
            assert!(
                reply["validation_result"]["more"].as_u64().unwrap() > 100,
                "{reply:#}"
            );
        }
    }
}
