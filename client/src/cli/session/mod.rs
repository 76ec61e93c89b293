//! `lore session …`: commands on whole sessions.

mod diff;
mod show;
mod transfer;

use serde_json::Value;

use super::command::Command;
use super::common::{AS_OF, DRY_RUN, GUARD, KEY, PAGE, SESSION_ID, YES};
use super::flag::{Fields, Flag, Kind};
use super::parser::Matches;
use super::report::{Column, Report, column, pages, rows};
use super::template::{fill, is, list, members};
use super::{Caller, Failure, forget};

pub use diff::changes;

const TITLE: Flag = Flag::text("title", "TEXT", "What it is about");
const OTHER: Flag =
    Flag::positional(Kind::Session, "id", "ID", "Id of the session").sends("session");
const PREFERENCES: Flag = Flag::of(
    Kind::Preferences,
    "preference",
    "NAME=JSON",
    "Preference, such as auto_save=true; may be repeated; others are as the user had them last",
)
.sends("preferences");

/// `lore session` and its commands.
pub const SESSION: Command = Command::family(
    "session",
    "Find, change, share, move and end sessions",
    &[
        Command::call("list", "List sessions, newest first", "list_sessions", pages("sessions", SESSIONS))
            .flags(&[
                &[
                    Flag::text("user", "NAME", "Only of this user"),
                    Flag::text("project", "ID", "Only of this project"),
                    Flag::text("agent", "NAME", "Only with this agent; --agent before the command is the calling agent").sends("by_agent"),
                    Flag::of(
                        Kind::Choice(&[("active", ""), ("expired", ""), ("closed", ""), ("any", "")]),
                        "state",
                        "STATE",
                        "Only in this state; otherwise active, or closed within a day",
                    ),
                    Flag::texts("tag", "TEXT", "Only with this tag; may be repeated").sends("tags"),
                ],
                PAGE,
            ])
            .examples(&["lore session list --state any --limit 20"]),
        Command::call("show", "Show everything about a session", "get_session", Report::Text(show::session))
            .flags(&[&[SESSION_ID, AS_OF]])
            .examples(&["lore session show release-42"]),
        // Only the id on its line, for `session=$(lore session create)`.
        Command::call_with("create", "Begin a session", "create_session", new_id, Report::Line("{session}"))
            .flags(&[&[
                Flag::of(Kind::Session, "id", "ID", "Id of your own; otherwise a new one").local(),
                TITLE,
                Flag::text("user", "NAME", "User it belongs to"),
                Flag::text("project", "ID", "Its project, if not that of this folder"),
                Flag::text("topic", "TEXT", "Current topic"),
                Flag::texts("tag", "TEXT", "Tag to find it by; may be repeated").sends("tags"),
                PREFERENCES,
                KEY,
            ]])
            .examples(&["lore session create --id outage --topic \"uplinks in New York\""]),
        Command::call_with("update", "Change the description of a session; what is not named stays", "update_session", tags, Report::Facts(UPDATED))
            .flags(&[
                &[
                    SESSION_ID,
                    Flag::text("title", "TEXT", "What it is about; an empty text removes it"),
                    Flag::text("topic", "TEXT", "Current topic; an empty text removes it"),
                    Flag::texts("tag", "TEXT", "All its tags, instead of the current ones; may be repeated; an empty text alone: none").local(),
                    Flag::texts("add-tag", "TEXT", "Tag to add; may be repeated").sends("add_tags"),
                    Flag::texts("remove-tag", "TEXT", "Tag to remove; may be repeated").sends("remove_tags"),
                    Flag::of(Kind::Preferences, "preference", "NAME=JSON", "Preference to set, such as auto_save=true; null removes it; may be repeated")
                        .sends("preferences"),
                ],
                GUARD,
            ])
            .examples(&["lore session update --topic \"cable tray 7\" --add-tag outage"]),
        Command::call("close", "End a session: nothing more is recorded in it", "close_session", Report::Line("closed session {session} (position {position})"))
            .flags(&[&[SESSION_ID, Flag::text("reason", "TEXT", "Reason, for people")], GUARD])
            .examples(&["lore session close outage --reason repaired"]),
        Command::call("fork", "Begin a session that shares the past of another", "fork_session", Report::Line("forked session {parent.session} at {parent.position} as {session}"))
            .flags(&[&[
                OTHER,
                Flag::of(Kind::Moment, "at", "WHEN", "Share the past up to this position or RFC 3339 time; otherwise up to now"),
                Flag::of(Kind::Session, "as", "ID", "Id of your own for the new session").sends("new_session"),
                Flag::text("title", "TEXT", "What the new session is about; otherwise as its parent"),
                KEY,
            ]])
            .examples(&["lore session fork outage --as outage-2"]),
        Command::call("diff", "List what changed from one moment of a session to another", "diff_session", Report::Text(changes))
            .flags(&[&[
                SESSION_ID,
                Flag::of(Kind::Moment, "from", "WHEN", "Earlier moment: a position or RFC 3339 time").required().sends("a"),
                Flag::of(Kind::Moment, "to", "WHEN", "Later moment; otherwise now").sends("b"),
                Flag::of(Kind::Session, "other", "ID", "Session of the later moment, such as a fork"),
            ]])
            .examples(&["lore session diff outage --from 120 --to 140"]),
        Command::call("lease", "Take a lease, to work on a session alone for a while", "lease_session", Report::Line(LEASED))
            .flags(&[&[
                SESSION_ID,
                Flag::text("name", "NAME", "Name of the lease; otherwise session"),
                Flag::number("ms", "COUNT", "Duration in milliseconds, 1000 to 3600000; otherwise 30000"),
                Flag::number("token", "TOKEN", "Renew the lease with this token"),
                KEY,
            ]])
            .examples(&["lore session lease outage --ms 60000"]),
        Command::call("release", "Release a lease", "release_session", Report::Line("lease {name:80} of session {session} released"))
            .flags(&[&[SESSION_ID, Flag::number("token", "TOKEN", "Token that taking the lease returned").required(), KEY]])
            .examples(&["lore session release outage --token 812"]),
        Command::call("prune", "Shrink what context packs are built from; the log keeps everything", "prune_session", Report::Text(pruned))
            .flags(&[
                &[
                    SESSION_ID,
                    Flag::of(
                        Kind::Choice(&[("comprehensive", ""), ("conservative", ""), ("aggressive", "")]),
                        "strategy",
                        "STRATEGY",
                        "How much to keep; comprehensive by default, conservative keeps twice as much, aggressive half",
                    ),
                    Flag::number("target", "COUNT", "At most this many tokens in its messages"),
                ],
                GUARD,
            ])
            .examples(&["lore session prune outage --strategy conservative"]),
        Command::call("reset-pruning", "Undo the pruning of a session", "reset_pruning", Report::Line("session {session} is whole: {tokens_before} tokens before, {tokens_after} now"))
            .flags(&[&[SESSION_ID], GUARD])
            .examples(&["lore session reset-pruning outage"]),
        Command::call("metrics", "Show how the size of a session changed", "metrics", Report::Text(metrics))
            .flags(&[&[
                SESSION_ID,
                Flag::number("since-ms", "COUNT", "Window in milliseconds; otherwise an hour, or as the daemon is configured"),
                Flag::number("limit", "COUNT", "At most this many points, the newest, 1 to 10000"),
                AS_OF,
            ]])
            .examples(&["lore session metrics outage --since-ms 3600000"]),
        transfer::EXPORT,
        transfer::IMPORT,
        Command::client("forget", "Remove what a session holds, for good", forget::session)
            .flags(&[&[OTHER, DRY_RUN, YES, KEY]])
            .examples(&["lore session forget outage --dry-run"]),
    ],
);

