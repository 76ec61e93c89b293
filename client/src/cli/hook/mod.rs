//! `lore hook`: hands what a host's hook received to the daemon, and prints what the daemon answers.
//!
//! A hook never harms its host's turn. The exit code is 0 whatever happens, the output is the daemon's or none, and after
//! a limit the program ends. What could not be delivered by then is in the [spool](lore::spool), and so are large
//! payloads that no answer belongs to.
//!
//! A second thread reads, asks and prints. The first one keeps the time: it takes over what the other has read when the
//! limit is near, and ends the program, whatever the other waits for.

mod delivery;
mod input;
mod transcript;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use lore::host_session::Surroundings;
use lore::paths::Paths;
use lore::protocol::frame::Hello;
use lore::spool::{self, Header, Spool};

use super::command::Command;
use super::flag::{Flag, Kind};
use super::{Exit, variable};
use delivery::Delivery;
use input::{Input, Received};

/// `lore hook`.
pub const HOOK: Command = Command::local(
    "hook",
    "Record what a host's hook received, and print what the host shall add",
    |_, _| {
        run(Words::of(std::env::args_os().skip(1)).unwrap_or_default());
        Ok(Exit::Good)
    },
)
.details(
    "Hosts run it: `lore setup HOST` lists it in the host's file. It reads the hook's payload from standard input, prints \
     the daemon's answer, and ends with code 0 whatever happens. After 100 ms it prints nothing and leaves the payload for \
     the daemon; LORE_HOOK_TIMEOUT_MS sets another limit, at most 5000.",
)
.flags(&[&[
    Flag::positional(Kind::Text, "host", "HOST", "Name of the host, as in `lore setup`").local(),
    Flag::positional(
        Kind::Text,
        "event",
        "EVENT",
        "Name of the event, where the payload does not contain it",
    )
    .optional()
    .local(),
]])
.examples(&["lore hook claude-code", "lore hook copilot sessionStart"]);

/// Time after which the program ends, in milliseconds: the default and the maximum.
const TIMEOUT_MS: u64 = 100;
const TIMEOUT_MS_MAX: u64 = 5_000;

/// The words of a hook's command line.
#[derive(Debug, Default)]
pub struct Words {
    host: String,
    event: String,
}

impl Words {
    /// Reads a command line that begins with `hook`; `None` for another one, and if it asks for help. Hooks are listed in
    /// files of many releases, so that flags are ignored instead of refused.
    pub fn of(words: impl Iterator<Item = OsString>) -> Option<Self> {
        let words: Vec<String> = words
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let (command, rest) = words.split_first()?;
        if command != HOOK.name || rest.iter().any(|word| word == "--help" || word == "-h") {
            return None;
        }
        let mut names = rest.iter().filter(|word| !word.starts_with('-')).cloned();
        Some(Self {
            host: names.next().unwrap_or_default(),
            event: names.next().unwrap_or_default(),
        })
    }
}

/// When to stop waiting for an answer, and when to end.
#[derive(Debug, Clone, Copy)]
struct Limits {
    answer_until: Instant,
    end_at: Instant,
    /// The time until the end in milliseconds, if it is not the default.
    waits_ms: Option<u64>,
}

impl Limits {
    fn of(timeout_ms: Option<String>) -> Self {
        let given = timeout_ms.and_then(|text| text.trim().parse().ok());
        let given = given.map(|ms: u64| ms.clamp(1, TIMEOUT_MS_MAX));
        let timeout = Duration::from_millis(given.unwrap_or(TIMEOUT_MS));
        let begun = Instant::now();
        Self {
            // The rest is for writing the payload into the spool.
            answer_until: begun + timeout * 3 / 4,
            end_at: begun + timeout,
            waits_ms: given.filter(|ms| *ms != TIMEOUT_MS),
        }
    }
}

