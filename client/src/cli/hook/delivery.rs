//! Hands a payload to the daemon.

use std::time::{Duration, Instant};

use lore::connection::{Connection, Error};
use lore::mailbox::{Exchange, Undelivered};
use lore::manager;
use lore::paths::Paths;
use lore::protocol::frame::Hello;
use lore::protocol::{Args, Deserialize, Reply};
use lore::spool::{Header, Spool};
use lore::start;

/// The operation of the daemon.
const OPERATION: &str = "record_hook";

/// Arguments up to this size are sent with the Hello, in bytes: the daemon's limits are not known yet.
const FIRST_BYTES_MAX: usize = 32 << 10;

/// Time in which hooks start the daemon at most once: one that ends at once would be started by every hook.
const START_PAUSE: Duration = Duration::from_secs(10);

/// How a payload reaches the daemon.
pub struct Delivery<'d> {
    pub paths: &'d Paths,
    pub hello: &'d Hello,
    pub spool: &'d Spool,
    pub answer_until: Instant,
}

/// The daemon did not take a payload.
#[derive(Debug)]
pub struct NotTaken {
    /// Whether none is running.
    pub is_not_running: bool,
}

#[derive(Deserialize)]
struct HookReply {
    #[serde(default)]
    output: String,
}

impl Delivery<'_> {
    /// Returns what the hook prints. If no daemon runs and the host waits for the answer, one is started.
    pub fn ask(
        &self,
        header: &Header,
        payload: &[u8],
        is_answered: bool,
    ) -> Result<String, NotTaken> {
        // Invalid UTF-8 becomes U+FFFD, as everywhere.
        let text = String::from_utf8_lossy(payload);
        let args = Args::Json(header.arguments(&text));
        let mut reply = self.call(&args);
        if let Err(error) = &reply
            && start::is_refused_by_sandbox(self.paths, error)
        {
            return self.ask_by_mailbox(&args);
        }
        if is_answered && is_not_running(&reply) && self.may_start() {
            let left = self.answer_until.saturating_duration_since(Instant::now());
            reply = start::connect_within(left, self.paths, self.hello)
                .and_then(|mut connection| connection.call(OPERATION, &args));
        }
        let is_not_running = is_not_running(&reply);
        let reply = reply.map_err(|_| NotTaken { is_not_running })?;
        Ok(output(&reply))
    }

    /// Asks through the mailbox of the host's session, where a sandbox refuses sockets.
    fn ask_by_mailbox(&self, args: &Args) -> Result<String, NotTaken> {
        let not_taken = NotTaken {
            is_not_running: false,
        };
        let Some(exchange) = Exchange::of_host_session(self.paths) else {
            return Err(not_taken);
        };
        let left = self.answer_until.saturating_duration_since(Instant::now());
        match exchange.call(self.hello, OPERATION, args, true, Some(left)) {
            Ok(reply) => Ok(output(&reply)),
            // It is in the mailbox, and recorded later.
            Err(Undelivered::Waits | Undelivered::NoAnswer) => Ok(String::new()),
            Err(_) => Err(not_taken),
        }
    }

    /// Starts a daemon if none is running, and does not wait for it.
    pub fn wake(&self) {
        // The next command says why it cannot be started.
        let _ = start::begin(self.answer_until, self.paths, || self.may_start());
    }

    /// Delivers some of what waits, if no daemon takes it up: the socket is that of a daemon with another store, such as the
    /// system-wide one.
    pub fn deliver_waiting(&self) {
        let is_own = std::env::var_os("LORE_SOCKET").is_none();
        if is_own || self.spool.usage().files == 0 {
            return;
        }
        if !matches!(manager::holder(&self.paths.daemon_lock()), Ok(None)) {
            return;
        }
        // Whatever fails waits for the next hook.
        for name in self.spool.waiting().unwrap_or_default() {
            if Instant::now() >= self.answer_until {
                return;
            }
            let Ok(entry) = self.spool.read(&name) else {
                let _ = self.spool.reject(&name);
                continue;
            };
            let of_entry = Delivery {
                hello: &entry.header.hello(),
                ..*self
            };
            if of_entry.call(&Args::Json(entry.arguments())).is_err() {
                return;
            }
            let _ = self.spool.remove(&name);
        }
    }

    fn call(&self, args: &Args) -> Result<Reply, Error> {
        match args {
            Args::Json(json) if json.len() > FIRST_BYTES_MAX => {
                let mut connection: Connection = start::connect_once(self.paths, self.hello)?;
                connection.call(OPERATION, args)
            }
            args => {
                start::call_once(self.paths, self.hello, OPERATION, args).map(|(_, reply)| reply)
            }
        }
    }

    /// Returns whether no other hook has started the daemon a moment ago, and notes that this one does.
    fn may_start(&self) -> bool {
        self.spool.note_start(START_PAUSE)
    }
}

/// Returns what the hook prints. The events are recorded, whatever the reply says.
fn output(reply: &Reply) -> String {
    let reply = serde_json::from_slice::<HookReply>(&reply.json);
    reply.map_or_else(|_| String::new(), |reply| reply.output)
}

const fn is_not_running<T>(reply: &Result<T, Error>) -> bool {
    matches!(reply, Err(Error::NotListening { .. }))
}
