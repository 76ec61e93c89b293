//! What can be said on the command line.

use std::path::PathBuf;

use clap::Parser;
use lore::protocol::frame::Hello;

use crate::screen::EVERY;

/// What happens in the daemon, live in a terminal: sessions, agents, events, followers, latency, sizes.
#[derive(Debug, Parser)]
#[command(name = "lore-top", version)]
pub struct Options {
    /// Name of the agent that calls [environment: LORE_AGENT]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Begin with this session as the filter
    #[arg(long, value_name = "ID", conflicts_with = "filter")]
    session: Option<String>,
    /// The daemon's socket [environment: LORE_SOCKET]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Begin with what contains this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Seconds from one look at the daemon to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=EVERY_MAX))]
    pub every: u64,
    /// Print one frame as plain text, and end
    #[arg(long)]
    pub once: bool,
    /// How wide that is
    #[arg(long, value_name = "COLUMNS", requires = "once", value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub width: Option<u16>,
}

/// The longest pause between two looks, in seconds.
const EVERY_MAX: u64 = match EVERY.last() {
    Some(longest) => *longest,
    None => 1,
};

impl Options {
    /// What the daemon is told of who calls.
    pub fn hello(&self) -> Hello {
        let cwd = std::env::current_dir().ok();
        let agent = std::env::var("LORE_AGENT").ok();
        Hello {
            client: format!("lore-top/{}", env!("CARGO_PKG_VERSION")),
            agent: self
                .agent
                .clone()
                .or(agent)
                .filter(|agent| !agent.is_empty()),
            cwd: cwd.and_then(|cwd| cwd.into_os_string().into_string().ok()),
            session: None,
            mcp: false,
            bridge: None,
            tools: None,
        }
    }

    /// What is listed at first.
    pub fn first_filter(&self) -> String {
        let first = self.filter.as_ref().or(self.session.as_ref());
        first.cloned().unwrap_or_default()
    }
}
