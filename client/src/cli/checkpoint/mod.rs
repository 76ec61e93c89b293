//! `lore checkpoint …`: saves, loads, finds and compares an agent's context, and fits it into a token budget.

mod diff;
mod load;
mod pretty;

use std::path::PathBuf;

use lore::protocol::RawObject;
use serde_json::Value;

use super::command::Command;
use super::common::{AS_OF, GUARD, KEY};
use super::flag::{Fields, Flag, Kind};
use super::input::{file_text, object};
use super::parser::Matches;
use super::report::{Column, Rendered, Report, column, column_of, meta, read, rows};
use super::template::{fill, fill_each, is, list, raw};
use super::{Caller, Exit, Failure};

const CHECKPOINT_ID: Flag = Flag::positional(
    Kind::Checkpoint,
    "checkpoint",
    "CHECKPOINT",
    "Id of the checkpoint",
)
.sends("checkpointId");
const FILE: Flag = Flag::positional(
    Kind::Path,
    "file",
    "FILE",
    "File with the context; - or nothing reads it from standard input",
)
.optional()
.local();

/// Flags that describe a checkpoint.
const DESCRIPTION: &[Flag] = &[
    Flag::text("name", "TEXT", "Name to find it by; a checkpoint with a name is never removed automatically").local(),
    Flag::texts("tag", "TEXT", "Tag to find it by; may be repeated; a checkpoint with a tag is never removed automatically").local(),
    Flag::text("metadata", "JSON", "More about it, a JSON object; its contextRules rank keys").local(),
];

/// Flags that select the context to rank.
const SUBJECT: &[Flag] = &[
    FILE.conflicts(&["checkpoint"]),
    Flag::of(
        Kind::Checkpoint,
        "checkpoint",
        "ID",
        "Context of this checkpoint instead; --session: the latest of that session",
    )
    .sends("checkpointId"),
    Flag::of(
        Kind::Object,
        "rules",
        "JSON",
        "Key patterns and their layers, a JSON object such as {\"log*\": \"EPHEMERAL\"}",
    )
    .sends("contextRules"),
];

/// `lore checkpoint` and its commands.
pub const CHECKPOINT: Command = Command::family(
    "checkpoint",
    "Save an agent's context, and load it exactly",
    &[
        Command::call_with("save", "Save a JSON object as a checkpoint of your session, which is made if you have none", "workflow_checkpoint_save", save, Report::Text(saved))
            .flags(&[
                &[FILE],
                DESCRIPTION,
                &[
                    Flag::switch("force", "Save even if the latest checkpoint holds the same"),
                    Flag::of(Kind::Checkpoint, "expect", "CHECKPOINT", "Refuse unless this is the session's latest checkpoint")
                        .sends("expectedCheckpointId"),
                ],
                GUARD,
            ])
            .examples(&["lore checkpoint save state.json --name before-upgrade"]),
        load::LOAD,
        Command::client("list", "List the checkpoints of your session, or else of the project's newest that has some, newest first", checkpoints)
            .flags(&[&[
                Flag::number("limit", "COUNT", "At most this many, 1 to 100"),
                Flag::number("offset", "COUNT", "Skip this many of the newest"),
                Flag::texts("tag", "TEXT", "Only with this tag; may be repeated").sends("tags"),
                Flag::text("name", "TEXT", "Only of this name"),
                Flag::text("query", "WORDS", "Only with all of these words in name, tags or metadata"),
                AS_OF.sends("asOf"),
            ]])
            .examples(&["lore checkpoint list --session release-42"]),
        Command::call_with("critical", "Mark a key of the session's context: it is never shortened, and its newest value is never removed", "workflow_mark_critical", named_session, Report::Rendered(marked))
            .flags(&[&[
                Flag::positional(Kind::Text, "key", "KEY", "The top-level key").sends("contextKey"),
                Flag::switch("unmark", "Remove the mark"),
            ]])
            .examples(&["lore checkpoint critical goal"]),
        Command::call("delete", "Delete a checkpoint and free what no other one uses", "workflow_checkpoint_delete", Report::Line("deleted {checkpointId} of session {sessionId}: {freedBytes:bytes} freed"))
            .flags(&[&[CHECKPOINT_ID, KEY]])
            .examples(&["lore checkpoint delete 01k9"]),
        diff::DIFF,
        Command::call_with("fork", "Begin a session whose first checkpoint is this one; --session names it", "workflow_checkpoint_fork", fork, Report::Line("forked {forkedFrom} into session {sessionId} as {checkpointId}: {newBytes:bytes} new"))
            .flags(&[&[CHECKPOINT_ID], DESCRIPTION, &[KEY]])
            .examples(&["lore checkpoint fork 01k9 --session attempt-2"]),
        Command::call_with("compress", "Print as much of a context as fits into a budget of tokens", "workflow_context_compress", subject, Report::Exact(load::compressed))
            .flags(&[SUBJECT, &[Flag::number("max-tokens", "COUNT", "The budget").required().sends("maxTokens")]])
            .examples(&["lore checkpoint compress state.json --max-tokens 2000"]),
        Command::call_with("prioritize", "List how much each key of a context matters, why, and how many tokens it has", "workflow_context_prioritize", subject, Report::Rendered(ranked))
            .flags(&[SUBJECT, &[Flag::number("max-tokens", "COUNT", "Also list what would be left of each key in this many tokens").sends("maxTokens")]])
            .examples(&["lore checkpoint prioritize state.json --max-tokens 2000"]),
    ],
);

