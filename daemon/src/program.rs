//! The program `lored`: serve, demo, verify, rebuild, repair, backup, restore, convert, files, redact,
//! models, config, doctor.

mod detaching;
mod serving;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use lore::paths::{Paths, PlaceError};
use tracing_subscriber::EnvFilter;

use crate::backup::make::BackupOptions;
use crate::config::log;
use crate::documents::ingest_worker;
use crate::importers::{Kind, Prefix};
use crate::reload::{Reload, ReloadableSettings, SetLog};
use crate::store::seal::Seal;
use crate::upstream::broker;
use crate::{admin, demo, reload};

/// Success.
const GOOD: u8 = 0;
/// Damage was found, or the request was refused.
const REFUSED: u8 = 1;
/// A usage error; the same code as in clap.
const USAGE: u8 = 2;
/// The daemon could not start.
const NOT_STARTED: u8 = 3;
/// An empty settings file.
const NO_FILE: &str = "/dev/null";
/// The shared, durable memory of all the AI agents on one machine.
#[derive(Parser)]
#[command(name = "lored", version, about)]
struct Args {
    /// Listen on this socket instead of the default one.
    #[arg(long, global = true, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Read settings from this file.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve in the foreground (the default).
    Serve {
        /// Serve all users of this machine, each with a separate memory: settings in /etc/lore, data in
        /// /var/lib/lore, socket /run/lore/lore.sock, unless LORE_HOME is set.
        #[arg(long)]
        system: bool,
    },
    /// Show a demo: two agents, a kill -9, no data lost. Takes seconds and leaves no files.
    Demo,
    /// Verify the log: its chain, payloads, blobs, head, and every view against a replay.
    Verify {
        /// Verify a backup instead: every file and blob against its hash, the log against its chain.
        #[arg(long, value_name = "DIR", conflicts_with = "since")]
        backup: Option<PathBuf>,
        /// Verify also that nothing before this seal has changed; `lored seal` printed it.
        #[arg(long, value_name = "SEAL")]
        since: Option<Seal>,
    },
    /// Print the newest seal of the log: kept elsewhere, it proves later that nothing before it was changed.
    Seal,
    /// Rebuild every view from the log.
    Rebuild,
    /// Show the damage; with a flag, accept the loss so that writing can continue.
    Repair {
        /// Accept the current log as complete.
        #[arg(long, alias = "accept-head")]
        accept: bool,
    },
    /// Back up the store to a folder while it is in use; later runs copy only new data.
    Backup {
        /// The folder: empty, or with a backup of this store.
        dir: PathBuf,
        /// Read everything again: removes data forgotten since then, and repairs damaged files.
        #[arg(long)]
        full: bool,
    },
    /// Restore a data folder from a backup, completely or not at all.
    Restore {
        /// The folder of the backup.
        dir: PathBuf,
        /// The data folder to create instead of the default one; missing or empty.
        #[arg(long, value_name = "DATA_FOLDER")]
        into: Option<PathBuf>,
    },
    /// Convert another program's data to lines that `lore import` records.
    Convert {
        /// The program that wrote the data.
        #[arg(value_enum)]
        kind: Kind,
        /// The file or folder.
        path: PathBuf,
        /// For Markdown files: the directory of their project, if not the folder itself.
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// Prefix of the session ids, followed by `-`, for a second copy next to the first one.
        #[arg(long, value_name = "PREFIX")]
        prefix: Option<Prefix>,
    },
    /// List the files of a folder that would be ingested, and unknown ones; used by `lore docs add`.
    #[command(hide = true)]
    Files {
        /// The folder or file.
        path: PathBuf,
        /// Only files that match this glob.
        #[arg(long, value_name = "GLOB")]
        include: Vec<String>,
        /// Omit files that match this glob.
        #[arg(long, value_name = "GLOB")]
        exclude: Vec<String>,
    },
    /// Print files with their secrets redacted, as they would be recorded.
    Redact {
        /// Only report file, line and kind of each secret; the exit code is 1 when there is one.
        #[arg(long)]
        check: bool,
        /// The files; `-` is standard input.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// The embedding models.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Check the installation, with a remedy for each problem.
    Doctor {
        /// Apply safe fixes: make our folders and files private, remove files that a dead daemon left behind.
        #[arg(long)]
        fix: bool,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Show the effective settings, check a file, or print the defaults.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Write the manual pages of all commands into a folder.
    #[command(hide = true)]
    Man {
        /// The folder; it is created if it does not exist.
        folder: PathBuf,
    },
    /// Print completions for a shell.
    #[command(hide = true)]
    Completions {
        /// The shell.
        shell: lore::pages::Shell,
    },
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Show every effective setting, as a daemon started here and now would use it.
    Show {
        /// Show the source of each value: file and line, a variable, or the default.
        #[arg(long)]
        origin: bool,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        /// The directory whose project the last lines describe.
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: PathBuf,
    },
    /// Check a settings file and report errors with line and column.
    Check {
        /// The file; by default the one in use.
        file: Option<PathBuf>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Print a file with every setting and its default, commented out.
    Default {
        /// Write it to the default path, unless a file exists.
        #[arg(long)]
        write: bool,
    },
}

#[derive(Subcommand)]
enum ModelsCommand {
    /// List every model and the models in use.
    List,
    /// Check the model in a folder by using it, and copy it to the models in use.
    Add {
        /// The folder: config.json, vocab.txt, and model.safetensors of int8 rows.
        folder: PathBuf,
    },
}

/// Runs the program and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq([broker::SUBCOMMAND]) {
        // An internal mode, not for people: the daemon sends all its input.
        let ended = broker::run().map_err(|error| error.to_string());
        return done(ended.map(|()| true));
    }
    if std::env::args_os().skip(1).eq([ingest_worker::SUBCOMMAND]) {
        // Also internal: the daemon sends files to it.
        let ended = ingest_worker::run().map_err(|error| error.to_string());
        return done(ended.map(|()| true));
    }
    let args = Args::parse();
    let command = args.command.unwrap_or(Command::Serve { system: false });
    let command = match alone(command) {
        Ok(ended) => return ended,
        Err(command) => command,
    };
    if let Command::Redact { check, files } = command {
        return redact(args.config, args.socket.as_deref(), check, &files);
    }
    let is_system = matches!(command, Command::Serve { system: true });
    let home = std::env::var_os("LORE_HOME").filter(|home| !home.is_empty());
    let paths = if is_system && home.is_none() {
        Paths::system_wide(args.socket.as_deref())
    } else {
        Paths::find(args.socket.as_deref())
    };
    let mut paths = match paths {
        Ok(paths) => paths,
        Err(error) => return fail(&error.to_string(), USAGE),
    };
    match named(args.config) {
        // Files next to the settings are then looked up next to this file.
        Ok(Some(path)) => paths.config = path,
        Ok(None) => {}
        Err(why) => return fail(&why, USAGE),
    }
    let path = paths.config.clone();
    // Runs before the settings are used, because these commands report their errors.
    if let Command::Config(command) = command {
        return done(match command {
            ConfigCommand::Show { origin, json, dir } => {
                admin::settings::show(&path, &dir, origin, json)
            }
            ConfigCommand::Check { file, json } => {
                admin::settings::check(&file.unwrap_or(path), json)
            }
            ConfigCommand::Default { write: true } => admin::settings::write_default(&path),
            ConfigCommand::Default { write: false } => admin::settings::default(),
        });
    }
    // All files written from here on are private to this user; the doctor opens the store, too.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    if let Command::Doctor { fix, json } = command {
        return done(admin::doctor::run(&paths, &path, fix, json));
    }
    let (config, given) = match reload::first(&path) {
        Ok(read) => read,
        Err(error) => return fail(&error.to_string(), USAGE),
    };
    let set_log = log_to_stderr(&config.log);
    match command {
        // Commands that need no settings have already ended.
        Command::Serve { .. }
        | Command::Config(_)
        | Command::Doctor { .. }
        | Command::Convert { .. }
        | Command::Redact { .. }
        | Command::Man { .. }
        | Command::Completions { .. } => {
            if let Some(ended) = detaching::detach() {
                return ended;
            }
            let reload = |lives: ReloadableSettings| Reload::new(&path, given, lives, set_log);
            serving::serve(&config, &paths, is_system, reload)
        }
        Command::Demo => done(demo::run()),
        Command::Verify {
            backup: None,
            since,
        } => done(admin::verify(&config, &paths, since)),
        Command::Verify {
            backup: Some(dir), ..
        } => done(admin::backup::verify(&dir)),
        Command::Seal => done(admin::seal(&paths)),
        Command::Backup { dir, full: is_full } => {
            let choices = BackupOptions { is_full };
            done(admin::backup::backup(&config, &paths, &dir, choices))
        }
        Command::Restore { dir, into } => {
            let into = into.as_deref();
            done(admin::backup::restore(&config, &paths, &dir, into))
        }
        Command::Rebuild => done(admin::rebuild(&config, &paths)),
        Command::Repair { accept } => done(admin::repair::repair(&config, &paths, accept)),
        Command::Files {
            path,
            include,
            exclude,
        } => done(admin::files::run(
            &config, &paths, &path, &include, &exclude,
        )),
        Command::Models(ModelsCommand::List) => done(admin::models::list(&config, &paths)),
        Command::Models(ModelsCommand::Add { folder }) => {
            done(admin::models::add_from(&config, &paths, &folder))
        }
    }
}

