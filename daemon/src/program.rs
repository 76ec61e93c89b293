//! The program `lored`: serve, demo, verify, rebuild, repair, backup, restore, convert, files, redact,
//! models, config, doctor.

mod serving;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use lore::paths::{Paths, PlaceError};
use tracing_subscriber::EnvFilter;

use crate::backup::make::BackupOptions;
use crate::config::log;
use crate::importers::{Kind, Prefix};
use crate::reload::{Reload, ReloadableSettings, SetLog};
use crate::upstream::broker;
use crate::{admin, demo, reload};

/// Good.
const GOOD: u8 = 0;
/// Damage was found, or what was asked for was refused.
const REFUSED: u8 = 1;
/// A usage error; clap's own code.
const USAGE: u8 = 2;
/// The daemon could not start.
const NOT_STARTED: u8 = 3;
/// A file of settings that sets nothing.
const NO_FILE: &str = "/dev/null";
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
    Serve {
        /// For all users of this machine, each with a memory of its own: settings in /etc/lore, data in
        /// /var/lib/lore, socket /run/lore/lore.sock, unless LORE_HOME says otherwise.
        #[arg(long)]
        system: bool,
    },
    /// See it work: two agents, a kill -9, nothing lost. Takes seconds, leaves nothing behind.
    Demo,
    /// Prove the log: its chain, payloads, blobs, head, and every view against a replay.
    Verify {
        /// Prove a backup instead: every file and blob against its hash, the log against its chain.
        #[arg(long, value_name = "DIR")]
        backup: Option<PathBuf>,
    },
    /// Fold every view anew from the log.
    Rebuild,
    /// Show what is damaged; with a flag, accept what is lost so that writing goes on.
    Repair {
        /// Accept the log as it is now as complete.
        #[arg(long)]
        accept_head: bool,
    },
    /// Back the store up to a folder, while it is used; the second time only what is new.
    Backup {
        /// The folder: an empty one, or one with a backup of this store.
        dir: PathBuf,
        /// Read everything again: takes out what was forgotten since, and makes damaged files good.
        #[arg(long)]
        full: bool,
    },
    /// Make a data folder of a backup, whole or not at all.
    Restore {
        /// The folder of the backup.
        dir: PathBuf,
        /// The data folder to make instead of the own one; not there yet, or empty.
        #[arg(long, value_name = "DATA_FOLDER")]
        into: Option<PathBuf>,
    },
    /// Write what another program keeps as lines that `lore import` records.
    Convert {
        /// Whose file it is.
        #[arg(value_enum)]
        kind: Kind,
        /// The file or folder.
        path: PathBuf,
        /// Of Markdown files: the directory of their project, if not the folder itself.
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        /// Stands before the ids of its sessions, with a `-`, for a second copy beside the first one.
        #[arg(long, value_name = "PREFIX")]
        prefix: Option<Prefix>,
    },
    /// Write which files of a folder would be taken in, with those that are not known; `lore docs add` calls it.
    #[command(hide = true)]
    Files {
        /// The folder or file.
        path: PathBuf,
        /// Only files that match this glob.
        #[arg(long, value_name = "GLOB")]
        include: Vec<String>,
        /// Leave out what matches this glob.
        #[arg(long, value_name = "GLOB")]
        exclude: Vec<String>,
    },
    /// Print files without the secrets in them, as they would be recorded.
    Redact {
        /// Only tell file, line and kind of each; the exit code is 1 when there is one.
        #[arg(long)]
        check: bool,
        /// The files; `-` is standard input.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// The models that embed texts.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Check everything that can be wrong, with a remedy for each.
    Doctor {
        /// Do what is safe: close folders and files of ours, remove what a dead daemon left in the way.
        #[arg(long)]
        fix: bool,
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// The settings: what is in force, whether a file is good, what there is.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Write the manual pages of all commands into a folder.
    #[command(hide = true)]
    Man {
        /// The folder; it is made if it is not there.
        folder: PathBuf,
    },
    /// Print completions for a shell.
    #[command(hide = true)]
    Completions {
        /// Which shell.
        shell: lore::pages::Shell,
    },
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Show every setting in force, as a daemon started here and now would use it.
    Show {
        /// Say where each comes from: file and line, a variable, or the default.
        #[arg(long)]
        origin: bool,
        /// As one JSON object.
        #[arg(long)]
        json: bool,
        /// A directory of the project of which the last lines tell.
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: PathBuf,
    },
    /// Say whether a file of settings is good; if not, what is wrong, with line and column.
    Check {
        /// The file; the one in use if none is named.
        file: Option<PathBuf>,
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Print a file with every setting and its default, commented out.
    Default {
        /// Write it where settings are read from, unless there is one.
        #[arg(long)]
        write: bool,
    },
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
    if std::env::args_os().skip(1).eq([broker::SUBCOMMAND]) {
        // Not for people, and the daemon tells it all that it needs.
        let ended = broker::run().map_err(|error| error.to_string());
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
    let places = if is_system && home.is_none() {
        Paths::system_wide(args.socket.as_deref())
    } else {
        Paths::find(args.socket.as_deref())
    };
    let mut places = match places {
        Ok(places) => places,
        Err(error) => return fail(&error.to_string(), USAGE),
    };
    match named(args.config) {
        // What stands beside the settings stands beside these.
        Ok(Some(path)) => places.config = path,
        Ok(None) => {}
        Err(why) => return fail(&why, USAGE),
    }
    let path = places.config.clone();
    // Before the settings are used: these tell what is wrong with them.
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
    // Whatever is written from here on is for this user alone: the doctor opens the store, too.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    if let Command::Doctor { fix, json } = command {
        return done(admin::doctor::run(&places, &path, fix, json));
    }
    let (config, given) = match reload::first(&path) {
        Ok(read) => read,
        Err(error) => return fail(&error.to_string(), USAGE),
    };
    let set_log = log_to_stderr(&config.log);
    match command {
        // Those that need no settings have ended before.
        Command::Serve { .. }
        | Command::Config(_)
        | Command::Doctor { .. }
        | Command::Convert { .. }
        | Command::Redact { .. }
        | Command::Man { .. }
        | Command::Completions { .. } => {
            let reload = |lives: ReloadableSettings| Reload::new(&path, given, lives, set_log);
            serving::serve(&config, &places, is_system, reload)
        }
        Command::Demo => done(demo::run()),
        Command::Verify { backup: None } => done(admin::verify(&config, &places)),
        Command::Verify { backup: Some(dir) } => done(admin::backup::verify(&dir)),
        Command::Backup { dir, full: is_full } => {
            let choices = BackupOptions { is_full };
            done(admin::backup::backup(&config, &places, &dir, choices))
        }
        Command::Restore { dir, into } => {
            let into = into.as_deref();
            done(admin::backup::restore(&config, &places, &dir, into))
        }
        Command::Rebuild => done(admin::rebuild(&config, &places)),
        Command::Repair { accept_head } => done(admin::repair(&config, &places, accept_head)),
        Command::Files {
            path,
            include,
            exclude,
        } => done(admin::files::run(
            &config, &places, &path, &include, &exclude,
        )),
        Command::Models(ModelsCommand::List) => done(admin::models::list(&config, &places)),
        Command::Models(ModelsCommand::Add { folder }) => {
            done(admin::models::add_from(&config, &places, &folder))
        }
    }
}

/// What needs the command line alone, and the files that it names; anything else is given back.
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

/// The file of settings that is named, which has to be there.
fn named(config: Option<PathBuf>) -> Result<Option<PathBuf>, String> {
    match config {
        Some(named) if !named.exists() => {
            let named = named.display();
            Err(format!(
                "there is no file {named}, which --config names: make it (`lored config default` prints one), or \
                 leave --config out"
            ))
        }
        // It is watched, and a relative path has no folder.
        Some(named) => std::path::absolute(&named)
            .map(Some)
            .map_err(|error| format!("{}: {error}", named.display())),
        None => Ok(None),
    }
}

/// Redacts files by the settings in force. Whoever has no home has no file of settings; then those of the
/// environment count, and the defaults.
fn redact(
    config: Option<PathBuf>,
    socket: Option<&Path>,
    is_check: bool,
    files: &[PathBuf],
) -> ExitCode {
    let path = match (named(config), Paths::find(socket)) {
        (Err(why), _) => return fail(&why, USAGE),
        (Ok(Some(path)), _) => path,
        (Ok(None), Ok(places)) => places.config,
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
    // Said as far as anybody can hear it: the log may be on the disk that is full.
    let _ = writeln!(io::stderr(), "lored: {message}");
    code.into()
}

/// `RUST_LOG` wins over the config; without it the level can be set anew by what is returned.
fn log_to_stderr(filter: &str) -> Option<SetLog> {
    let said = std::env::var(EnvFilter::DEFAULT_ENV).ok();
    let of_environment = said.and_then(|said| log::filter(&said).ok());
    let is_fixed = of_environment.is_some();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_env_filter(of_environment.unwrap_or_else(|| filter_of(filter)))
        // A log on a full disk is told nowhere; to tell it on standard error, which it is, would be a panic.
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

/// rmcp logs what clients sent from `warn` on, so it is kept at `error`.
fn filter_of(filter: &str) -> EnvFilter {
    // Settings that were read have been tried.
    log::filter(&format!("{filter},rmcp=error,fjall=warn,lsm_tree=warn")).unwrap_or_default()
}
