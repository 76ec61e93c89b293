//! The examples of "Refined MCP Tools Plan: Use Case Agnostic Design", including its cross-domain tests.

use serde_json::{Value, json};
use tests::{Daemon, Home, home};

use super::{add, folder};

/// Ingests documents of every domain in the plan.
fn domains(home: &Home) -> Daemon {
    let daemon = home.start();
    let front = |context: &str, category: &str, tags: &str, body: &str| {
        format!("---\ncontext_id: {context}\ncategory: {category}\ntags: [{tags}]\n---\n{body}\n")
    };
    let files = [
        (
            "wi-123.md",
            front(
                "WI-123",
                "technical",
                "security",
                "# Authentication\n\nThe authentication implementation uses signed tokens.",
            ),
        ),
        (
            "user-api.md",
            front(
                "UserAPI-v2",
                "api",
                "http",
                "# Endpoints\n\nThe authentication endpoints are /login and /logout.",
            ),
        ),
        (
            "user-service.md",
            front(
                "UserService-v2",
                "api",
                "http",
                "# Users\n\nUser authentication endpoints of the service.",
            ),
        ),
        (
            "auth-policy.md",
            front(
                "POLICY-AUTH-001",
                "policy",
                "privacy, gdpr",
                "# Policy\n\nAuthentication requirements: two factors. Data retention policies \
                 keep records for a year.",
            ),
        ),
        (
            "contract.md",
            front(
                "CONTRACT-2024-001",
                "legal",
                "signed",
                "# Terms\n\nLiability and indemnification of both parties.",
            ),
        ),
        (
            "alpha/setup.md",
            front(
                "ProjectAlpha",
                "setup",
                "setup",
                "# Setup\n\nInstallation and configuration in three steps.",
            ),
        ),
        (
            "alpha/architecture.md",
            front(
                "ProjectAlpha",
                "architecture",
                "design",
                "# Architecture\n\nSystem architecture diagrams of the project.",
            ),
        ),
        (
            "service.md",
            front(
                "SERVICE-API-7",
                "endpoint",
                "http",
                "# Billing\n\nAn endpoint that bills.",
            ),
        ),
        (
            "notes/plan.txt",
            "Work that is planned, such as a new door.".to_owned(),
        ),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let docs = folder(home, "docs", &files);
    add(&daemon, &docs, json!({}));
    daemon
}

fn contexts_of(reply: &Value) -> Vec<&str> {
    let results = reply["results"].as_array().unwrap().iter();
    results
        .map(|result| result["context_id"].as_str().unwrap())
        .collect()
}

/// Every call in the plan finds the expected documents, and only those.
#[test]
fn every_example_of_the_plan() {
    let home = home!();
    let daemon = domains(&home);
    for (args, context, file) in [
        (
            json!({"query": "authentication", "filters": {"context_id": "WI-123"}}),
            "WI-123",
            "wi-123.md",
        ),
        (
            json!({"query": "user authentication endpoints",
                "filters": {"category": "api", "context_id": "UserService-v2"}}),
            "UserService-v2",
            "user-service.md",
        ),
        (
            json!({"query": "liability and indemnification",
                "filters": {"category": "legal", "context_id": "CONTRACT-2024-001"}}),
            "CONTRACT-2024-001",
            "contract.md",
        ),
        (
            json!({"query": "data retention policies",
                "filters": {"category": "policy", "tags": ["privacy", "gdpr"]}}),
            "POLICY-AUTH-001",
            "auth-policy.md",
        ),
        (
            json!({"query": "installation and configuration",
                "filters": {"context_id": "ProjectAlpha", "file_type": "md", "tags": "setup"}}),
            "ProjectAlpha",
            "setup.md",
        ),
        (
            json!({"query": "system architecture diagrams",
                "filters": {"category": "architecture", "file_name": "architecture.md"}}),
            "ProjectAlpha",
            "architecture.md",
        ),
        // The cross-domain tests.
        (
            json!({"query": "authentication implementation",
                "filters": {"context_id": "WI-123", "category": "technical"}}),
            "WI-123",
            "wi-123.md",
        ),
        (
            json!({"query": "authentication endpoints",
                "filters": {"context_id": "UserAPI-v2", "category": "api"}}),
            "UserAPI-v2",
            "user-api.md",
        ),
        (
            json!({"query": "authentication requirements",
                "filters": {"context_id": "POLICY-AUTH-001", "category": "policy"}}),
            "POLICY-AUTH-001",
            "auth-policy.md",
        ),
    ] {
        for search_type in ["text", "vector", "hybrid", "semantic"] {
            let mut args = args.clone();
            args["search_type"] = json!(search_type);
            let reply = daemon.call("search_documents", args.clone());
            assert_eq!(reply["search_type_used"], search_type, "{reply:#}");
            let results = reply["results"].as_array().unwrap();
            assert!(!results.is_empty(), "{args}");
            assert_eq!(results[0]["file_name"], file, "{args}");
            assert!(
                contexts_of(&reply).iter().all(|found| *found == context),
                "{args}"
            );
        }
    }
}

/// Contexts are classified by the format of their ids.
#[test]
fn contexts_by_type() {
    let home = home!();
    let daemon = domains(&home);
    let found = |args: Value| -> Vec<String> {
        let reply = daemon.call("get_document_contexts", args);
        let contexts = reply["contexts"].as_array().unwrap();
        assert_eq!(reply["total"], contexts.len());
        let ids = contexts.iter();
        ids.map(|context| context["context_id"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = found(json!({}));
    assert_eq!(all.len(), 9 - 1, "{all:?}");
    let work_items = found(json!({"context_type": "work_item"}));
    let apis = found(json!({"context_type": "api"}));
    assert_eq!(work_items, ["WI-123"]);
    assert_eq!(apis, ["SERVICE-API-7", "UserAPI-v2", "UserService-v2"]);
    assert!(all.len() >= work_items.len() + apis.len());
    let endpoints = found(json!({"context_type": "API", "category_filter": "endpoint"}));
    assert_eq!(endpoints, ["SERVICE-API-7"]);
    assert_eq!(found(json!({"context_type": "alpha"})), ["ProjectAlpha"]);

    let counted = daemon.call("get_document_contexts", json!({"context_type": "alpha"}));
    assert_eq!(counted["contexts"][0]["documents"], 2);
    let plain = daemon.call("get_document_contexts", json!({"include_counts": false}));
    assert!(plain["contexts"][0].get("documents").is_none());
}

/// A higher detail level of a summary returns more.
#[test]
fn summaries_by_level() {
    let home = home!();
    let daemon = domains(&home);
    let basic = daemon.call("get_index_summary", json!({}));
    assert_eq!(basic["total_documents"], 9);
    assert_eq!(basic["total_chunks"], 9);
    assert_eq!(basic["total_contexts"], 8);
    assert!(basic.get("file_types").is_none());
    let detailed = daemon.call("get_index_summary", json!({"detail_level": "detailed"}));
    assert_eq!(detailed["file_types"][0]["value"], "md");
    assert_eq!(detailed["file_types"][0]["documents"], 8);
    assert_eq!(detailed["contexts"].as_array().unwrap().len(), 5);
    assert!(detailed.get("index").is_none());
    let whole = daemon.call(
        "get_index_summary",
        json!({"detail_level": "comprehensive"}),
    );
    assert_eq!(whole["contexts"].as_array().unwrap().len(), 8);
    assert_eq!(whole["contexts"][0]["context_id"], "ProjectAlpha");
    assert_eq!(whole["contexts"][0]["file_types"][0]["value"], "md");
    assert_eq!(whole["index"]["tier"], "first");
    assert_eq!(whole["index"]["failed"], 0);
}

/// Lists of contexts, files, chunks and categories.
#[test]
fn structures() {
    let home = home!();
    let daemon = domains(&home);
    let explore = |args: Value| daemon.call("explore_document_structure", args);
    let contexts = explore(json!({}));
    assert_eq!(contexts["structure_type"], "contexts");
    assert_eq!(contexts["total_contexts"], 8);
    assert_eq!(contexts["contexts_by_type"]["work_item"], json!(["WI-123"]));
    let categories = contexts["available_categories"].as_array().unwrap();
    assert!(categories.contains(&json!("legal")), "{categories:?}");
    let files = explore(json!({"structure_type": "files", "context_id": "ProjectAlpha"}));
    assert_eq!(files["total"], 2);
    assert_eq!(files["items"][0]["file_name"], "architecture.md");
    let chunks = explore(json!({"structure_type": "chunks", "file_name": "contract.md"}));
    assert_eq!(chunks["items"][0]["chunk_index"], "contract.md_chunk_0");
    let preview = chunks["items"][0]["preview"].as_str().unwrap();
    assert!(preview.contains("Liability"), "{preview}");
    let few = explore(json!({"structure_type": "categories", "max_items": 2}));
    assert_eq!(few["items"].as_array().unwrap().len(), 2);
    assert_eq!(few["total"], 7);
}