/// Runs commands that need only the command line and the files that it names; returns any other command.
fn alone(command: Command) -> Result<ExitCode, Command> {
    Ok(done(match command {
        Command::Man { folder } => lore::pages::write_manuals(Args::command(), &folder)
            .map(|()| true)
            .map_err(|error| format!("{}: {error}", folder.display())),
        Command::Completions { shell } => {
            let script = lore::pages::completions(Args::command(), shell);
            io::stdout()
                .write_all(&script)
                .map(|()| true)
                .map_err(|error| error.to_string())
        }
        Command::Convert {
            kind,
            path,
            project,
            prefix,
        } => admin::import::run(kind, &path, project.as_deref(), prefix),
        Command::Config(ConfigCommand::Check {
            file: Some(file),
            json,
        }) => admin::settings::check(&file, json),
        Command::Config(ConfigCommand::Default { write: false }) => admin::settings::default(),
        other => return Err(other),
    }))
}

/// Returns the named settings file, which must exist.
fn named(config: Option<PathBuf>) -> Result<Option<PathBuf>, String> {
    match config {
        Some(named) if !named.exists() => {
            let named = named.display();
            Err(format!(
                "{named}, which --config names, was not found: create it (`lored config default` prints one), or \
                 leave --config out"
            ))
        }
        // The file's folder is watched, so the path must be absolute.
        Some(named) => std::path::absolute(&named)
            .map(Some)
            .map_err(|error| format!("{}: {error}", named.display())),
        None => Ok(None),
    }
}

