//! `lore entity …`: entities that sessions refer to.

use serde_json::{Value, json};

use super::command::Command;
use super::common::{AS_OF, GUARD, PAGE};
use super::flag::{Fields, Flag, Kind};
use super::output::{sanitize, sanitize_lines};
use super::parser::Matches;
use super::report::{Column, MORE, Rendered, Report, column, column_of, facts, more, none, rows};
use super::template::{at, fill, fill_each, is, list, members};
use super::{Caller, Exit, Failure};

const NAMED: &str = "{kind:30}:{name:60}";

/// `lore entity` and its commands.
pub const ENTITY: Command = Command::family(
    "entity",
    "List the things that sessions are about, and how they are related",
    &[
        Command::call_with(
            "list",
            "List the entities of a session, of a project or of all sessions",
            "list_entities",
            named_session,
            Report::List("entities", listed),
        )
        .flags(&[
            &[
                Flag::text("project", "ID", "Of all sessions of this project together")
                    .conflicts(&["all"]),
                Flag::switch("all", "Of all sessions together"),
                Flag::text("kind", "NAME", "Only of this kind"),
                Flag::of(
                    Kind::Choice(&[("relevance", ""), ("mentions", ""), ("recency", "")]),
                    "sort",
                    "SORT",
                    "Order of the list; otherwise by relevance",
                ),
                AS_OF,
            ],
            PAGE,
        ])
        .examples(&["lore entity list --kind device"]),
        Command::call(
            "show",
            "Show what is known of an entity",
            "get_entity",
            Report::Text(entity),
        )
        .flags(&[&[
            Flag::positional(Kind::Text, "name", "NAME", "Its name, as it is written"),
            Flag::text(
                "kind",
                "NAME",
                "Its kind; otherwise any kind with that name",
            ),
            AS_OF,
        ]])
        .examples(&["lore entity show switch-nyc-01"]),
        Command::call_with(
            "relate",
            "Record how two entities are related",
            "relate_entities",
            ends,
            Report::Text(related),
        )
        .flags(&[
            &[
                Flag::positional(Kind::Text, "from", "FROM", "The first entity, as KIND:NAME")
                    .local(),
                Flag::positional(
                    Kind::Text,
                    "relation",
                    "RELATION",
                    "The relation: connected_to, parent and the like",
                ),
                Flag::positional(Kind::Text, "to", "TO", "The second entity, as KIND:NAME").local(),
            ],
            GUARD,
        ])
        .examples(&["lore entity relate device:switch-nyc-01 connected_to device:router-la-02"]),
        Command::call(
            "unmerge",
            "Separate an entity from those that were merged with it",
            "unmerge_entity",
            Report::Text(unmerged),
        )
        .flags(&[
            &[
                Flag::positional(Kind::Text, "name", "NAME", "One of its names"),
                Flag::text(
                    "kind",
                    "NAME",
                    "Its kind; otherwise any kind with that name",
                ),
            ],
            GUARD,
        ])
        .examples(&["lore entity unmerge switch-nyc-01"]),
        Command::call(
            "resolve",
            "Resolve a name, if needed by asking the system that knows it",
            "resolve_entity",
            Report::Rendered(resolved),
        )
        .flags(&[
            &[
                Flag::positional(Kind::Text, "name", "NAME", "The name, as it is written"),
                Flag::text(
                    "kind",
                    "NAME",
                    "Its kind; otherwise the kind that its form or the session implies",
                ),
                Flag::switch(
                    "refresh",
                    "Ask the other system even if its last answer is fresh",
                ),
            ],
            GUARD,
        ])
        .examples(&["lore entity resolve switch-nyc-01"]),
    ],
);

/// Columns of an entity list.
pub const ENTITIES: &[Column] = &[
    column("kind", "{kind:30}"),
    column("name", "{name:60}"),
    column("mentions", "{mentions}"),
    column("relevance", "{relevance:.1}"),
    column("last mentioned", "{last_mentioned:time}"),
    column_of("part of", parent),
];

const RELATIONS: &[Column] = &[
    column("relation", "{relation:40}"),
    column("kind", "{kind:30}"),
    column("name", "{name:60}"),
    column("count", "{count}"),
];

const MENTIONS: &[Column] = &[
    column_of("mentioned in", |mention| {
        let template = match (
            at(mention, "message"),
            at(mention, "step"),
            at(mention, "execution"),
        ) {
            (Value::String(_), _, _) => "message {message:40}",
            (_, Value::Number(_), _) => "step {step}, attempt {attempt=1}",
            (_, _, Value::String(_)) => "tool {execution:40}",
            _ => "",
        };
        fill(template, mention)
    }),
    column("position", "{position}"),
    column("at", "{at:time}"),
    column("text", "{snippet:80}"),
];

