//! `lore service …`: the daemon under systemd or launchd.

mod handover;
mod launchd;
mod status;
mod steps;
mod stop;
mod systemd;
mod units;

use std::io;
use std::path::{Path, PathBuf};

use lore::connection::Error;
use lore::manager::Manager;
use lore::paths::{self, Paths, SYSTEM_SOCKET};
use lore::start;

use self::steps::Step;
use super::command::Command;
use super::flag::{Flag, Kind};
use super::parser::Matches;
use super::{Exit, Failure, Globals};

const SYSTEM: Flag = Flag::switch(
    "system",
    "The system-wide daemon, one for all users, instead of your own; for root",
)
.local();
const AIM: &[Flag] = &[
    SYSTEM,
    Flag::of(
        Kind::Path,
        "root",
        "FOLDER",
        "Put the files below this folder, an image of another system, and start nothing",
    )
    .local()
    .requires("system"),
    Flag::switch(
        "dry-run",
        "Print every file with its content and every command, and change nothing",
    )
    .local(),
];

/// `lore service` and its commands.
pub const SERVICE: Command = Command::family(
    "service",
    "Let systemd or launchd start the daemon, and show which program does",
    &[
        Command::local("install", "Install the units and enable them; repeat it after an upgrade", |matches, globals| {
            InstallTarget::read(matches).install(globals, matches.is("force"))
        })
        .details("A daemon that a client started is asked to stop first; calls wait meanwhile.")
        .flags(&[
            AIM,
            &[Flag::switch("force", "Also if the service is installed for another socket or home: it serves this one from then on")
                .local()
                .conflicts(&["system"])],
        ])
        .examples(&["lore service install --dry-run"]),
        Command::local("uninstall", "Stop the daemon, disable the units and remove what install wrote", |matches, globals| {
            InstallTarget::read(matches).uninstall(globals)
        })
        .flags(&[AIM])
        .examples(&["lore service uninstall"]),
        Command::local("stop", "Stop the daemon that a client or a terminal started", |_, globals| stop::run(globals))
            .details("The next call starts it again. A daemon of systemd or launchd keeps running; the error names the command that stops it.")
            .examples(&["lore service stop"]),
        Command::local("status", "Show which program starts the daemon, and whether it serves", |matches, globals| {
            status::run(globals, matches.is("system"))
        })
        .flags(&[&[Flag::switch("system", "The system-wide daemon instead of your own").local()]])
        .examples(&["lore service status"]),
    ],
);

/// Options of an installation.
#[derive(Debug)]
struct InstallTarget {
    system: bool,
    root: Option<PathBuf>,
    dry_run: bool,
}

/// The owner of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Scope {
    /// The user's own daemon.
    User,
    /// One daemon for all users; optionally in the image of another system.
    System { root: Option<PathBuf> },
}

impl InstallTarget {
    fn read(matches: &Matches) -> Self {
        Self {
            system: matches.is("system"),
            root: matches.path("root"),
            dry_run: matches.is("dry-run"),
        }
    }

    fn scope(&self) -> Result<Scope, Failure> {
        if !self.system {
            return Ok(Scope::User);
        }
        if manager_here() == Manager::Launchd {
            return Err(refused("a system-wide daemon is not supported on macOS"));
        }
        if paths::our_uid() != 0 && !self.dry_run && self.root.is_none() {
            return Err(refused(
                "the system-wide daemon is root's to install: repeat it with sudo; without --system it \
                 is your own, which needs no rights",
            ));
        }
        let root = self.root.clone();
        Ok(Scope::System { root })
    }

    fn install(self, globals: &Globals, may_move: bool) -> Result<Exit, Failure> {
        let (scope, paths) = (self.scope()?, globals.paths()?);
        self.ask_for_manager(&scope)?;
        let daemon = start::find_daemon().map_err(Error::Start)?;
        // No client may start a daemon between the old and the new one.
        let _held_to_the_end = match scope {
            Scope::User if !self.dry_run => {
                paths::ensure_folder(&paths.data).map_err(Error::Place)?;
                Some(start::hold_spawning(&paths)?)
            }
            Scope::User | Scope::System { .. } => None,
        };
        let steps = match (manager_here(), &scope) {
            (Manager::Launchd, _) => launchd::install(&paths, globals, &daemon, may_move)?,
            (_, Scope::User) => systemd::install(&paths, globals, &daemon, may_move)?,
            (_, Scope::System { root }) => systemd::install_for_all(root.as_deref(), &daemon)?,
        };
        self.carry_out(&steps, &paths, globals)?;
        if !self.dry_run && !globals.json {
            lore::errln!("{}", next_words(&scope));
        }
        Ok(Exit::Good)
    }

    fn uninstall(self, globals: &Globals) -> Result<Exit, Failure> {
        let (scope, paths) = (self.scope()?, globals.paths()?);
        self.ask_for_manager(&scope)?;
        let steps = match (manager_here(), &scope) {
            (Manager::Launchd, _) => launchd::uninstall()?,
            (_, Scope::User) => systemd::uninstall()?,
            (_, Scope::System { root }) => systemd::uninstall_for_all(root.as_deref())?,
        };
        if steps.is_empty() {
            lore::errln!("lore: no service is installed");
            return Ok(Exit::Nothing);
        }
        self.carry_out(&steps, &paths, globals)?;
        Ok(Exit::Good)
    }

    fn carry_out(&self, steps: &[Step], paths: &Paths, globals: &Globals) -> Result<(), Failure> {
        if self.dry_run {
            steps::print(steps, globals.json)
        } else {
            steps::carry_out(steps, paths, globals)
        }
    }

    /// Refuses if no service manager runs; a dry run only reports it.
    fn ask_for_manager(&self, scope: &Scope) -> Result<(), Failure> {
        let missing = match (manager_here(), scope) {
            (Manager::Launchd, _) | (_, Scope::System { root: Some(_) }) => None,
            (_, Scope::User) => systemd::no_user_manager(),
            (_, Scope::System { root: None }) => systemd::no_system_manager(),
        };
        match missing {
            Some(why) if self.dry_run => {
                lore::errln!("lore: {why}");
                Ok(())
            }
            Some(why) => Err(refused(why)),
            None => Ok(()),
        }
    }
}

/// Lists the files of the user's service that this version would write differently; `None` without a service.
///
/// # Errors
/// When the files cannot be read or generated.
pub fn outdated(paths: &Paths, daemon: &Path) -> Result<Option<Vec<PathBuf>>, Failure> {
    match manager_here() {
        Manager::Launchd => Ok(None),
        Manager::Systemd | Manager::Client | Manager::None => systemd::outdated(paths, daemon),
    }
}

/// Returns the service manager of this operating system.
const fn manager_here() -> Manager {
    if cfg!(target_os = "macos") {
        Manager::Launchd
    } else {
        Manager::Systemd
    }
}

/// Describes the next steps after an installation.
fn next_words(scope: &Scope) -> String {
    match scope {
        Scope::User => "lored starts with the first call: try `lore status`".to_owned(),
        Scope::System { root: None } => {
            format!("its users say LORE_SOCKET={SYSTEM_SOCKET}, in /etc/environment for instance")
        }
        Scope::System { root: Some(_) } => "it starts with the image".to_owned(),
    }
}

/// Refuses to move an installed service.
fn moves(file: &Path) -> Failure {
    refused(format!(
        "the service is installed for another socket or home ({}), and this would move it: unset LORE_HOME, LORE_SOCKET \
         and the like, or say --force",
        file.display()
    ))
}

fn refused(why: impl Into<String>) -> Failure {
    Failure::Io(io::Error::other(why.into()))
}
