//! The caller threads, each with a separate connection to the daemon. They never start a daemon, and poll less often
//! while none is running.

pub mod follow;
pub mod poll;

use std::time::Duration;

use lore::connection::{Connection, Error};
use lore::paths::Paths;
use lore::protocol::frame::Hello;
use lore::protocol::{Args, Code, Deserialize, ErrorBody, Serialize};
use lore::start;

use crate::model::ConnectionLoss;

/// First and longest pause before a failed call is retried.
pub const PAUSE_MIN: Duration = Duration::from_millis(100);
/// See [`PAUSE_MIN`].
pub const PAUSE_MAX: Duration = Duration::from_secs(3);

/// A connection that is made on demand, to a running daemon only.
#[derive(Debug)]
pub struct Caller {
    paths: Paths,
    hello: Hello,
    connection: Option<Connection>,
}

impl Caller {
    /// Creates a caller without a connection.
    pub const fn new(paths: Paths, hello: Hello) -> Self {
        Self {
            paths,
            hello,
            connection: None,
        }
    }

    /// Creates another caller for the same daemon.
    pub fn another(&self) -> Self {
        Self::new(self.paths.clone(), self.hello.clone())
    }

    /// Returns whether the last call was answered, so that the next one goes to the same daemon.
    pub const fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    /// Calls an operation. Starts no daemon and retries nothing.
    ///
    /// # Errors
    /// When there is no reply.
    pub fn call<T: for<'de> Deserialize<'de>>(
        &mut self,
        name: &str,
        args: &impl Serialize,
    ) -> Result<T, Error> {
        let args = Args::Json(serde_json::to_vec(args).map_err(unreadable)?);
        let (connection, reply) = match self.connection.take() {
            Some(mut connection) => {
                let reply = connection.call(name, &args)?;
                (connection, reply)
            }
            None => start::call_once(&self.paths, &self.hello, name, &args)?,
        };
        let reply = serde_json::from_slice(&reply.json).map_err(unreadable)?;
        self.connection = Some(connection);
        Ok(reply)
    }
}

fn unreadable(error: serde_json::Error) -> Error {
    let said = format!("the daemon's reply cannot be read: {error}");
    let body = ErrorBody::new(Code::VersionMismatch, said);
    Error::Refused(body.hint("use a lore-top and a lored of the same release"))
}

/// Describes a failed call for people.
pub fn lost(error: &Error) -> ConnectionLoss {
    let is_not_running = matches!(error, Error::NotListening { .. });
    let body = error.to_body();
    let hint = match is_not_running {
        true => Some("run `lored`, or any call of `lore`, which starts it".to_owned()),
        false => body.hint,
    };
    ConnectionLoss {
        why: body.message,
        hint,
        is_not_running,
    }
}