const FACTS: &[Column] = &[
    column("kind", "{kind:40}"),
    column("name", "{name:200}"),
    column("session", "{session}"),
    column("id", "{id:80}"),
    column("slug", "{slug:80}"),
    column_of("part of", parent),
    column("mentions", "{mentions}"),
    column("first mentioned", "{first_mentioned:time}"),
    column("last mentioned", "{last_mentioned:time}"),
    column("relevance", "{relevance:.1}"),
    column_of("resolved", |entity| {
        if is(entity, "resolved") { "yes" } else { "no" }.to_owned()
    }),
];

fn parent(entity: &Value) -> String {
    match at(entity, "parent") {
        Value::Null => String::new(),
        parent => fill(NAMED, parent),
    }
}

/// Adds the session that the command line names. A session of the environment does not restrict the list.
pub fn named_session(_: &Matches, caller: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    fields.put_some("session", caller.session()?.as_ref())
}

fn listed(reply: &Value, _: &Matches) -> Rendered {
    let entities = list(reply, "entities");
    if entities.is_empty() {
        return Rendered::empty(none("entities") + &more(MORE, reply));
    }
    let kinds: Vec<_> = members(reply, "kinds")
        .map(|(kind, count)| format!("{} {count}", sanitize(kind, 40)))
        .collect();
    let kinds = format!("in all: {}\n", kinds.join(", "));
    Rendered::good(rows(ENTITIES, entities) + &kinds + &more(MORE, reply))
}

fn entity(reply: &Value) -> String {
    let mut text = known(reply);
    let children = fill_each(NAMED, list(reply, "children"));
    if !children.is_empty() {
        text += &format!("\nits parts: {}\n", children.join(", "));
    }
    for (columns, name) in [(RELATIONS, "relations"), (MENTIONS, "mentions")] {
        let values = list(reply, name);
        if !values.is_empty() {
            text += &format!("\n{}", rows(columns, values));
        }
    }
    text + &data(reply, "data_from")
}

/// Formats the entity of a reply, with the reply's session.
fn known(reply: &Value) -> String {
    let mut entity = at(reply, "entity").clone();
    match entity.as_object_mut() {
        None => String::new(),
        Some(members) => {
            members.insert("session".to_owned(), at(reply, "session").clone());
            facts(FACTS, &entity)
        }
    }
}

/// Formats data of another system.
fn data(reply: &Value, from: &str) -> String {
    match at(reply, "data") {
        Value::Null => String::new(),
        data => {
            let from = fill(&format!("{{{from}:40=another system}}"), reply);
            format!("\n{from} says\n{}\n", sanitize_lines(&format!("{data:#}")))
        }
    }
}

fn ends(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    for end in ["from", "to"] {
        fields.put(end, &kind_and_name(matches.needed(end))?)?;
    }
    Ok(())
}

fn related(reply: &Value) -> String {
    let (from, to) = (fill(NAMED, at(reply, "from")), fill(NAMED, at(reply, "to")));
    from + &fill(" {relation:80} ", reply)
        + &to
        + &fill(" in session {session} (position {position})\n", reply)
}

fn unmerged(reply: &Value) -> String {
    let names = fill_each(NAMED, list(reply, "entities"));
    names.join(", ")
        + &fill(
            " are entities of their own in session {session} (position {position})\n",
            reply,
        )
}

/// Parses an entity as `KIND:NAME`; the name may contain colons.
fn kind_and_name(text: &str) -> Result<Value, Failure> {
    match text.split_once(':') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() => {
            Ok(json!({"kind": kind, "name": name}))
        }
        Some(_) | None => Err(Failure::Usage(format!(
            "{} is not KIND:NAME, such as device:switch-nyc-01",
            sanitize(text, 80)
        ))),
    }
}

fn resolved(reply: &Value, _: &Matches) -> Rendered {
    let mut text = known(reply);
    if is(reply, "resolved") {
        text += &fill("found as {how}\n", reply);
    }
    text += &data(reply, "resolver");
    match is(reply, "resolved") {
        true => Rendered::good(text),
        false => Rendered {
            out: text,
            aside: "lore: the name is unknown\n".to_owned(),
            end: Exit::Nothing,
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_kind_and_name() {
        let read = |text: &str| kind_and_name(text).ok();
        let named = |kind: &str, name: &str| Some(json!({"kind": kind, "name": name}));
        assert_eq!(read("device:sw-1"), named("device", "sw-1"));
        assert_eq!(read("ip_address:fe80::1"), named("ip_address", "fe80::1"));
        assert_eq!([read("sw-1"), read(":x"), read("x:")], [None, None, None]);
    }
}
