//! lored, the daemon: the shared, durable memory of all the AI agents on one machine.
//!
//! In reading order:
//! - [`daemon`]: from settings to a listening socket; the entry point of `main` and of tests
//! - [`reload`]: reads the settings again at run time
//! - [`api`]: the transports on that socket, and the operation table that they share
//! - [`operation`]: one entry of that table, and the context of its handler; [`resource`]: the same for resources
//! - [`checkpoints`], [`steps`], [`sessions`], [`projects`], [`documents`], [`log_admin`]: one feature module per
//!   capability; [`transfer`]: whole sessions and the whole log
//! - [`forgetting`]: removal from all of them, and from the disk
//! - [`backup`]: a store copied, verified and restored
//! - [`projections`]: the effect of each kind of event on the rows
//! - `mailboxes`: serves commands where a sandbox refuses sockets
//! - `spool`: takes up the payloads that hooks left while no daemon took them
//! - [`upstream`]: MCP clients for resolvers; [`watch`]: file change notifications
//! - [`engine`]: the one writer, group commit, the published state
//! - [`events`]: the closed enum of events, as types
//! - [`log`], [`store`], [`clock`]: the crate `lored-storage`; [`tokens`]: the crate `lored-tokens`
//! - [`canonical`]: one canonical text for each JSON object
//! - [`program`], [`admin`], [`demo`]: the command line of `lored`; [`importers`]: data of other programs
//! - [`service`]: the daemon as a process; [`privileged_init`], [`sandbox`]: the rights that it gives up before it serves
//! - [`config`], [`reloadable`], [`error`], [`hint`], [`cache`], [`rows`], [`sanitize`], [`citations`], [`budget`], `locks`:
//!   shared by all
//!
//! This crate is not a library to embed. Programs talk to the daemon over its socket; the crate `lore` is the client.

pub mod admin;
pub mod api;
mod background_jobs;
mod background_priority;
pub mod backup;
pub mod budget;
pub mod cache;
pub mod canonical;
pub mod capture;
pub mod checkpoints;
pub mod citations;
pub mod config;
pub mod daemon;
pub mod demo;
pub mod documents;
pub mod engine;
pub mod entities;
pub mod error;
pub mod events;
pub mod forgetting;
pub mod hint;
pub mod importers;
mod locks;
pub mod log_admin;
mod mailboxes;
pub mod messages;
pub mod operation;
pub mod packs;
pub mod page;
pub mod privileged_init;
pub mod program;
pub mod projections;
pub mod projects;
pub mod read_context;
pub mod reload;
pub mod reloadable;
pub mod resource;
pub mod review;
pub mod rows;
pub mod sandbox;
pub mod sanitize;
pub mod search;
pub mod service;
pub mod sessions;
mod spool;
pub mod state;
pub mod steps;
pub mod transfer;
pub mod trust;
pub mod undo;
pub mod upstream;
pub mod watch;

pub use lored_storage::{clock, log, store};
pub use lored_tokens as tokens;
