//! What is done while the daemon is one thread, and can still do everything: what must stay free is started,
//! then the process confines itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lore::paths::{Paths, ensure_folder};

use crate::config::Config;
use crate::sandbox::{Confinement, Landlock, SandboxNeeds, confine, keep_to_ourselves};
use crate::service::{InheritedSocket, SocketError, ensure_folder_for, handed_over};
use crate::upstream::{ProcessBroker, Program, Server, port};

/// What the daemon has from before its first thread.
#[derive(Default)]
pub struct PrivilegedInit {
    /// What starts the servers of resolvers, if any was configured.
    pub broker: Option<Arc<ProcessBroker>>,
    /// What the process gave up, if it did.
    pub sandbox: Option<Confinement>,
    /// The socket that a service manager handed over, if one did.
    pub handed_over: Option<InheritedSocket>,
}

impl PrivilegedInit {
    /// Starts what must not be confined, makes the folders that are written below, and confines the
    /// process. To be called before there is a second thread. `everyone`: each user has a namespace.
    ///
    /// # Errors
    /// When a folder cannot be made, or is not ours alone; when something else was handed over than
    /// a socket.
    pub fn to_serve(config: &Config, places: &Paths, everyone: bool) -> Result<Self, SocketError> {
        ensure_folder(&places.data)?;
        // Taken before anything is started, which would have it, too.
        let handed_over = handed_over()?;
        if handed_over.is_none() {
            ensure_folder_for(places.socket_folder(), config.access.socket_mode(everyone))?;
        }
        // A daemon of all users asks nobody on behalf of one.
        let broker = if everyone { None } else { broker(config) };
        let sandbox = if config.service.confine {
            let mut needs = needs(config, places);
            if handed_over.is_some() {
                // The manager's socket is never removed; its folder may be anybody's.
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
        })
    }
}

/// Without a starter the daemon serves, and says of each resolver why it is not there.
fn broker(config: &Config) -> Option<Arc<ProcessBroker>> {
    let programs: Vec<Program> = config
        .resolvers
        .values()
        .filter_map(|settings| match &settings.server {
            Server::Command(program) => Some(program.clone()),
            Server::Url(_) => None,
        })
        .collect();
    if programs.is_empty() {
        return None;
    }
    let begun = this_program().and_then(|lored| ProcessBroker::begin(&lored, programs));
    match begun {
        Ok(broker) => Some(Arc::new(broker)),
        Err(error) => {
            tracing::warn!(%error, "resolvers that are programs cannot be started");
            None
        }
    }
}

/// This very program, also when its file was replaced meanwhile.
fn this_program() -> std::io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() {
        Ok(running.to_path_buf())
    } else {
        std::env::current_exe()
    }
}

fn needs(config: &Config, places: &Paths) -> SandboxNeeds {
    let urls = config.resolvers.values();
    let urls = urls.filter_map(|settings| match &settings.server {
        Server::Command(_) => None,
        Server::Url(url) => port(url),
    });
    let notified = std::env::var_os("NOTIFY_SOCKET");
    SandboxNeeds {
        folders: vec![places.data.clone()],
        socket_folders: vec![places.socket_folder().to_path_buf()],
        ports_connected_to: urls.collect(),
        ports_listened_on: config
            .http
            .listen
            .iter()
            .map(|address| address.port())
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
