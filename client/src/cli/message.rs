//! `lore message …`: the messages of a session.

use serde_json::{Value, json};

use super::command::Command;
use super::common::{AS_OF, GUARD, PAGE, SESSION_ID};
use super::flag::{Fields, Flag, Kind};
use super::output::sanitize_lines;
use super::parser::Matches;
use super::report::{Column, Rendered, Report, column, column_of, facts, pages};
use super::template::{at, fill, fill_each, list, raw};
use super::{Caller, Failure};

const SENDERS: Kind = Kind::Choice(&[
    ("user", ""),
    ("assistant", ""),
    ("system", ""),
    ("tool", ""),
]);
const TYPES: Kind = Kind::Choice(&[
    ("query", ""),
    ("response", ""),
    ("tool_result", ""),
    ("error", ""),
]);
const MENTIONED: &str = "{kind:40} {name:80}";

/// `lore message` and its commands.
pub const MESSAGE: Command = Command::family(
    "message",
    "Record messages, and read them again",
    &[
        Command::call_with(
            "record",
            "Record a message in the session, or in a new one",
            "record_message",
            tools,
            Report::Text(recorded),
        )
        .flags(&[
            &[
                Flag::positional(
                    Kind::TextOrInput,
                    "text",
                    "TEXT",
                    "The message; - or nothing reads it from standard input",
                )
                .sends("content")
                .default("-")
                .allows_dash(),
                Flag::of(SENDERS, "sender", "SENDER", "Sender of the message").required(),
                Flag::of(
                    TYPES,
                    "type",
                    "TYPE",
                    "Type of the message; otherwise query, response or tool_result, by its sender",
                ),
                Flag::texts(
                    "tool",
                    "NAME",
                    "Tool that was used to make the message; may be repeated",
                )
                .local(),
                Flag::text("pack", "ID", "Context pack that the message was made with"),
            ],
            GUARD,
        ])
        .examples(&["lore message record --sender user \"switch-nyc-01 is down\""]),
        Command::call(
            "list",
            "List the messages of a session, oldest first",
            "list_messages",
            pages("messages", MESSAGES),
        )
        .flags(&[
            &[
                SESSION_ID,
                Flag::of(
                    Kind::Moment,
                    "since",
                    "WHEN",
                    "Only after this position, or from this RFC 3339 time on",
                ),
                Flag::of(SENDERS, "sender", "SENDER", "Only of this sender"),
                Flag::of(TYPES, "type", "TYPE", "Only of this type"),
                Flag::of(Kind::Word("newest"), "newest", "", "Newest first").sends("order"),
                AS_OF,
            ],
            PAGE,
        ])
        .examples(&["lore message list --newest --limit 5"]),
        Command::call(
            "show",
            "Show a whole message",
            "list_messages",
            Report::Rendered(whole),
        )
        .flags(&[&[
            Flag::positional(Kind::Text, "message", "MESSAGE", "Id of the message"),
            AS_OF,
        ]])
        .examples(&["lore message show m-01k9"]),
    ],
);

const MESSAGES: &[Column] = &[
    column("message", "{message:40}"),
    column("at", "{at:time}"),
    column("sender", "{sender}"),
    column("type", "{type}"),
    column("tokens", "{tokens}"),
    column_of("entities", |message| {
        list(message, "entities").len().to_string()
    }),
    column("said", "{content:60}"),
];

const FACTS: &[Column] = &[
    column("message", "{message:40}"),
    column("session", "{session}"),
    column("position", "{position}"),
    column("at", "{at:time}"),
    column("agent", "{agent:40}"),
    column("sender", "{sender}"),
    column("type", "{type}"),
    column("tokens", "{tokens}"),
    column_of("tools", |message| {
        fill_each("{name:40}", list(message, "tools")).join(", ")
    }),
    column("pack", "{pack:40}"),
    column_of("entities", |message| {
        fill_each(MENTIONED, list(message, "entities")).join(", ")
    }),
];

fn tools(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let tools: Vec<_> = matches
        .texts("tool")
        .iter()
        .map(|name| json!({"name": name}))
        .collect();
    match tools.is_empty() {
        true => Ok(()),
        false => fields.put("tools", &tools),
    }
}

fn recorded(reply: &Value) -> String {
    let mut text = fill(
        "message {message:40} of session {session} (position {position}): {tokens} tokens\n",
        reply,
    );
    if !at(reply, "quoted_bytes").is_null() {
        text += &fill(
            "  {quoted_bytes} bytes are from a context pack, and do not count\n",
            reply,
        );
    }
    for entity in fill_each(MENTIONED, list(reply, "entities")) {
        text += &format!("  {entity}\n");
    }
    text
}

fn whole(reply: &Value, _: &Matches) -> Rendered {
    let mut text = String::new();
    for message in list(reply, "messages") {
        let mut message = message.clone();
        if let Some(members) = message.as_object_mut() {
            members.insert("session".to_owned(), at(reply, "session").clone());
        }
        text += &facts(FACTS, &message);
        text += &format!("\n{}\n", sanitize_lines(raw(&message, "content")));
    }
    match text.is_empty() {
        true => Rendered::nothing(text),
        false => Rendered::good(text),
    }
}
