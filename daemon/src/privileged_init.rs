//! Privileged initialisation: work of the single-threaded daemon before it enters its sandbox. Processes that must
//! stay outside the sandbox are started, then the process confines itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lore::paths::{Paths, ensure_folder};

use crate::config::Config;
use crate::documents::ingest_worker;
use crate::log_admin::HealthChecks;
use crate::mailboxes::MailRoots;
use crate::sandbox::{Confinement, Landlock, SandboxNeeds, confine, keep_to_ourselves};
use crate::service::{InheritedSocket, SocketError, ensure_folder_for, handed_over};
use crate::upstream::{ProcessBroker, Program, Server, port};

/// State from before the daemon's first thread.
#[derive(Default)]
pub struct PrivilegedInit {
    /// Process broker that starts the servers of resolvers, if any is configured.
    pub broker: Option<Arc<ProcessBroker>>,
    /// The restrictions of the sandbox, if it is active.
    pub sandbox: Option<Confinement>,
    /// The socket from the service manager, if any.
    pub handed_over: Option<InheritedSocket>,
    /// Folders of mailboxes, if they could be made.
    pub mail_roots: MailRoots,
    /// The checks of the program's doctor, for a daemon of one user.
    pub health_checks: Option<HealthChecks>,
}

impl PrivilegedInit {
    /// Starts the processes that must stay outside the sandbox, creates the folders that are written later, and enters
    /// the sandbox. Call this before a second thread exists. `everyone`: each user has a separate tenant.
    ///
    /// # Errors
    /// When a folder cannot be created or is not private, or when the service manager passed something other than
    /// a socket.
    pub fn to_serve(config: &Config, paths: &Paths, everyone: bool) -> Result<Self, SocketError> {
        ensure_folder(&paths.data)?;
        ensure_folder(&paths.seals())?;
        // Taken before any process is started, because children would inherit it.
        let handed_over = handed_over()?;
        if handed_over.is_none() {
            ensure_folder_for(paths.socket_folder(), config.access.socket_mode(everyone))?;
        }
        let broker = broker(config, everyone);
        let mail_roots = match everyone {
            true => MailRoots::default(),
            false => mail_roots(),
        };
        let sandbox = if config.service.confine {
            let mut needs = needs(config, paths);
            needs.folders.extend(mail_roots.0.iter().cloned());
            if handed_over.is_some() {
                // The manager's socket is never removed, and its folder may belong to another user.
                needs.socket_folders.clear();
            }
            confine(&needs)
        } else {
            keep_to_ourselves()
        };
        report(&sandbox);
        Ok(Self {
            broker,
            sandbox: Some(sandbox),
            handed_over,
            mail_roots,
            health_checks: None,
        })
    }
}

/// Makes the folders of mailboxes. Without them the daemon still runs; only commands in sandboxes do not reach it.
fn mail_roots() -> MailRoots {
    let mut roots = lore::mailbox::roots();
    // That of Claude Code, too, where it never ran: it may be set up while the daemon runs, which can make no folder then.
    roots.retain(|root| match lore::mailbox::prepare_root(root) {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%error, "commands in sandboxes have no mailbox");
            false
        }
    });
    MailRoots(roots)
}

/// Starts the process broker. Without it the daemon still runs: it reads files itself, and reports each resolver as
/// unavailable.
fn broker(config: &Config, everyone: bool) -> Option<Arc<ProcessBroker>> {
    let begin = || {
        let lored = this_program()?;
        let mut programs = vec![ingest_worker()?];
        let servers = config.resolvers.values().map(|settings| &settings.server);
        // A daemon for all users runs no resolvers on behalf of one.
        for server in servers.filter(|_| !everyone) {
            if let Server::Command(program) = server {
                programs.push(program.clone());
            }
        }
        ProcessBroker::begin(&lored, programs)
    };
    match begin() {
        Ok(broker) => Some(Arc::new(broker)),
        Err(error) => {
            tracing::warn!(%error, "no process broker: no resolver can be started, and files are read in the daemon");
            None
        }
    }
}

/// Returns the program of an ingest worker: this one.
///
/// # Errors
/// When the path of this program is unknown.
pub fn ingest_worker() -> std::io::Result<Program> {
    Ok(ingest_worker::program(&this_program()?.to_string_lossy()))
}

/// Returns the running executable, even if its file was replaced.
fn this_program() -> std::io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() {
        Ok(running.to_path_buf())
    } else {
        std::env::current_exe()
    }
}

fn needs(config: &Config, paths: &Paths) -> SandboxNeeds {
    let urls = config.resolvers.values();
    let urls = urls.filter_map(|settings| match &settings.server {
        Server::Command(_) => None,
        Server::Url(url) => port(url),
    });
    let notified = std::env::var_os("NOTIFY_SOCKET");
    SandboxNeeds {
        folders: vec![paths.data.clone(), paths.seals()],
        socket_folders: vec![paths.socket_folder().to_path_buf()],
        ports_connected_to: urls.collect(),
        ports_listened_on: config
            .http
            .listen
            .iter()
            .map(|address| address.port())
            // The page, on whichever port is free.
            .chain([0])
            .collect(),
        abstract_sockets: notified.is_some_and(|name| name.as_encoded_bytes().starts_with(b"@")),
    }
}

fn report(sandbox: &Confinement) {
    let Confinement {
        landlock,
        no_new_privs,
        core_dumps,
    } = sandbox;
    match landlock {
        Landlock::Full { .. } => {
            tracing::info!(%landlock, no_new_privs, core_dumps, "confined");
        }
        Landlock::Partial { .. } | Landlock::None { .. } => {
            tracing::warn!(%landlock, no_new_privs, core_dumps, "not all is confined");
        }
    }
}
