//! A client that finds and connects to its daemon, starts it if necessary, and retries a call once where that is
//! safe.

use crate::connection::{Connection, Error, Obstacle};
use crate::host_session::Surroundings;
use crate::mailbox::{Exchange, Undelivered};
use crate::paths::Paths;
use crate::protocol::frame::Hello;
use crate::protocol::tools::READ_OPERATIONS;
use crate::protocol::{Args, Reply};
use crate::start::{self, StartError};

/// A client of the daemon at given places.
///
/// ```no_run
/// use lore::{client::Client, paths::Paths, protocol::{Args, frame::Hello}};
///
/// let hello = Hello { client: "notes/1".to_owned(), ..Hello::default() };
/// let mut client = Client::new(Paths::find(None)?, hello);
/// let args = Args::Json(br#"{"tool": "ping", "result": "pong"}"#.to_vec());
/// let reply = client.call("record_step", &args)?;
/// println!("{}", String::from_utf8_lossy(&reply.json));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Client {
    paths: Paths,
    hello: Hello,
    connection: Option<Connection>,
    /// Where a sandbox refuses sockets: found when it first does.
    exchange: Option<Exchange>,
}

impl Client {
    /// Creates a client that connects at its first call. A Hello without a host session gets that of this program.
    #[must_use]
    pub fn new(paths: Paths, hello: Hello) -> Self {
        let host_session = hello
            .host_session
            .clone()
            .or_else(|| Surroundings::of_this_process(hello.agent.as_deref()).of_program());
        let hello = Hello {
            host_session,
            ..hello
        };
        Self {
            paths,
            hello,
            connection: None,
            exchange: None,
        }
    }

    /// Returns the connection. Connects if necessary, and starts the daemon if none is running.
    ///
    /// # Errors
    /// When the daemon cannot be reached or started.
    pub fn connection(&mut self) -> Result<&mut Connection, Error> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => start::connect(&self.paths, &self.hello)?,
        };
        Ok(self.connection.insert(connection))
    }

    /// Calls an operation. If the connection breaks during a read or a write with a key, retries once on a new
    /// connection. Where a sandbox refuses sockets, the call goes through the [mailbox](crate::mailbox).
    ///
    /// # Errors
    /// [`Error::Refused`] with the daemon's reason; [`Error::Waits`] for a write in a mailbox that no daemon serves;
    /// otherwise why the daemon did not reply.
    pub fn call(&mut self, name: &str, args: &Args) -> Result<Reply, Error> {
        if self.exchange.is_some() {
            return self.call_by_mailbox(name, args, self.sandboxed());
        }
        match self.call_by_socket(name, args) {
            Err(error) if start::is_refused_by_sandbox(&self.paths, &error) => {
                self.exchange = Exchange::of_this_process(&self.paths);
                self.call_by_mailbox(name, args, error)
            }
            called => called,
        }
    }

    /// Returns the newest readable position of the log.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub fn position(&mut self) -> Result<u64, Error> {
        #[derive(serde::Deserialize)]
        struct WithPosition {
            position: u64,
        }
        let refused = match self.exchange.is_none().then(|| self.connection()) {
            Some(Ok(connection)) => return Ok(connection.welcome().position),
            Some(Err(error)) => error,
            None => self.sandboxed(),
        };
        if !start::is_refused_by_sandbox(&self.paths, &refused) {
            return Err(refused);
        }
        let status = self.call("status", &Args::Json(b"{}".to_vec()))?;
        match serde_json::from_slice::<WithPosition>(&status.json) {
            Ok(status) => Ok(status.position),
            Err(_) => Err(refused),
        }
    }

    /// Calls through the mailbox of this process. `refused`: why the socket was not reached.
    fn call_by_mailbox(&self, name: &str, args: &Args, refused: Error) -> Result<Reply, Error> {
        let Some(exchange) = &self.exchange else {
            return Err(refused);
        };
        // A write without a key is recorded once, too: the daemon knows a request by its name.
        let may_wait = !READ_OPERATIONS.contains(&name);
        let called = exchange.call(&self.hello, name, args, may_wait, None);
        called.map_err(|undelivered| match undelivered {
            Undelivered::Failed(error) => error,
            Undelivered::Waits => Error::Waits,
            Undelivered::NotRunning => self.sandboxed(),
            Undelivered::NoMailbox(_) | Undelivered::Unknown | Undelivered::NoAnswer => refused,
        })
    }

    fn sandboxed(&self) -> Error {
        StartError::in_sandbox(&self.paths).into()
    }

    fn call_by_socket(&mut self, name: &str, args: &Args) -> Result<Reply, Error> {
        let mut called = self.call_once(name, args);
        let is_unanswered = match &called {
            Err(Error::Unreachable { obstacle, .. }) => matches!(obstacle, Obstacle::Silent(_)),
            Err(Error::Broken(_)) => true,
            _ => false,
        };
        if is_unanswered && may_be_repeated(name, args) {
            self.connection = None;
            called = self
                .connection()
                .and_then(|connection| connection.call(name, args));
        }
        if called.is_err() {
            // After a refused call the connection is still usable, after other errors it is not.
            // Reconnecting is cheaper than distinguishing the two.
            self.connection = None;
        }
        called
    }

    fn call_once(&mut self, name: &str, args: &Args) -> Result<Reply, Error> {
        let small = matches!(args, Args::Json(json) if json.len() <= FIRST_BYTES_MAX);
        if self.connection.is_none() && small {
            match start::call_once(&self.paths, &self.hello, name, args) {
                Ok((connection, reply)) => {
                    self.connection = Some(connection);
                    return Ok(reply);
                }
                Err(Error::NotListening { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.connection()?.call(name, args)
    }
}

/// Calls with larger arguments are not sent before the Welcome, because the daemon's limits are not known yet.
const FIRST_BYTES_MAX: usize = 32 << 10;

/// Returns whether the call is idempotent.
fn may_be_repeated(name: &str, args: &Args) -> bool {
    READ_OPERATIONS.contains(&name) || has_key(args)
}

fn has_key(args: &Args) -> bool {
    #[derive(serde::Deserialize)]
    struct WithKey {
        key: Option<String>,
    }
    match args {
        Args::Json(json) => {
            serde_json::from_slice::<WithKey>(json).is_ok_and(|keyed| keyed.key.is_some())
        }
        Args::Value(value) => value.get("key").is_some_and(serde_json::Value::is_string),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_and_keyed_writes_may_be_repeated() {
        let json = |text: &str| Args::Json(text.as_bytes().to_vec());
        assert!(may_be_repeated("get_step", &json("{}")));
        assert!(!may_be_repeated("record_step", &json(r#"{"tool":"t"}"#)));
        assert!(!may_be_repeated(
            "record_step",
            &json(r#"{"parameters":{"key":"k"},"key":null}"#)
        ));
        assert!(may_be_repeated(
            "record_step",
            &json(r#"{"tool":"t","key":"k"}"#)
        ));
        assert!(may_be_repeated(
            "record_step",
            &Args::Value(json!({"key": "k"}))
        ));
        assert!(!may_be_repeated("record_step", &json("{")));
    }
}
