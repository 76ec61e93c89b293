//! The daemon as a process: folders, lock, sockets, file descriptors, signals, and service manager.

pub mod access;
pub mod descriptors;
mod lock;
pub mod manager;
pub mod program_pages;
mod signals;
mod socket;
pub mod token;

pub use access::Access;
pub use lock::{Lock, LockError};
pub use signals::{Signals, listen};
pub use socket::{
    InheritedSocket, ListeningSocket, SocketError, bind, ensure_folder_for, handed_over,
};
