//! `lore entity …`: the things that sessions are about.

use clap::Subcommand;
use lore::protocol::entities::{
    Entity as Known, EntityMention, EntityName, GetEntityArgs, GetEntityReply, ListEntitiesArgs,
    ListEntitiesReply, RelateEntitiesArgs, RelateEntitiesReply, ResolveEntityArgs,
    ResolveEntityReply, Sort,
};
use serde_json::Value;

use super::exchange::{Told, ask, id, moment};
use super::given::{Guard, Page, more, one_of, word};
use super::output::{facts, shown, shown_lines, table};
use super::{Caller, End, Failure};

/// What can come first.
const SORTS: &[(&str, Sort)] = &[
    ("relevance", Sort::Relevance),
    ("mentions", Sort::Mentions),
    ("recency", Sort::Recency),
];

/// The things that sessions are about: what is known of them, how they are related
#[derive(Debug, Subcommand)]
pub enum Entity {
    /// List the entities of a session, of a project or of all sessions
    List(List),
    /// Show what is known of an entity
    Show {
        /// Its name, as it is written
        name: String,
        /// Its kind; otherwise whichever has that name
        #[arg(long, value_name = "NAME")]
        kind: Option<String>,
        /// As things stood at this position or RFC 3339 time
        #[arg(long, value_name = "WHEN")]
        as_of: Option<String>,
    },
    /// Say how two entities are related
    Relate(Relate),
    /// Find out what a name means, also by asking the system that knows
    Resolve(Resolve),
}

impl Entity {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        match self {
            Self::List(list) => list.run(caller),
            Self::Show { name, kind, as_of } => {
                let args = GetEntityArgs {
                    session: None,
                    name,
                    kind,
                    as_of: moment(as_of.as_deref())?,
                    at_least: None,
                    agent: None,
                };
                ask(caller, "get_entity", &args, |reply| Told::good(one(reply)))
            }
            Self::Relate(relate) => relate.run(caller),
            Self::Resolve(resolve) => resolve.run(caller),
        }
    }
}

/// List the entities of a session, of a project or of all sessions
#[derive(Debug, clap::Args)]
pub struct List {
    /// Of all sessions of this project together
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    project: Option<String>,
    /// Of all sessions together
    #[arg(long)]
    all: bool,
    /// Of this kind alone
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
    /// What comes first; otherwise the most relevant
    #[arg(long, value_parser = one_of(SORTS))]
    sort: Option<Sort>,
    /// As things stood at this position or RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    as_of: Option<String>,
    #[command(flatten)]
    page: Page,
}

impl List {
    fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ListEntitiesArgs {
            // What merely stands in the environment does not exclude the others.
            session: caller.session.as_deref().map(id).transpose()?,
            project: self.project,
            all: self.all.then_some(true),
            kind: self.kind,
            sort: self.sort,
            limit: self.page.limit,
            next: self.page.next,
            as_of: moment(self.as_of.as_deref())?,
            at_least: None,
            agent: None,
        };
        ask(caller, "list_entities", &args, listed)
    }
}

fn listed(reply: &ListEntitiesReply) -> Told {
    if reply.entities.is_empty() {
        return Told::nothing(String::new());
    }
    let kinds: Vec<_> = reply
        .kinds
        .iter()
        .map(|(kind, count)| format!("{} {count}", shown(kind, 40)))
        .collect();
    let kinds = format!("in all: {}\n", kinds.join(", "));
    Told::good(entities_table(&reply.entities) + &kinds + &more(reply.next.as_deref()))
}

