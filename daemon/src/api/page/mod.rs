//! The page that people look at in a browser: what agents did, what they were given, and why.
//!
//! `open_page` makes the daemon listen on a free port of the loopback and returns a link whose secret works once. The
//! page's own scripts call operations that only read, through the same table as every transport, and show what they return
//! as text; nothing here knows what an operation means. After half an hour without a viewer, the daemon stops
//! listening, and nothing of the page is left in memory.
//!
//! docs/page.md describes it for users, docs/decisions/0023 why it is built this way.

mod access;
mod answers;
mod files;
mod http;
mod live;
mod server;
#[cfg(test)]
mod tests;

pub use server::{PageServer, TenantsByUser};
