//! The test harness: real daemons with separate homes, called over their sockets, killed and restarted.
//!
//! A home is a temporary folder that `LORE_HOME` names, and the environment of the daemon is otherwise empty.
//! Tests wait for conditions with [`until`]. The harness fails by panicking, always with the daemon's last output.

pub mod bench;
mod checks;
mod cold;
pub mod disk;
mod home;
pub mod ledger;
pub mod page;
mod peer;
pub mod power;
mod random;
mod refused;
mod transport;
mod wait;

pub use checks::{has, has_words, is_refusal};
pub use cold::ColdHome;
pub use home::{Daemon, EndedDaemon, Home, call};
pub use peer::Peer;
pub use random::{Random, noise, seed};
pub use refused::{RefusedCall, refused_calls};
pub use transport::{McpHost, McpRevision, Transport};
pub use wait::until;

/// Creates a home for the daemon that this package builds.
#[macro_export]
macro_rules! home {
    () => {
        $crate::Home::new(env!("CARGO_BIN_EXE_lored-under-test"))
    };
}

/// Creates a home and starts its daemon, with these settings if there are any.
#[macro_export]
macro_rules! serve {
    () => {
        $crate::serve!("")
    };
    ($settings:expr) => {{
        let home = $crate::home!();
        home.configure($settings);
        let daemon = home.start();
        (home, daemon)
    }};
}

/// Opens every transport of a daemon, each with its name.
#[macro_export]
macro_rules! transports {
    ($home:expr, $daemon:expr) => {
        $crate::Transport::all(&$home, &$daemon, env!("CARGO_BIN_EXE_lore-under-test"))
    };
}

/// Creates a home in which `lore` starts the daemon that this package builds.
#[macro_export]
macro_rules! cold {
    () => {
        $crate::ColdHome::new(
            env!("CARGO_BIN_EXE_lore-under-test"),
            env!("CARGO_BIN_EXE_lored-under-test"),
        )
    };
}
