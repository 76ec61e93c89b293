//! The binary `lore`: the command line over the client library.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