const SESSIONS: &[Column] = &[
    column("session", "{session}"),
    column("state", "{state}"),
    column("last activity", "{last_activity:time}"),
    column("steps", "{steps}"),
    column("user", "{user:20}"),
    column("agents", "{agents:30}"),
    column("tags", "{tags:30}"),
    column("project", "{project:30}"),
    column("title", "{title|topic|first_message:50}"),
];

const UPDATED: &[Column] = &[
    column("session", "{session}"),
    column("title", "{title:200}"),
    column("topic", "{topic:200}"),
    column("tags", "{tags:200}"),
    super::report::column_of("preferences", |reply| {
        let all = members(reply, "preferences").map(|(name, value)| format!("{name}={value}"));
        super::output::sanitize(&all.collect::<Vec<_>>().join(" "), 200)
    }),
];

const LEASED: &str = "lease {name:80} of session {session} {renewed:renewed/taken} until {until:time}: token {token}";

/// LORE_SESSION names the session to work in, not the new session.
fn new_id(matches: &Matches, caller: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let named = matches.text("id").map(super::input::id).transpose()?;
    fields.put_some("session", named.or(caller.session()?).as_ref())
}

/// Adds the tags. A single empty text means no tags.
fn tags(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    match matches.texts("tag").as_slice() {
        [] => Ok(()),
        [""] => fields.put("tags", &[""; 0]),
        tags => fields.put("tags", tags),
    }
}

fn pruned(reply: &Value) -> String {
    let template = match is(reply, "pruned") {
        false => "session {session} has {tokens_before} tokens: nothing to do ({strategy})\n",
        true => {
            "session {session} pruned: {tokens_before} tokens before, {tokens_after} after; \
             {messages:count message}, {tools:count tool execution} and {entities} entities left the working set, and \
             stay in the log\n"
        }
    };
    fill(template, reply)
}

fn metrics(reply: &Value) -> String {
    let mut points = list(reply, "points").to_vec();
    let mut now = reply.clone();
    if let Some(members) = now.as_object_mut() {
        members.insert("at".to_owned(), "now".into());
    }
    points.push(now);
    let columns = &[
        column("at", "{at:time}"),
        column("position", "{position}"),
        column("working set", "{context_size}"),
        column("entities", "{entity_count}"),
        column("tokens", "{token_usage}"),
    ];
    rows(columns, &points)
}
