//! What the panes list: which things, in which order, which of them fit the filter.

use std::cmp::Reverse;
use std::sync::Arc;

use lore::protocol::sessions::SessionSummary;
use lore::protocol::status::{Follower, Resolver, StatusReply};

use crate::model::Model;
use crate::model::agents::Agent;
use crate::model::event::Entry;
use crate::model::latency::Quantiles;

/// A pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    /// The newest sessions.
    Sessions,
    /// Who was seen lately.
    Agents,
    /// What happens.
    Events,
    /// What follows the log, and who is asked what names stand for.
    Followers,
    /// How long calls take.
    Latency,
    /// Sizes, counts, limits, places, warnings.
    Sizes,
}

/// An order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// What was active last comes first.
    Newest,
    /// What had the most events in the last minutes.
    Busiest,
    /// What has the most steps.
    Steps,
    /// By name.
    Name,
    /// What is behind the most.
    Lag,
    /// What takes the longest.
    Slowest,
    /// What is the largest.
    Largest,
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// A session, and how many of its events were seen in the last minutes.
    Session(&'a SessionSummary, u64),
    /// An agent by its name.
    Agent(&'a str, &'a Agent),
    /// An event.
    Event(&'a Entry),
    /// What follows the log.
    Follower(&'a Follower),
    /// Who is asked what names stand for.
    Resolver(&'a Resolver),
    /// How long something took.
    Latency(&'static str, Quantiles),
    /// A fact about the daemon.
    Fact(&'a str, Fact<'a>),
}

/// What a fact is.
#[derive(Debug, Clone, Copy)]
pub enum Fact<'a> {
    /// Something to look at.
    Warning,
    /// How large it is, in bytes.
    Size(u64),
    /// How many there are.
    Count(u64),
    /// How large or many it may be.
    Limit(u64),
    /// Where it is, or who.
    Text(&'a str),
}

impl Pane {
    /// All of them, by number.
    pub const ALL: [Self; 6] = [
        Self::Sessions,
        Self::Agents,
        Self::Events,
        Self::Followers,
        Self::Latency,
        Self::Sizes,
    ];

    /// Its place among them.
    pub const fn index(self) -> usize {
        match self {
            Self::Sessions => 0,
            Self::Agents => 1,
            Self::Events => 2,
            Self::Followers => 3,
            Self::Latency => 4,
            Self::Sizes => 5,
        }
    }

    /// What it is called.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Sessions => "Sessions",
            Self::Agents => "Agents",
            Self::Events => "Events",
            Self::Followers => "Followers",
            Self::Latency => "Latency",
            Self::Sizes => "Sizes",
        }
    }

    /// The pane of a digit from 1 on.
    pub fn of_digit(digit: char) -> Option<Self> {
        let number = usize::try_from(digit.to_digit(10)?).ok()?;
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    /// The next one (1) or the one before (-1), around the ends.
    pub fn adjacent(self, step: isize) -> Self {
        let count = Self::ALL.len();
        let next = (self.index() + count).saturating_add_signed(step) % count;
        Self::ALL.get(next).copied().unwrap_or(self)
    }

    /// The orders it can have; the first one at first.
    pub const fn sorts(self) -> &'static [Sort] {
        match self {
            Self::Sessions => &[Sort::Newest, Sort::Busiest, Sort::Steps, Sort::Name],
            Self::Agents => &[Sort::Newest, Sort::Busiest, Sort::Name],
            Self::Events => &[Sort::Newest],
            Self::Followers => &[Sort::Name, Sort::Lag],
            Self::Latency => &[Sort::Name, Sort::Slowest],
            Self::Sizes => &[Sort::Name, Sort::Largest],
        }
    }
}

impl Sort {
    /// What it is called.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Busiest => "busiest",
            Self::Steps => "steps",
            Self::Name => "name",
            Self::Lag => "lag",
            Self::Slowest => "slowest",
            Self::Largest => "largest",
        }
    }
}

/// The rows of a pane. Events are those of `frozen`, if it is given.
pub fn items<'a>(
    model: &'a Model,
    pane: Pane,
    sort: Sort,
    filter: &str,
    frozen: Option<&'a [Arc<Entry>]>,
) -> Vec<Item<'a>> {
    let mut items: Vec<Item<'a>> = match (pane, frozen) {
        (Pane::Sessions, _) => model
            .sessions
            .iter()
            .map(|session| Item::Session(session, model.recent(session.session.as_str())))
            .collect(),
        (Pane::Agents, _) => model
            .agents
            .iter()
            .map(|(name, agent)| Item::Agent(name, agent))
            .collect(),
        (Pane::Events, Some(frozen)) => frozen.iter().map(|entry| Item::Event(entry)).collect(),
        (Pane::Events, None) => model
            .events
            .iter()
            .map(|entry| Item::Event(entry))
            .collect(),
        (Pane::Followers, _) => followers(model),
        (Pane::Latency, _) => model
            .latency
            .iter()
            .filter_map(|(what, latency)| Some(Item::Latency(what, latency.quantiles()?)))
            .collect(),
        (Pane::Sizes, _) => model.status.as_deref().map_or_else(Vec::new, facts),
    };
    if !filter.is_empty() {
        let wanted = filter.to_lowercase();
        items.retain(|item| item.contains(&wanted));
    }
    put_in_order(&mut items, sort, model);
    items
}

