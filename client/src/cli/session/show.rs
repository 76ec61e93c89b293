//! `lore session show`: prints all data of a session.

use serde_json::Value;

use crate::cli::entity::ENTITIES;
use crate::cli::output::sanitize;
use crate::cli::report::{Column, column, column_of, facts, rows};
use crate::cli::template::{at, fill, list, members};

const FACTS: &[Column] = &[
    column("session", "{session}"),
    column("state", "{state}"),
    column("title", "{title:200}"),
    column("topic", "{topic:200}"),
    column("user", "{user:200}"),
    column("project", "{project:200}"),
    column("tags", "{tags:200}"),
    column("agents", "{agents:200}"),
    column_of("forked from", |session| match at(session, "parent") {
        Value::Null => String::new(),
        parent => fill("{session} at {position}", parent),
    }),
    column_of("continues", |session| handoffs(session, "continues")),
    column_of("continued by", |session| handoffs(session, "continued_by")),
    column("created", "{created_at:time}"),
    column("last activity", "{last_activity:time}"),
    column("last looked at", "{last_accessed_at:time}"),
    column("last change", "{changed}"),
    column("messages", "{messages}"),
    column("steps", "{steps}"),
    column("entities", "{entities}"),
    column_of("checkpoints", |session| {
        match at(session, "checkpoints").as_u64() {
            Some(0) => "0".to_owned(),
            _ => fill("{checkpoints}, {total_size_bytes:bytes}", session),
        }
    }),
    column(
        "tokens",
        "{token_usage.total} (user {token_usage.user}, assistant {token_usage.assistant}, system {token_usage.system}, \
         tool {token_usage.tool}); {context_size} in the working set, {token_usage.packs} of packs",
    ),
];

const TOOLS: &[Column] = &[
    column("tool", "{tool:40}"),
    column("status", "{status}"),
    column("at", "{at:time}"),
    column("agent", "{agent:20}"),
    column_of("recorded as", |tool| {
        let template = match at(tool, "step") {
            Value::Null => "{execution|message|position:40}",
            _ => "step {step}, attempt {attempt=1}",
        };
        fill(template, tool)
    }),
];

const MODELS: &[Column] = &[
    column("model", "{model:40}"),
    column("calls", "{calls}"),
    column("input", "{input}"),
    column("output", "{output}"),
    column("from the cache", "{cache_read}"),
    column("into the cache", "{cache_written}"),
];

/// Lists the sessions of handoffs.
fn handoffs(session: &Value, list_of: &str) -> String {
    let all = list(session, list_of).iter();
    let all: Vec<String> = all
        .map(|one| fill("{session} at {position}", one))
        .collect();
    all.join(", ")
}

/// Formats the whole reply.
pub fn session(session: &Value) -> String {
    let mut text = facts(FACTS, session);
    for (name, value) in members(session, "preferences") {
        let (name, value) = (sanitize(name, 40), fill("{:json 80}", value));
        text += &format!("preference {name} = {value}\n");
    }
    for (list_of, template) in [
        (
            "leases",
            "lease {name:40} held by {agent:40} until {until:time}\n",
        ),
        (
            "pruning_history",
            "pruned at {at:time} ({strategy:20}): {tokens_before} tokens before, {tokens_after} after{undone:, undone/}\n",
        ),
    ] {
        text.extend(
            list(session, list_of)
                .iter()
                .map(|value| fill(template, value)),
        );
    }
    for (list_of, title, columns) in [
        ("active_entities", "the most relevant entities", ENTITIES),
        ("tool_history", "the last tools", TOOLS),
        (
            "models",
            "tokens of the models, as the host counts them",
            MODELS,
        ),
    ] {
        let values = list(session, list_of);
        if !values.is_empty() {
            text += &format!("\n{title}\n{}", rows(columns, values));
        }
    }
    text
}