const CHECKPOINTS: &[Column] = &[
    column("checkpoint", "{checkpointId}"),
    column("at", "{createdAt:time}"),
    column("size", "{sizeBytes:bytes}"),
    column("name", "{metadata.name:40}"),
    column("tags", "{metadata.tags:40}"),
];

const KEYS: &[Column] = &[
    column("key", "{key:40}"),
    column("layer", "{layer}"),
    column("tokens", "{tokens}"),
    column_of("left", |key| match raw(key, "treatment") {
        "" | "whole" => fill("{tokensInView}", key),
        done => fill("{tokensInView} ", key) + &format!("({})", load::treatment(done)),
    }),
    column("why", "{reason:60}"),
];

fn save(matches: &Matches, caller: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    fields.put_some("sessionId", caller.session()?.as_ref())?;
    put_context(matches, fields)?;
    put_description(matches, fields)
}

fn saved(reply: &Value) -> String {
    let template = match raw(reply, "status") {
        "SKIPPED_UNCHANGED" => {
            "unchanged since {checkpointId} in session {sessionId}: nothing saved\n"
        }
        _ => {
            "saved as {checkpointId} in session {sessionId}: {sizeBytes:bytes} on disk, {newBytes:bytes} of it new\n"
        }
    };
    fill(template, reply)
}

fn fork(matches: &Matches, caller: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    // LORE_SESSION names the session to work in, not the new session.
    fields.put_some("sessionId", caller.session()?.as_ref())?;
    put_description(matches, fields)
}

fn named_session(_: &Matches, caller: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    fields.put_some("sessionId", caller.session()?.as_ref())
}

/// Adds the context of a file, a checkpoint or a session. A session counts only if the command line names it.
fn subject(matches: &Matches, caller: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    match (
        matches.path("file"),
        matches.text("checkpoint"),
        caller.session()?,
    ) {
        (None, Some(_), _) => Ok(()),
        (None, None, Some(session)) => fields.put("sessionId", &session),
        (_, _, _) => put_context(matches, fields),
    }
}

/// Adds the JSON object of a file, or of standard input for `-` or no argument. It is sent byte for byte.
fn put_context(matches: &Matches, fields: &mut Fields) -> Result<(), Failure> {
    let file = matches.path("file").unwrap_or_else(|| PathBuf::from("-"));
    let text = file_text("the context", &file, u64::MAX)?;
    let context = RawObject::parse(&text);
    let context = context.map_err(|fault| Failure::Usage(format!("the context: {fault}")))?;
    fields.put("context", &context)
}

/// Adds one object with all metadata of a checkpoint. --name and --tag override the fields of --metadata.
fn put_description(matches: &Matches, fields: &mut Fields) -> Result<(), Failure> {
    let metadata = matches.text("metadata");
    let mut map =
        metadata.map_or_else(|| Ok(Default::default()), |text| object("--metadata", text))?;
    if let Some(name) = matches.text("name") {
        map.insert("name".to_owned(), name.into());
    }
    let tags = matches.texts("tag");
    if !tags.is_empty() {
        map.insert("tags".to_owned(), tags.into());
    }
    match map.is_empty() {
        true => Ok(()),
        false => fields.put("metadata", &map),
    }
}

fn checkpoints(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let mut fields = matches.fields()?;
    fields.put_some("sessionId", caller.session()?.as_ref())?;
    let reply = caller.reply("workflow_checkpoint_list", fields);
    let Some(mut reply) = caller.list_reply("checkpoints", reply)? else {
        return Ok(Exit::Good);
    };
    let total = meta(&reply)?.and_then(|meta| meta.total);
    let rendered = listed(&read(&reply.json)?, total);
    // The JSON output is an object, as over MCP.
    reply.json = [br#"{"checkpoints":"#, reply.json.as_slice(), b"}"].concat();
    caller.print(reply, rendered)
}

fn listed(reply: &Value, total: Option<u64>) -> Rendered {
    let checkpoints = list(reply, "");
    let Some(first) = checkpoints.first() else {
        let total = total.filter(|total| *total > 0);
        return Rendered::empty(match total {
            None => "lore: the session has no checkpoints\n".to_owned(),
            Some(total) => format!("lore: there are {total}; --offset skips all of them\n"),
        });
    };
    let count = checkpoints.len() as u64;
    let keys = fill_each("{:40}", list(first, "criticalKeys")).join(", ");
    let keys = if keys.is_empty() {
        keys
    } else {
        format!("; critical keys: {keys}")
    };
    let total = total.unwrap_or(count);
    Rendered::good(rows(CHECKPOINTS, checkpoints) + &format!("{count} of {total}{keys}\n"))
}

fn marked(reply: &Value, _: &Matches) -> Rendered {
    match raw(reply, "status") {
        "KEY_NOT_FOUND" => Rendered::nothing(fill("lore: {message}\n", reply)),
        _ => Rendered::good(fill("{message}\n", reply)),
    }
}

fn ranked(reply: &Value, _: &Matches) -> Rendered {
    let keys = list(reply, "keys");
    if keys.is_empty() {
        return Rendered::nothing("lore: the context has no keys\n".to_owned());
    }
    let aside = match is(reply, "overBudget") {
        true => {
            "lore: the critical keys alone exceed --max-tokens; not all of them would be whole\n"
        }
        false => "",
    };
    Rendered::good(rows(KEYS, keys) + &fill("{tokens} tokens in all\n", reply))
        .aside(aside.to_owned())
}
