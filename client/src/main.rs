//! The binary `lore`: the command line over the client library.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
