//! Which sockets are trusted, and whether a sandbox refuses them.

use std::io;

use super::{StartError, place};
use crate::connection::{Error, Obstacle, SocketState};
use crate::mailbox;
use crate::paths::{self, Paths, PlaceError};

/// Rejects a socket in a folder that others can write to.
pub(super) fn trust(paths: &Paths) -> Result<(), Error> {
    let Err(error) = paths::check_folder(paths.socket_folder()) else {
        return Ok(());
    };
    match error {
        _ if !socket_is_default(paths) => Ok(()),
        // The folder is ours and others cannot create a socket there: they may only connect.
        PlaceError::TooOpen { mode, .. } if mode & 0o022 == 0 => Ok(()),
        PlaceError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::NotListening {
                path: paths.socket.clone(),
                state: SocketState::Missing,
            })
        }
        other => Err(other.into()),
    }
}

/// Returns whether the socket path is the default. A path given explicitly, for example a system-wide daemon's, is
/// the caller's responsibility.
pub(super) fn socket_is_default(paths: &Paths) -> bool {
    Paths::find(None).is_ok_and(|found| found.socket == paths.socket)
        && std::env::var_os("LORE_SOCKET").is_none()
}

/// Returns whether a sandbox is the reason why the daemon was not reached, and whether its mailboxes are those of the
/// daemon that was meant. A path that was given explicitly may be that of a daemon with another store. Where even the
/// mailboxes may be lost with the sandbox, only those that a daemon serves now are used.
#[must_use]
pub fn is_refused_by_sandbox(paths: &Paths, error: &Error) -> bool {
    let is_refused = match error {
        Error::Unreachable { obstacle, .. } => match obstacle {
            Obstacle::Filter => true,
            Obstacle::Closed { .. } => place::doubt(paths).is_some(),
            Obstacle::Silent(_) | Obstacle::Other => false,
        },
        Error::Start(StartError::Sandboxed { doubt, .. }) => {
            doubt.has_lasting_mailboxes() || mailbox::is_served_elsewhere(paths)
        }
        Error::NotListening { .. } => place::doubt(paths).is_some_and(|doubt| {
            doubt.has_lasting_mailboxes() || mailbox::is_served_elsewhere(paths)
        }),
        _ => false,
    };
    is_refused && socket_is_default(paths)
}
