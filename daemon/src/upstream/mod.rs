//! What other MCP servers know: resolvers say what a name stands for, within limits, and never with
//! an error.
//!
//! In reading order: [`Resolvers`] asks them one after the other; a `resolver` has its limits, its
//! breaker and what it answered lately; a `connector` keeps one `connection`, either to a `child`
//! process, which the [`ProcessBroker`] starts, or over `http`; an `answer` is read with as much patience as
//! real servers need.

mod answers;
mod breaker;
pub mod broker;
mod child;
mod connection;
mod connector;
mod http;
mod limited;
mod phrases;
mod question;
mod resolver;
mod resolvers;
mod settings;

pub use answers::{Answer, Candidate};
pub use broker::{ChildHandle, ProcessBroker, Program};
pub use http::{check_url, port};
pub use question::Question;
pub use resolver::{ResolverStatus, State};
pub use resolvers::{Resolution, Resolvers};
pub use settings::{Server, Settings};

/// Limit on a server's message, in bytes: a candidate is small, and anything larger is a mistake.
const MESSAGE_BYTES_MAX: usize = 4 << 20;
