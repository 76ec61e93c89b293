//! Shared parts of the benchmarks: daemons and baselines side by side, load, and tables of ratios.
//!
//! Figures are printed, never asserted. The compared sides run in the same run, in interleaved rounds.
//! A ratio is the median of the rounds' ratios.

mod baseline;
mod child;
mod compare;
mod context;
mod corpus;
mod echo;
mod figures;
mod load;
mod payload;
mod peers;
mod recording;
mod setup;

pub use baseline::{BareLog, lone_append};
pub use child::{Home, Server, find_program, folder_bytes, rss_anon_kib, rss_kib};
pub use compare::{Measure, compare};
pub use context::Context;
pub use corpus::Corpus;
pub use echo::{EchoClient, EchoServer};
pub use figures::{Figure, median, print_row, ratio_of_medians};
pub use load::{Load, Lored, Peer, Redis, measure, one_by_one, so_often};
pub use payload::{Random, arguments, result};
pub use peers::{Fts5, RedisServer, SqliteSaver, sqlite_fts5, sqlite_saver, sqlite_writers};
pub use recording::{Recording, search_lag};
pub use setup::{Setup, bench_main};
