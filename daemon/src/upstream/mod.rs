//! Resolvers: other MCP servers that identify names. Lookups have limits and never fail with an error.
//!
//! In reading order: [`Resolvers`] queries the resolvers in turn. A `resolver` has limits, a breaker and cached
//! answers. A `connector` holds one `connection`: to a `child` process, which the [`ProcessBroker`] starts, or over
//! `http`. An `answer` accepts the many response shapes of real servers.

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