/// Redacts files with the effective settings. A user without a home has no settings file; then the environment and
/// the defaults apply.
fn redact(
    config: Option<PathBuf>,
    socket: Option<&Path>,
    is_check: bool,
    files: &[PathBuf],
) -> ExitCode {
    let path = match (named(config), Paths::find(socket)) {
        (Err(why), _) => return fail(&why, USAGE),
        (Ok(Some(path)), _) => path,
        (Ok(None), Ok(paths)) => paths.config,
        (Ok(None), Err(PlaceError::NoHome(_))) => PathBuf::from(NO_FILE),
        (Ok(None), Err(error)) => return fail(&error.to_string(), USAGE),
    };
    let config = match reload::first(&path) {
        Ok((config, _)) => config,
        Err(error) => return fail(&error.to_string(), USAGE),
    };
    done(match is_check {
        true => admin::redact::check(&config, files),
        false => admin::redact::print(&config, files),
    })
}

fn done(result: Result<bool, String>) -> ExitCode {
    match result {
        Ok(true) => GOOD.into(),
        Ok(false) => REFUSED.into(),
        Err(message) => fail(&message, NOT_STARTED),
    }
}

fn fail(message: &str, code: u8) -> ExitCode {
    // Errors are ignored: the log may be on the full disk.
    let _ = writeln!(io::stderr(), "lored: {message}");
    code.into()
}

/// Starts logging. `RUST_LOG` overrides the config; without it, the returned function changes the level.
fn log_to_stderr(filter: &str) -> Option<SetLog> {
    let said = std::env::var(EnvFilter::DEFAULT_ENV).ok();
    let of_environment = said.and_then(|said| log::filter(&said).ok());
    let is_fixed = of_environment.is_some();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_env_filter(of_environment.unwrap_or_else(|| filter_of(filter)))
        // An error of a log on a full disk cannot be reported: on standard error, which is the log, it would panic.
        .log_internal_errors(false)
        .with_filter_reloading();
    let handle = subscriber.reload_handle();
    subscriber.init();
    let set_log = move |filter: &str| {
        handle
            .reload(filter_of(filter))
            .map_err(|error| error.to_string())
    };
    (!is_fixed).then(|| Box::new(set_log) as SetLog)
}

/// Builds the filter. rmcp logs client data from level `warn` on, so it is limited to `error`.
fn filter_of(filter: &str) -> EnvFilter {
    // Settings that were read are valid.
    log::filter(&format!("{filter},rmcp=error,fjall=warn,lsm_tree=warn")).unwrap_or_default()
}
