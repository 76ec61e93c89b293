//! Rows of the panes: selection, order and filter.

use std::cmp::Reverse;
use std::sync::Arc;

use lore::protocol::SessionId;
use lore::protocol::sessions::SessionSummary;
use lore::protocol::status::{Follower, Resolver, StatusReply};

use crate::model::Model;
use crate::model::agents::Agent;
use crate::model::event::Entry;
use crate::model::latency::Quantiles;

/// A pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    /// Newest sessions.
    Sessions,
    /// Recently seen agents.
    Agents,
    /// Events as they happen.
    Events,
    /// Log followers and name resolvers.
    Followers,
    /// Call durations.
    Latency,
    /// Sizes, counts, limits, places, warnings.
    Sizes,
}

/// A sort order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Most recent activity first.
    Newest,
    /// Most events in the last minutes first.
    Busiest,
    /// Most steps first.
    Steps,
    /// By name.
    Name,
    /// Largest lag first.
    Lag,
    /// Slowest first.
    Slowest,
    /// Largest first.
    Largest,
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// A session, and the number of its events in the last minutes.
    Session(&'a SessionSummary, u64),
    /// An agent by its name.
    Agent(&'a str, &'a Agent),
    /// An event.
    Event(&'a Entry),
    /// A log follower.
    Follower(&'a Follower),
    /// A name resolver.
    Resolver(&'a Resolver),
    /// Durations of one kind of call.
    Latency(&'static str, Quantiles),
    /// A fact about the daemon.
    Fact(&'a str, Fact<'a>),
}

/// Value of a fact.
#[derive(Debug, Clone, Copy)]
pub enum Fact<'a> {
    /// A warning.
    Warning,
    /// A size in bytes.
    Size(u64),
    /// A count.
    Count(u64),
    /// A limit on a size or count.
    Limit(u64),
    /// A path or name.
    Text(&'a str),
}

impl Pane {
    /// All panes, by number.
    pub const ALL: [Self; 6] = [
        Self::Sessions,
        Self::Agents,
        Self::Events,
        Self::Followers,
        Self::Latency,
        Self::Sizes,
    ];

    /// Returns the pane's index in [`Self::ALL`].
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

    /// Returns the pane's title.
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

    /// Returns the pane of a digit, starting at 1.
    pub fn of_digit(digit: char) -> Option<Self> {
        let number = usize::try_from(digit.to_digit(10)?).ok()?;
        Self::ALL.get(number.checked_sub(1)?).copied()
    }

    /// Returns the next pane (1) or the previous one (-1), cyclically.
    pub fn adjacent(self, step: isize) -> Self {
        let count = Self::ALL.len();
        let next = (self.index() + count).saturating_add_signed(step) % count;
        Self::ALL.get(next).copied().unwrap_or(self)
    }

    /// Returns the available sort orders; the first one is the default.
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
    /// Returns the order's title.
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

/// Returns the rows of a pane. If `frozen` is given, it supplies the events, and `open` is the session whose events
/// are listed. Bookkeeping is not listed.
pub fn items<'a>(
    model: &'a Model,
    pane: Pane,
    sort: Sort,
    filter: &str,
    frozen: Option<&'a [Arc<Entry>]>,
    open: Option<&str>,
) -> Vec<Item<'a>> {
    let shown = |entry: &&Arc<Entry>| {
        !entry.is_internal && open.is_none_or(|open| entry.session.as_deref() == Some(open))
    };
    let opened = model.opened.as_ref();
    let opened = opened.filter(|opened| open == Some(opened.session.as_str()));
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
        (Pane::Events, Some(frozen)) => {
            let entries = frozen.iter().filter(shown);
            entries.map(|entry| Item::Event(entry)).collect()
        }
        (Pane::Events, None) => match opened {
            Some(opened) => {
                let entries = opened.events.iter().filter(shown);
                entries.map(|entry| Item::Event(entry)).collect()
            }
            None => {
                let entries = model.events.iter().filter(shown);
                entries.map(|entry| Item::Event(entry)).collect()
            }
        },
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

/// Sorts rows; equal rows keep their order.
fn put_in_order(items: &mut [Item<'_>], sort: Sort, model: &Model) {
    match sort {
        // Sessions and events arrive in this order; names come from maps.
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
    // Rows of different kinds stay separate.
    items.sort_by_key(Item::group);
}

impl<'a> Item<'a> {
    /// Returns an event's position.
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

    /// Returns a session's id.
    pub const fn session(&self) -> Option<&'a SessionId> {
        match self {
            Self::Session(session, _) => Some(&session.session),
            Self::Agent(..)
            | Self::Event(_)
            | Self::Follower(_)
            | Self::Resolver(_)
            | Self::Latency(..)
            | Self::Fact(..) => None,
        }
    }

    /// Returns the key for sorting by name.
    fn name(&self) -> &'a str {
        match *self {
            Self::Session(session, _) => session
                .title
                .as_deref()
                .or(session.first_message.as_deref())
                .unwrap_or_else(|| session.session.as_str()),
            Self::Agent(name, _) | Self::Latency(name, _) | Self::Fact(name, _) => name,
            Self::Event(entry) => &entry.kind,
            Self::Follower(follower) => &follower.name,
            Self::Resolver(resolver) => &resolver.name,
        }
    }

    /// Returns the group key that keeps rows of one kind together.
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

    /// Returns the key for a numeric sort order.
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

    /// Returns whether any of the row's texts contains a lower-case text.
    fn contains(&self, wanted: &str) -> bool {
        let has = |text: &str| text.to_lowercase().contains(wanted);
        let may_have = |text: &Option<String>| text.as_deref().is_some_and(has);
        match *self {
            Self::Session(session, _) => {
                has(session.session.as_str())
                    || may_have(&session.title)
                    || may_have(&session.topic)
                    || may_have(&session.first_message)
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
