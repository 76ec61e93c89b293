//! The program `lored`: serve, tour, verify, rebuild, repair, models.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lore::places::Places;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::config::Config;
use crate::daemon::{Daemon, Error};
use crate::{maintenance, service, tour};

/// A third of an event's cost on the writer was glibc's allocator; with this one a write takes 10 to
/// 25 % less processor time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Good.
const GOOD: u8 = 0;
/// Damage was found, or what was asked for was refused.
const REFUSED: u8 = 1;
/// A usage error; clap's own code.
const USAGE: u8 = 2;
/// The daemon could not start.
const NOT_STARTED: u8 = 3;
/// Worker threads of the event loop: connections are cheap, the writer has a thread of its own.
const WORKERS: usize = 2;

/// The shared, durable memory of all the AI agents on one machine.
#[derive(Parser)]
#[command(name = "lored", version, about)]
struct Args {
    /// Listen here instead of at the default place.
    #[arg(long, global = true, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Read settings from here.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve in the foreground (the default).
    Serve,
    /// See it work: two agents, a kill -9, nothing lost. Takes seconds, leaves nothing behind.
    Tour,
    /// Prove the log: its chain, payloads, blobs, head, and every view against a replay.
    Verify,
    /// Fold every view anew from the log.
    Rebuild,
    /// Show what is damaged; with a flag, accept what is lost so that writing goes on.
    Repair {
        /// Accept the log as it is now as complete.
        #[arg(long)]
        accept_head: bool,
    },
    /// The models that embed texts.
    #[command(subcommand)]
    Models(ModelsCommand),
}

#[derive(Subcommand)]
enum ModelsCommand {
    /// Show every model there is, and which are in use.
    List,
    /// Check the model in a folder by using it, and copy it to the models in use.
    Add {
        /// The folder: config.json, vocab.txt, and model.safetensors of int8 rows.
        folder: PathBuf,
    },
}

/// Runs the program; the exit code says how it went.
#[must_use]
pub fn main() -> ExitCode {
    let args = Args::parse();
    let places = match Places::find(args.socket.as_deref()) {
        Ok(places) => places,
        Err(error) => return fail(&error.to_string(), USAGE),
    };
    let path = args.config.unwrap_or_else(|| places.config.clone());
    let config = match Config::load(&path) {
        Ok(config) => config,
        Err(error) => return fail(&error.to_string(), USAGE),
    };
    log_to_stderr(&config.log);
    // Whatever is written from here on is for this user alone.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    match args.command.unwrap_or(Command::Serve) {
        Command::Serve => serve(&config, &places),
        Command::Tour => done(tour::run()),
        Command::Verify => done(maintenance::verify(&config, &places)),
        Command::Rebuild => done(maintenance::rebuild(&config, &places)),
        Command::Repair { accept_head } => done(maintenance::repair(&config, &places, accept_head)),
        Command::Models(ModelsCommand::List) => done(maintenance::models::list(&config, &places)),
        Command::Models(ModelsCommand::Add { folder }) => {
            done(maintenance::models::add_from(&config, &places, &folder))
        }
    }
}

fn done(result: Result<bool, String>) -> ExitCode {
    match result {
        Ok(true) => GOOD.into(),
        Ok(false) => REFUSED.into(),
        Err(message) => fail(&message, NOT_STARTED),
    }
}

fn fail(message: &str, code: u8) -> ExitCode {
    eprintln!("lored: {message}");
    code.into()
}

/// `RUST_LOG` wins over the config. rmcp logs what clients sent from `warn` on, so it is
/// kept at `error`.
fn log_to_stderr(filter: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        EnvFilter::new(format!("{filter},rmcp=error,fjall=warn,lsm_tree=warn"))
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
}

fn serve(config: &Config, places: &Places) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("doors")
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("no threads to serve with: {error}"), NOT_STARTED),
    };
    let result = runtime.block_on(async {
        let stop = CancellationToken::new();
        service::stop_on_signals(stop.clone()).map_err(|error| error.to_string())?;
        let daemon = Daemon::open(config, places).map_err(|error| error.to_string())?;
        tracing::info!(
            socket = %places.socket.display(),
            data = %places.data.display(),
            position = %daemon.context().engine.position(),
            "serving"
        );
        daemon
            .run(stop)
            .await
            .map_err(|error: Error| error.to_string())
    });
    match result {
        Ok(()) => {
            tracing::info!("stopped");
            GOOD.into()
        }
        Err(message) => fail(&message, NOT_STARTED),
    }
}
