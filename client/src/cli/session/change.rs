//! `lore session create`, `update` and `close`: what is said about a session, and its end.

use lore::protocol::sessions::{
    CloseSessionArgs, CloseSessionReply, CreateSessionArgs, CreateSessionReply, UpdateSessionArgs,
    UpdateSessionReply,
};

use crate::cli::exchange::{Told, ask, id};
use crate::cli::given::{Guard, Which, preferences};
use crate::cli::output::{facts, shown};
use crate::cli::{Caller, End, Failure};

/// Begin a session
#[derive(Debug, clap::Args)]
pub struct Create {
    /// An id of your own; otherwise a new one
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// What it is about
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Whose it is
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Its project, if not that of this folder
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// What is talked about now
    #[arg(long, value_name = "TEXT")]
    topic: Option<String>,
    /// A word to find it by, as often as needed
    #[arg(long = "tag", value_name = "TEXT")]
    tags: Vec<String>,
    /// A preference, as often as needed, such as auto_save=true; others are as the user had them last
    #[arg(long = "preference", value_name = "NAME=JSON")]
    preferences: Vec<String>,
    /// Idempotency key: the same call again begins nothing twice
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Create {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        // LORE_SESSION names the session that one works in, not the one to be made.
        let named = self.id.as_ref().or(caller.session.as_ref());
        let args = CreateSessionArgs {
            session: named.map(|text| id(text)).transpose()?,
            title: self.title,
            user: self.user,
            project: self.project,
            topic: self.topic,
            tags: self.tags,
            preferences: preferences(&self.preferences)?,
            key: self.key,
            agent: None,
        };
        ask(
            caller,
            "create_session",
            &args,
            |reply: &CreateSessionReply| {
                // Alone in its line, for `session=$(lore session create)`.
                Told::good(format!("{}\n", reply.session))
            },
        )
    }
}

/// Change what is said about a session; what is not named stays
#[derive(Debug, clap::Args)]
pub struct Update {
    #[command(flatten)]
    which: Which,
    /// What it is about; an empty text takes it away
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// What is talked about now; an empty text takes it away
    #[arg(long, value_name = "TEXT")]
    topic: Option<String>,
    /// All its tags, in place of those it has, as often as needed; an empty text alone: none
    #[arg(long = "tag", value_name = "TEXT")]
    tags: Option<Vec<String>>,
    /// A tag to add, as often as needed
    #[arg(long = "add-tag", value_name = "TEXT")]
    add_tags: Vec<String>,
    /// A tag to take away, as often as needed
    #[arg(long = "remove-tag", value_name = "TEXT")]
    remove_tags: Vec<String>,
    /// A preference to set, as often as needed, such as auto_save=true; null takes it away
    #[arg(long = "preference", value_name = "NAME=JSON")]
    preferences: Vec<String>,
    #[command(flatten)]
    guard: Guard,
}

impl Update {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let no_tags = |tags: Vec<String>| match tags.as_slice() {
            [tag] if tag.is_empty() => Vec::new(),
            _ => tags,
        };
        let args = UpdateSessionArgs {
            session: self.which.session()?,
            title: self.title,
            topic: self.topic,
            tags: self.tags.map(no_tags),
            add_tags: self.add_tags,
            remove_tags: self.remove_tags,
            preferences: preferences(&self.preferences)?,
            fence: self.guard.fence(),
            key: self.guard.key,
            agent: None,
        };
        ask(caller, "update_session", &args, |reply| {
            Told::good(updated(reply))
        })
    }
}

fn updated(reply: &UpdateSessionReply) -> String {
    let optional = |text: &Option<String>| shown(text.as_deref().unwrap_or_default(), 200);
    let preferences = reply.preferences.iter();
    let preferences: Vec<_> = preferences
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    facts([
        ("session", reply.session.to_string()),
        ("title", optional(&reply.title)),
        ("topic", optional(&reply.topic)),
        ("tags", shown(&reply.tags.join(", "), 200)),
        ("preferences", shown(&preferences.join(" "), 200)),
    ])
}

/// End a session: nothing more is recorded in it
#[derive(Debug, clap::Args)]
pub struct Close {
    #[command(flatten)]
    which: Which,
    /// Why, for people
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    guard: Guard,
}

impl Close {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = CloseSessionArgs {
            session: self.which.session()?,
            reason: self.reason,
            fence: self.guard.fence(),
            key: self.guard.key,
            agent: None,
        };
        ask(
            caller,
            "close_session",
            &args,
            |reply: &CloseSessionReply| {
                let (session, position) = (&reply.session, reply.position);
                Told::good(format!("closed session {session} (position {position})\n"))
            },
        )
    }
}
