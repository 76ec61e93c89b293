//! `lore session fork`: a session that shares the past of another.

use lore::protocol::sessions::{ForkSessionArgs, ForkSessionReply};

use crate::cli::exchange::{Told, ask, id, moment_of};
use crate::cli::{Caller, End, Failure};

/// Begin a session that shares the past of another
#[derive(Debug, clap::Args)]
pub struct Fork {
    /// The session whose past is shared
    id: String,
    /// Up to this position or RFC 3339 time; otherwise up to now
    #[arg(long, value_name = "WHEN")]
    at: Option<String>,
    /// An id of your own for the new one
    #[arg(long = "as", value_name = "ID")]
    new_id: Option<String>,
    /// What the new one is about; otherwise as the other
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Idempotency key: the same call again forks nothing twice
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Fork {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ForkSessionArgs {
            session: id(&self.id)?,
            at: moment_of("--at", self.at.as_deref())?,
            new_session: self.new_id.as_deref().map(id).transpose()?,
            title: self.title,
            key: self.key,
            agent: None,
        };
        ask(caller, "fork_session", &args, |reply: &ForkSessionReply| {
            let (parent, position) = (&reply.parent.session, reply.parent.position);
            Told::good(format!(
                "forked session {parent} at {position} as {}\n",
                reply.session
            ))
        })
    }
}