/// Runs a hook.
pub fn run(words: Words) -> ExitCode {
    if std::io::stdin().is_terminal() {
        lore::errln!("lore: hosts run `lore hook`, with a payload on standard input");
        return ExitCode::SUCCESS;
    }
    let limits = Limits::of(variable("LORE_HOOK_TIMEOUT_MS"));
    // A host shows what a hook writes there.
    std::panic::set_hook(Box::new(|_| {}));
    let hook = Arc::new(Hook::new(words, limits));
    let (done, is_done) = mpsc::channel();
    let worker = Arc::clone(&hook);
    let work = move || {
        worker.work();
        // The other side is gone if the program is ending.
        let _ = done.send(());
    };
    if std::thread::Builder::new().spawn(work).is_err() {
        return ExitCode::SUCCESS;
    }
    let wait = |until: Instant| {
        let left = until.saturating_duration_since(Instant::now());
        is_done.recv_timeout(left)
    };
    if matches!(
        wait(limits.answer_until),
        Err(mpsc::RecvTimeoutError::Timeout)
    ) {
        hook.give_up_waiting();
        // The worker may be writing into the spool, or the output.
        let _ = wait(limits.end_at);
    }
    ExitCode::SUCCESS
}

/// A hook at work.
struct Hook {
    header: Header,
    hello: Hello,
    /// `None` without a home: nothing can be recorded.
    paths: Option<Paths>,
    input: Input,
    limits: Limits,
}

impl Hook {
    fn new(words: Words, limits: Limits) -> Self {
        let agent = variable("LORE_AGENT");
        let cwd = std::env::current_dir().ok();
        let cwd = cwd.and_then(|cwd| cwd.into_os_string().into_string().ok());
        let client = format!("lore-hook/{}", env!("CARGO_PKG_VERSION"));
        let surroundings = Surroundings::of_this_process(agent.as_deref());
        let process = surroundings.process_of_host();
        let host_session = surroundings.named().or_else(|| process.clone());
        Self {
            header: Header {
                host: words.host,
                event: words.event,
                received_at_us: spool::now_us(),
                client: client.clone(),
                agent: agent.clone(),
                cwd: cwd.clone(),
                host_session: host_session.clone(),
                process,
                exit_status: None,
                waits_ms: limits.waits_ms,
            },
            hello: Hello {
                client,
                agent,
                cwd,
                host_session,
                ..Hello::default()
            },
            paths: Paths::find(None).ok(),
            input: Input::default(),
            limits,
        }
    }

    /// Reads, asks and prints.
    fn work(&self) {
        let Some(paths) = &self.paths else {
            // The host may not be done writing, and would get an error.
            self.input.drain();
            return;
        };
        let spool = Spool::of(paths);
        let Some(received) = self.input.read(&self.header, &spool) else {
            return;
        };
        let delivery = Delivery {
            paths,
            hello: &self.hello,
            spool: &spool,
            answer_until: self.limits.answer_until,
        };
        let payload = match received {
            Received::Spooled => {
                delivery.wake();
                return;
            }
            Received::Whole(payload) => payload,
        };
        let is_answered = self.is_answered(&payload);
        let header = self.completed_header(&payload);
        match delivery.ask(&header, &payload, is_answered) {
            Ok(output) if self.input.claim() => {
                print(&output);
                delivery.deliver_waiting();
            }
            // Too late: the other thread has put the payload into the spool. Recording it twice is harmless.
            Ok(_) => {}
            Err(refused) => {
                if self.input.claim() {
                    // A full or unusable spool is counted, and `lore doctor` reports it.
                    let _ = spool.put(&header, &payload);
                }
                if refused.is_not_running && !is_answered {
                    delivery.wake();
                }
            }
        }
    }

    /// Returns the header with what the payload lacks and the host's transcript has.
    fn completed_header(&self, payload: &[u8]) -> Cow<'_, Header> {
        let host = lored_hosts::Host::from_name(&self.header.host);
        match transcript::exit_status(host, payload) {
            None => Cow::Borrowed(&self.header),
            exit_status => Cow::Owned(Header {
                exit_status,
                ..self.header.clone()
            }),
        }
    }

    fn is_answered(&self, payload: &[u8]) -> bool {
        let host = lored_hosts::Host::from_name(&self.header.host);
        lored_hosts::is_answered(host, &self.header.event, payload)
    }

    /// Puts what was read into the spool, if the worker still waits for input or for the daemon.
    fn give_up_waiting(&self) {
        let Some(paths) = &self.paths else {
            return;
        };
        if let Some(payload) = self.input.take_over() {
            // As in the worker.
            let _ = Spool::of(paths).put(&self.header, &payload);
        }
    }
}

fn print(output: &str) {
    if output.is_empty() {
        return;
    }
    let mut stdout = std::io::stdout().lock();
    // A host that has closed it does not want the answer.
    let _ = stdout
        .write_all(output.as_bytes())
        .and_then(|()| stdout.flush());
}
