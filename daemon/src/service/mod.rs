//! The daemon as a process: its folders, its lock, its socket, its signals.

mod lock;
mod signals;
mod socket;

pub use lock::{Lock, LockError};
pub use signals::stop_on_signals;
pub use socket::{SocketError, bind};