/// Entities, a line each.
pub fn entities_table(entities: &[Known]) -> String {
    let row = |entity: &Known| {
        let parent = entity.parent.as_ref();
        [
            shown(&entity.kind, 30),
            shown(&entity.name, 60),
            entity.mentions.to_string(),
            format!("{:.1}", entity.relevance),
            shown(&entity.last_mentioned, 30),
            parent.map(named).unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = entities.iter().map(row).collect();
    let heading = [
        "kind",
        "name",
        "mentions",
        "relevance",
        "last mentioned",
        "part of",
    ];
    table(heading, &rows)
}

fn named(name: &EntityName) -> String {
    format!("{}:{}", shown(&name.kind, 30), shown(&name.name, 60))
}

fn one(reply: &GetEntityReply) -> String {
    let mut text = known(&reply.entity, &reply.session.to_string());
    let children: Vec<_> = reply.children.iter().map(named).collect();
    if !children.is_empty() {
        text += &format!("\nits parts: {}\n", children.join(", "));
    }
    if !reply.relations.is_empty() {
        let row = |relation: &lore::protocol::entities::EntityRelation| {
            [
                shown(&relation.relation, 40),
                shown(&relation.kind, 30),
                shown(&relation.name, 60),
                relation.count.to_string(),
            ]
        };
        let rows: Vec<_> = reply.relations.iter().map(row).collect();
        text += "\n";
        text += &table(["relation", "kind", "name", "count"], &rows);
    }
    if !reply.mentions.is_empty() {
        let rows: Vec<_> = reply.mentions.iter().map(mention).collect();
        text += "\n";
        text += &table(["mentioned in", "position", "at", "text"], &rows);
    }
    if let Some(data) = &reply.data {
        let from = shown(reply.data_from.as_deref().unwrap_or("another system"), 40);
        text += &format!("\n{from} says\n{}", pretty(data));
    }
    text
}

fn known(entity: &Known, session: &str) -> String {
    let optional = |text: &Option<String>| shown(text.as_deref().unwrap_or_default(), 80);
    let resolved = if entity.resolved { "yes" } else { "no" };
    facts([
        ("kind", shown(&entity.kind, 40)),
        ("name", shown(&entity.name, 200)),
        ("session", session.to_owned()),
        ("id", optional(&entity.id)),
        ("slug", optional(&entity.slug)),
        (
            "part of",
            entity.parent.as_ref().map(named).unwrap_or_default(),
        ),
        ("mentions", entity.mentions.to_string()),
        ("first mentioned", shown(&entity.first_mentioned, 30)),
        ("last mentioned", shown(&entity.last_mentioned, 30)),
        ("relevance", format!("{:.1}", entity.relevance)),
        ("resolved", resolved.to_owned()),
    ])
}

fn mention(mention: &EntityMention) -> [String; 4] {
    let place = match (&mention.message, mention.step, &mention.execution) {
        (Some(message), _, _) => format!("message {}", shown(message, 40)),
        (None, Some(step), _) => format!("step {step}, attempt {}", mention.attempt.unwrap_or(1)),
        (None, None, Some(execution)) => format!("tool {}", shown(execution, 40)),
        (None, None, None) => String::new(),
    };
    [
        place,
        mention.position.to_string(),
        shown(&mention.at, 30),
        shown(mention.snippet.as_deref().unwrap_or_default(), 80),
    ]
}

/// JSON over many lines, without tricks.
fn pretty(data: &Value) -> String {
    shown_lines(&format!("{data:#}")) + "\n"
}

/// Say how two entities are related
#[derive(Debug, clap::Args)]
pub struct Relate {
    /// From this one, as KIND:NAME
    from: String,
    /// How: connected_to, parent and the like
    relation: String,
    /// To this one, as KIND:NAME
    to: String,
    #[command(flatten)]
    guard: Guard,
}

impl Relate {
    fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = RelateEntitiesArgs {
            session: None,
            from: name_of(&self.from)?,
            relation: self.relation,
            to: name_of(&self.to)?,
            fence: self.guard.fence(),
            key: self.guard.key,
            agent: None,
        };
        ask(
            caller,
            "relate_entities",
            &args,
            |reply: &RelateEntitiesReply| {
                Told::good(format!(
                    "{} {} {} in session {} (position {})\n",
                    named(&reply.from),
                    shown(&reply.relation, 80),
                    named(&reply.to),
                    reply.session,
                    reply.position
                ))
            },
        )
    }
}

/// An entity as `KIND:NAME`; the name may have colons of its own.
fn name_of(text: &str) -> Result<EntityName, Failure> {
    match text.split_once(':') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() => Ok(EntityName {
            kind: kind.to_owned(),
            name: name.to_owned(),
        }),
        Some(_) | None => Err(Failure::Usage(format!(
            "{} is no KIND:NAME, such as device:switch-nyc-01",
            shown(text, 80)
        ))),
    }
}

/// Find out what a name means, also by asking the system that knows
#[derive(Debug, clap::Args)]
pub struct Resolve {
    /// The name, as it is written
    name: String,
    /// Its kind; otherwise the one that its form or the session tells
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
    /// Ask the other system even if its last answer is fresh
    #[arg(long)]
    refresh: bool,
    #[command(flatten)]
    guard: Guard,
}

impl Resolve {
    fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ResolveEntityArgs {
            session: None,
            name: self.name,
            kind: self.kind,
            refresh: self.refresh.then_some(true),
            fence: self.guard.fence(),
            key: self.guard.key,
            agent: None,
        };
        ask(caller, "resolve_entity", &args, resolved)
    }
}

fn resolved(reply: &ResolveEntityReply) -> Told {
    let mut text = match &reply.entity {
        Some(entity) => known(entity, &reply.session.to_string()),
        None => String::new(),
    };
    if reply.resolved {
        text += &format!("found as {}\n", word(&reply.how));
    }
    if let Some(data) = &reply.data {
        let from = shown(reply.resolver.as_deref().unwrap_or("another system"), 40);
        text += &format!("\n{from} says\n{}", pretty(data));
    }
    if reply.resolved {
        return Told::good(text);
    }
    Told {
        out: text,
        aside: "lore: nobody knows what is meant\n".to_owned(),
        end: End::Nothing,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_kind_and_name() {
        let read = |text: &str| name_of(text).ok().map(|name| (name.kind, name.name));
        let said = |kind: &str, name: &str| Some((kind.to_owned(), name.to_owned()));
        assert_eq!(read("device:sw-1"), said("device", "sw-1"));
        assert_eq!(read("ip_address:fe80::1"), said("ip_address", "fe80::1"));
        assert_eq!(read("sw-1"), None);
        assert_eq!(read(":x"), None);
        assert_eq!(read("x:"), None);
    }
}
