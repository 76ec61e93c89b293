//! The harness: real daemons on homes of their own, called over their sockets, killed and started
//! again.
//!
//! A home is a temporary folder that `LORE_HOME` names, and the environment of the daemon holds
//! nothing else. Whatever a test waits for, it waits for with [`until`]. Panicking is how the
//! harness says no, always with what the daemon last said.

pub mod bench;
mod cold;
pub mod disk;
mod door;
mod home;
pub mod ledger;
pub mod page;
mod peer;
pub mod power;
mod random;
mod wait;

pub use cold::Cold;
pub use door::{Door, Era, Lines};
pub use home::{Daemon, Ended, Home, call};
pub use peer::Peer;
pub use random::{Random, noise, seed};
pub use wait::until;

/// A fresh home for the daemon that this package builds.
#[macro_export]
macro_rules! home {
    () => {
        $crate::Home::new(env!("CARGO_BIN_EXE_lored-under-test"))
    };
}

/// A home in which `lore` starts the daemon that this package builds.
#[macro_export]
macro_rules! cold {
    () => {
        $crate::Cold::new(
            env!("CARGO_BIN_EXE_lore-under-test"),
            env!("CARGO_BIN_EXE_lored-under-test"),
        )
    };
}
