//! `lore session list`: sessions as a table.

use lore::protocol::sessions::{ListSessionsArgs, ListSessionsReply, SessionSummary, StateFilter};

use crate::cli::exchange::{Told, ask};
use crate::cli::given::{Page, more, one_of, word};
use crate::cli::output::{shown, table};
use crate::cli::{Caller, End, Failure};

/// The states that can be asked for.
const STATES: &[(&str, StateFilter)] = &[
    ("active", StateFilter::Active),
    ("expired", StateFilter::Expired),
    ("closed", StateFilter::Closed),
    ("any", StateFilter::Any),
];

/// List sessions, the newest first
#[derive(Debug, clap::Args)]
pub struct List {
    /// Of this user alone
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Of this project alone
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// In which this agent took part
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// In this state; otherwise those that are active, and those closed within a day
    #[arg(long, value_parser = one_of(STATES))]
    state: Option<StateFilter>,
    /// With this tag, as often as needed
    #[arg(long = "tag", value_name = "TEXT")]
    tags: Vec<String>,
    #[command(flatten)]
    page: Page,
}

impl List {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ListSessionsArgs {
            user: self.user,
            project: self.project,
            by_agent: self.by,
            state: self.state,
            tags: self.tags,
            limit: self.page.limit,
            next: self.page.next,
            at_least: None,
            agent: None,
        };
        ask(caller, "list_sessions", &args, human)
    }
}

fn human(reply: &ListSessionsReply) -> Told {
    if reply.sessions.is_empty() {
        return Told::nothing(String::new());
    }
    let rows: Vec<_> = reply.sessions.iter().map(row).collect();
    let heading = [
        "session",
        "state",
        "last activity",
        "steps",
        "user",
        "agents",
        "tags",
        "title",
    ];
    Told::good(table(heading, &rows) + &more(reply.next.as_deref()))
}

fn row(session: &SessionSummary) -> [String; 8] {
    let about = session.title.as_ref().or(session.topic.as_ref());
    [
        session.session.to_string(),
        word(&session.state),
        shown(&session.last_activity, 30),
        session.steps.to_string(),
        shown(session.user.as_deref().unwrap_or_default(), 20),
        shown(&session.agents.join(", "), 30),
        shown(&session.tags.join(", "), 30),
        shown(about.map_or("", String::as_str), 50),
    ]
}
