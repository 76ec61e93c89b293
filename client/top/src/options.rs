//! Command line options.

use std::path::PathBuf;

use clap::Parser;
use lore::protocol::frame::Hello;

use crate::screen::EVERY;

/// Live activity of the daemon in a terminal: sessions, agents, events, followers, latency, sizes.
#[derive(Debug, Parser)]
#[command(name = "lore-top", version)]
pub struct Options {
    /// Name of the calling agent [environment: LORE_AGENT]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Begin with this session as the filter
    #[arg(long, value_name = "ID", conflicts_with = "filter")]
    session: Option<String>,
    /// The daemon's socket [environment: LORE_SOCKET]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Begin with this text as the filter
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Seconds between two polls of the daemon
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=EVERY_MAX))]
    pub every: u64,
    /// Print one frame as plain text, and exit
    #[arg(long)]
    pub once: bool,
    /// Width of that frame
    #[arg(long, value_name = "COLUMNS", requires = "once", value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub width: Option<u16>,
}

/// Longest pause between two polls, in seconds.
const EVERY_MAX: u64 = match EVERY.last() {
    Some(longest) => *longest,
    None => 1,
};

impl Options {
    /// Returns the Hello of this program.
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
            host_session: None,
            mcp: false,
            bridge: None,
            tools: None,
        }
    }

    /// Returns the initial filter.
    pub fn first_filter(&self) -> String {
        let first = self.filter.as_ref().or(self.session.as_ref());
        first.cloned().unwrap_or_default()
    }
}
