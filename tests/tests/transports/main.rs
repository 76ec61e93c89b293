//! Everything that connects: clients, hosts, followers and hostile peers, over the socket and over HTTP.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod client;
mod detached;
mod fixtures;
mod flood;
mod follow;
mod host_sessions;
mod http;
mod limits;
mod peers;
mod siege;