fn followers(model: &Model) -> Vec<Item<'_>> {
    let Some(status) = model.status.as_deref() else {
        return Vec::new();
    };
    let followers = status.followers.iter().map(Item::Follower);
    followers
        .chain(status.resolvers.iter().map(Item::Resolver))
        .collect()
}

fn facts(status: &StatusReply) -> Vec<Item<'_>> {
    let texts = [
        ("socket", status.socket.as_str()),
        ("data", &status.data),
        ("store", &status.store),
    ];
    let warnings = status
        .warnings
        .iter()
        .map(|warning| Item::Fact(warning, Fact::Warning));
    let sizes = status
        .sizes
        .iter()
        .map(|(name, size)| Item::Fact(name, Fact::Size(*size)));
    let counts = status
        .counts
        .iter()
        .map(|(name, count)| Item::Fact(name, Fact::Count(*count)));
    let limits = status
        .limits
        .iter()
        .map(|(name, limit)| Item::Fact(name, Fact::Limit(*limit)));
    warnings
        .chain(sizes)
        .chain(counts)
        .chain(limits)
        .chain(texts.map(|(name, text)| Item::Fact(name, Fact::Text(text))))
        .collect()
}

/// Puts rows in order; those that are equal in it stay as they came.
fn put_in_order(items: &mut [Item<'_>], sort: Sort, model: &Model) {
    match sort {
        // Sessions come in this order, and events do; names come from maps.
        Sort::Newest => {
            items.sort_by(|a, b| match (a, b) {
                (Item::Agent(_, a), Item::Agent(_, b)) => b.seen.cmp(&a.seen),
                (Item::Session(a, _), Item::Session(b, _)) => b.last_activity.cmp(&a.last_activity),
                _ => std::cmp::Ordering::Equal,
            });
        }
        Sort::Name => items.sort_by(|a, b| a.name().cmp(b.name()).then(a.group().cmp(&b.group()))),
        Sort::Busiest | Sort::Steps | Sort::Lag | Sort::Slowest | Sort::Largest => {
            items.sort_by_key(|item| Reverse(item.measure(sort, model)));
        }
    }
    // What kinds of rows there are in a pane stays apart.
    items.sort_by_key(Item::group);
}

impl<'a> Item<'a> {
    /// The position of an event.
    pub const fn position(&self) -> Option<u64> {
        match self {
            Self::Event(entry) => Some(entry.position),
            Self::Session(..)
            | Self::Agent(..)
            | Self::Follower(_)
            | Self::Resolver(_)
            | Self::Latency(..)
            | Self::Fact(..) => None,
        }
    }

    /// By what it is put in order by name.
    fn name(&self) -> &'a str {
        match *self {
            Self::Session(session, _) => session
                .title
                .as_deref()
                .unwrap_or_else(|| session.session.as_str()),
            Self::Agent(name, _) | Self::Latency(name, _) | Self::Fact(name, _) => name,
            Self::Event(entry) => &entry.kind,
            Self::Follower(follower) => &follower.name,
            Self::Resolver(resolver) => &resolver.name,
        }
    }

    /// Rows of a kind stand together.
    const fn group(&self) -> u8 {
        match self {
            Self::Session(..) | Self::Agent(..) | Self::Event(_) => 0,
            Self::Follower(_) | Self::Latency(..) | Self::Fact(_, Fact::Warning) => 0,
            Self::Resolver(_) | Self::Fact(_, Fact::Size(_)) => 1,
            Self::Fact(_, Fact::Count(_)) => 2,
            Self::Fact(_, Fact::Limit(_)) => 3,
            Self::Fact(_, Fact::Text(_)) => 4,
        }
    }

    /// How much of what an order goes by it has.
    fn measure(&self, sort: Sort, model: &Model) -> u128 {
        match (*self, sort) {
            (Self::Session(session, _), Sort::Steps) => session.steps.into(),
            (Self::Session(_, recent), _) => recent.into(),
            (Self::Agent(_, agent), _) => agent.tally.count(model.now).into(),
            (Self::Event(entry), _) => entry.position.into(),
            (Self::Follower(follower), _) => follower.lag.into(),
            (Self::Resolver(resolver), _) => resolver.failures.into(),
            (Self::Latency(_, quantiles), _) => quantiles.p99.as_nanos(),
            (Self::Fact(_, Fact::Size(figure) | Fact::Count(figure) | Fact::Limit(figure)), _) => {
                figure.into()
            }
            (Self::Fact(_, Fact::Warning | Fact::Text(_)), _) => 0,
        }
    }

    /// Whether any of its texts contains a lower-case text.
    fn contains(&self, wanted: &str) -> bool {
        let has = |text: &str| text.to_lowercase().contains(wanted);
        let may_have = |text: &Option<String>| text.as_deref().is_some_and(has);
        match *self {
            Self::Session(session, _) => {
                has(session.session.as_str())
                    || may_have(&session.title)
                    || may_have(&session.topic)
                    || may_have(&session.project)
                    || may_have(&session.user)
                    || session
                        .tags
                        .iter()
                        .chain(&session.agents)
                        .any(|text| has(text))
            }
            Self::Agent(name, agent) => {
                has(name) || has(&agent.kind) || has(&agent.client) || may_have(&agent.session)
            }
            Self::Event(entry) => {
                has(&entry.kind)
                    || has(&entry.agent)
                    || has(&entry.client)
                    || has(&entry.summary)
                    || may_have(&entry.session)
            }
            Self::Follower(_) | Self::Resolver(_) | Self::Latency(..) | Self::Fact(..) => {
                has(self.name())
            }
        }
    }
}
