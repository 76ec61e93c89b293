//! `lore session lease` and `release`: who may work on a session alone.

use lore::protocol::Position;
use lore::protocol::sessions::{
    LeaseSessionArgs, LeaseSessionReply, ReleaseSessionArgs, ReleaseSessionReply,
};

use crate::cli::exchange::{Told, ask};
use crate::cli::given::Which;
use crate::cli::output::shown;
use crate::cli::{Caller, End, Failure};

/// Take a lease: work on a session alone, for a while
#[derive(Debug, clap::Args)]
pub struct Lease {
    #[command(flatten)]
    which: Which,
    /// Which of its leases; otherwise the one called session
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// For how many milliseconds, 1000 to 3600000; otherwise 30000
    #[arg(long, value_name = "COUNT")]
    ms: Option<u64>,
    /// Renew the lease with this token
    #[arg(long, value_name = "TOKEN")]
    token: Option<u64>,
    /// Idempotency key: the same call again does nothing twice
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Lease {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = LeaseSessionArgs {
            session: self.which.session()?,
            name: self.name,
            ms: self.ms,
            token: self.token.map(Position),
            key: self.key,
            agent: None,
        };
        ask(
            caller,
            "lease_session",
            &args,
            |reply: &LeaseSessionReply| {
                let done = if reply.renewed { "renewed" } else { "taken" };
                Told::good(format!(
                    "lease {} of session {} {done} until {}: token {}\n",
                    shown(&reply.name, 80),
                    reply.session,
                    shown(&reply.until, 30),
                    reply.token
                ))
            },
        )
    }
}

/// Give a lease back
#[derive(Debug, clap::Args)]
pub struct Release {
    #[command(flatten)]
    which: Which,
    /// Its token, as the lease was taken
    #[arg(long, value_name = "TOKEN")]
    token: u64,
    /// Idempotency key: the same call again does nothing twice
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Release {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ReleaseSessionArgs {
            session: self.which.session()?,
            token: Position(self.token),
            key: self.key,
            agent: None,
        };
        ask(
            caller,
            "release_session",
            &args,
            |reply: &ReleaseSessionReply| {
                let (name, session) = (shown(&reply.name, 80), &reply.session);
                Told::good(format!("lease {name} of session {session} released\n"))
            },
        )
    }
}
