//! Columns of each pane, and the cells of its rows.

use lore::protocol::SessionId;
use lore::protocol::sessions::SessionState;
use lore::sanitize::bytes;

use super::labels::{Tone, age, count, took};
use super::sheet::{CellText, Column};
use crate::clock::UnixMicros;
use crate::listing::{Fact, Item, Pane};
use crate::model::Model;
use crate::model::mark::Mark;

/// Returns the columns of a pane.
pub const fn columns(pane: Pane) -> &'static [Column] {
    match pane {
        Pane::Sessions => {
            const {
                &[
                    Column::text("SESSION", 12, 26, 0),
                    Column::text("TITLE", 12, 50, 2),
                    Column::text("AGENTS", 12, 40, 5),
                    Column::text("PROJECT", 12, 30, 7),
                    Column::text("STATE", 7, 7, 4),
                    Column::number("STEPS", 7, 3),
                    Column::number("5 MIN", 6, 8),
                    Column::text("NOW", 10, 10, 6),
                    Column::number("LAST", 7, 1),
                ]
            }
        }
        Pane::Agents => {
            const {
                &[
                    Column::text("AGENT", 12, 30, 0),
                    Column::text("SESSION", 12, 26, 3),
                    Column::text("DID LAST", 18, 30, 5),
                    Column::text("PROGRAM", 12, 30, 6),
                    Column::number("EVENTS", 7, 4),
                    Column::number("5 MIN", 6, 2),
                    Column::number("LAST", 7, 1),
                ]
            }
        }
        Pane::Events => {
            const {
                &[
                    Column::number("POSITION", 9, 3),
                    Column::text("TIME", 8, 8, 2),
                    Column::text("AGENT", 10, 20, 1),
                    Column::text("WHAT", 24, 160, 0),
                    Column::text("SESSION", 10, 26, 4),
                    Column::text("KIND", 16, 26, 5),
                    Column::text("PROGRAM", 12, 24, 6),
                ]
            }
        }
        Pane::Followers => {
            const {
                &[
                    Column::text("NAME", 12, 30, 0),
                    Column::text("STATE", 10, 12, 1),
                    Column::number("BEHIND", 9, 2),
                    Column::number("POSITION", 12, 3),
                    Column::number("CALLS", 8, 4),
                    Column::number("FAILED", 8, 5),
                ]
            }
        }
        Pane::Latency => {
            const {
                &[
                    Column::text("WHAT", 12, 30, 0),
                    Column::number("P50", 8, 1),
                    Column::number("P99", 8, 2),
                    Column::number("LONGEST", 8, 3),
                    Column::number("OF LAST", 8, 4),
                ]
            }
        }
        Pane::Sizes => {
            const {
                &[
                    Column::text("WHAT", 8, 8, 2),
                    Column::text("NAME", 16, 60, 0),
                    Column::text("VALUE", 14, 110, 1),
                ]
            }
        }
    }
}

/// Returns the cells of a row, one for each column of its pane.
pub fn cells(item: &Item<'_>, model: &Model, selected: Option<&SessionId>) -> Vec<CellText> {
    let plain = |text: &str| (text.to_owned(), Tone::Plain);
    let name = |text: &str| (text.to_owned(), Tone::Name);
    let faint = |text: &str| (text.to_owned(), Tone::Faint);
    let or_none = |text: Option<&String>| text.map_or_else(|| faint("-"), |text| faint(text));
    let number = |number: u64| match number {
        0 => faint("0"),
        _ => plain(&count(number)),
    };
    let ago = |at: UnixMicros| plain(&age(model.now.since(at)));
    match *item {
        Item::Session(session, recent) => vec![
            match selected == Some(&session.session) {
                true => (session.session.to_string(), Tone::Chosen),
                false => name(session.session.as_str()),
            },
            plain(
                session
                    .title
                    .as_ref()
                    .or(session.topic.as_ref())
                    .or(session.first_message.as_ref())
                    .map_or("", String::as_str),
            ),
            faint(&session.agents.join(", ")),
            or_none(session.project.as_ref()),
            state(session.state),
            number(session.steps),
            number(recent),
            lane(model, session.session.as_str()),
            UnixMicros::read(&session.last_activity).map_or_else(|| faint("-"), ago),
        ],
        Item::Agent(agent_name, agent) => vec![
            name(or_dash(agent_name)),
            or_none(agent.session.as_ref()),
            plain(&agent.kind),
            faint(&agent.client),
            number(agent.events),
            number(agent.tally.count(model.now)),
            ago(agent.seen),
        ],
        Item::Event(entry) => vec![
            faint(&entry.position.to_string()),
            plain(&entry.at.time_of_day()),
            name(or_dash(&entry.agent)),
            plain(&entry.summary),
            or_none(entry.session.as_ref()),
            faint(&entry.kind),
            faint(&entry.client),
        ],
        Item::Follower(follower) => vec![
            name(&follower.name),
            match follower.lag {
                0 => ("there".to_owned(), Tone::Good),
                _ => ("behind".to_owned(), Tone::Odd),
            },
            number(follower.lag),
            plain(&count(follower.position.0)),
        ],
        Item::Resolver(resolver) => vec![
            name(&resolver.name),
            match resolver.state.as_str() {
                "broken" => ("broken".to_owned(), Tone::Bad),
                state => plain(state),
            },
            faint("-"),
            faint("-"),
            number(resolver.calls),
            number(resolver.failures),
        ],
        Item::Latency(what, quantiles) => vec![
            name(what),
            plain(&took(quantiles.p50)),
            plain(&took(quantiles.p99)),
            plain(&took(quantiles.max)),
            faint(&quantiles.count.to_string()),
        ],
        Item::Fact(fact_name, fact) => match fact {
            Fact::Warning => vec![
                ("warning".to_owned(), Tone::Odd),
                (fact_name.to_owned(), Tone::Odd),
            ],
            Fact::Size(size) => vec![faint("size"), name(fact_name), plain(&bytes(size))],
            Fact::Count(figure) => vec![faint("count"), name(fact_name), plain(&count(figure))],
            Fact::Limit(figure) => vec![faint("limit"), name(fact_name), plain(&count(figure))],
            Fact::Text(text) => vec![faint("place"), name(fact_name), plain(text)],
        },
    }
}

/// The last five minutes of a session.
fn lane(model: &Model, session: &str) -> CellText {
    let lane = model.lane(session);
    let tone = match lane.contains(Mark::Failure.letter()) {
        true => Tone::Odd,
        false => Tone::Plain,
    };
    (lane, tone)
}

fn or_dash(name: &str) -> &str {
    if name.is_empty() { "-" } else { name }
}

fn state(state: SessionState) -> CellText {
    match state {
        SessionState::Active => ("active".to_owned(), Tone::Good),
        SessionState::Expired => ("expired".to_owned(), Tone::Faint),
        SessionState::Closed => ("closed".to_owned(), Tone::Faint),
    }
}
