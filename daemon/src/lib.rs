//! lored, the daemon: the shared, durable memory of all the AI agents on one machine.
//!
//! In reading order:
//! - [`daemon`]: from settings to a socket that answers; the seam for `main` and for tests
//! - [`reload`]: the settings read again while it runs
//! - [`api`]: the doors on that socket, and the operation table that they share
//! - [`operation`]: one line of that table, and what its handler gets; [`resource`]: what can be
//!   read by its address
//! - [`checkpoints`], [`steps`], [`sessions`], [`projects`], [`documents`], [`audit`]: one room per capability;
//!   [`overview`]: a session as a whole
//! - [`forgetting`]: what takes a session out of all of them, and off the disk
//! - [`backup`]: all that a store holds, kept elsewhere, and a store made of it again
//! - [`projections`]: the effect of each kind of event on the rows
//! - [`upstream`]: other MCP servers, asked what a name stands for; [`watching`]: files that somebody
//!   may change at any moment
//! - [`engine`]: the one writer, group commit, the last durable state
//! - [`events`]: the closed enum of events, as types; [`log`]: their chain, their bytes for ever
//! - [`store`]: fjall, blobs, recovery, and the in-memory twin
//! - [`canonical`]: one text for all the ways to write the same JSON object
//! - [`program`], [`maintenance`], [`demo`]: the command line of `lored`; [`convert`]: what other programs keep
//! - [`service`]: the daemon as a process; [`prepared`], [`confinement`]: what it gives up before it serves
//! - [`config`], [`live`], [`clock`], [`error`], [`cache`],
//!   [`tokens`], [`shown`], [`quotes`]: shared by all
//!
//! What it is not: a library to embed. Programs talk to the daemon over its socket; the crate
//! `lore` is the client.

pub mod admin;
pub mod api;
mod background_jobs;
pub mod backup;
pub mod cache;
pub mod canonical;
pub mod checkpoints;
pub mod citations;
pub mod clock;
pub mod config;
pub mod daemon;
pub mod demo;
pub mod documents;
pub mod engine;
pub mod entities;
pub mod error;
pub mod events;
pub mod forgetting;
pub mod importers;
pub mod log;
pub mod log_admin;
pub mod messages;
pub mod operation;
pub mod packs;
pub mod privileged_init;
pub mod program;
pub mod projections;
pub mod projects;
pub mod read_context;
pub mod reload;
pub mod reloadable;
pub mod resource;
pub mod sandbox;
pub mod sanitize;
pub mod search;
pub mod service;
pub mod sessions;
pub mod state;
pub mod steps;
pub mod store;
pub mod tokens;
pub mod transfer;
pub mod upstream;
pub mod watch;
