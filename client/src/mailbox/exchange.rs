//! A client's call through the mailbox of its host session.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{
    Direction, MailError, MailName, Mailbox, Seal, StoreFolder, make_folder_seal, project_folder,
    roots, store_folder,
};
use crate::connection::Error;
use crate::host_session::Surroundings;
use crate::paths::Paths;
use crate::protocol::frame::{self, Hello, ServerFrame};
use crate::protocol::{Args, Code, ErrorBody, Reply};

/// Time between two looks whether the daemon still serves the mailbox.
const SERVED_EVERY: Duration = Duration::from_secs(1);
/// Time after which a daemon that has not noted that it knows the session does not know it.
const KNOWN_WITHIN: Duration = Duration::from_secs(1);
/// Time for a daemon that is starting to claim the mailboxes.
const CLAIMED_WITHIN: Duration = Duration::from_millis(200);
/// Number of the call in the request's frame.
const CALL_ID: u64 = 1;

/// What became of a request without an answer.
#[derive(Debug)]
pub enum Undelivered {
    /// This process has no mailbox, or it refused the request; nothing was left in it.
    NoMailbox(Option<MailError>),
    /// No daemon serves the mailbox. The request was taken back.
    NotRunning,
    /// No daemon serves the mailbox. The request waits for the next one.
    Waits,
    /// The daemon does not know the host session, because no hook or MCP server of the session has called it, or the seal is
    /// that of another one. Nothing was done.
    Unknown,
    /// No answer came in time. The request may still wait.
    NoAnswer,
    /// The answer is that of the daemon, but an error.
    Failed(Error),
}

/// The mailboxes in which a client may leave its requests: those of its host session, one below each root.
#[derive(Debug)]
pub struct Exchange {
    seal: Seal,
    stores: Vec<PathBuf>,
    /// Set if the mailbox is that of a folder: the daemon learns from the request where its key is.
    folder: Option<String>,
}

/// One request at a time: a process makes few.
impl Exchange {
    /// Returns the mailboxes of this process: of its host session, or else of the folder of its project. `None` if no host
    /// has put the id of its session into the environment, and the folder cannot have a key.
    #[must_use]
    pub fn of_this_process(paths: &Paths) -> Option<Self> {
        Self::of_host_session(paths).or_else(|| {
            let cwd = std::env::current_dir().ok()?;
            let folder = project_folder(&cwd);
            // The root of the file system is not a project.
            folder.parent()?;
            Self::in_folder(folder, stores(paths)).ok()
        })
    }

    /// Returns the mailboxes of the host session of this process, if its environment names one.
    #[must_use]
    pub fn of_host_session(paths: &Paths) -> Option<Self> {
        let host_session = Surroundings::of_this_process(None).of_host()?;
        Some(Self::at(&host_session, stores(paths)))
    }

    /// Returns the mailboxes of a folder in folders of a store. Makes the folder's key if it has none.
    ///
    /// # Errors
    /// When the key cannot be made or read.
    pub fn in_folder(folder: &Path, stores: Vec<PathBuf>) -> io::Result<Self> {
        let path = folder.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        Ok(Self {
            seal: make_folder_seal(folder)?,
            stores,
            folder: Some(path.to_owned()),
        })
    }

    /// Returns the mailboxes of a host session in folders of a store.
    #[must_use]
    pub fn at(host_session: &str, stores: Vec<PathBuf>) -> Self {
        Self {
            seal: Seal::of(host_session),
            stores,
            folder: None,
        }
    }

    /// Calls an operation, and waits for its answer as long as a daemon serves the mailbox, but no longer than `longest`.
    /// `may_wait`: whether the request stays for the next daemon if none serves the mailbox.
    ///
    /// # Errors
    /// What became of the request.
    pub fn call(
        &self,
        hello: &Hello,
        name: &str,
        args: &Args,
        may_wait: bool,
        longest: Option<Duration>,
    ) -> Result<Reply, Undelivered> {
        let mut frames = Vec::new();
        let cwd = self.folder.clone().or_else(|| hello.cwd.clone());
        let hello = Hello {
            cwd,
            ..hello.clone()
        };
        frame::encode_hello(&mut frames, &hello);
        frame::encode_call(&mut frames, CALL_ID, name, args);
        let posted = self.post(&frames)?;
        let begun = Instant::now();
        loop {
            let left = longest.map(|longest| longest.saturating_sub(begun.elapsed()));
            let is_served = posted.store.is_served();
            let within = match is_served {
                true => SERVED_EVERY,
                false => CLAIMED_WITHIN,
            };
            let answer = posted
                .mailbox
                .take_answer(&posted.name, left.unwrap_or(within).min(within));
            match answer {
                Ok(file) => match self.seal.open(Direction::Answer, &posted.name, &file) {
                    Some(answer) => return read(answer),
                    // Another process of this user has written it: the daemon's may still come.
                    None => continue,
                },
                Err(MailError::NoAnswer(_)) => {}
                Err(error) => return Err(Undelivered::Failed(failed(&posted, error))),
            }
            if left.is_some_and(|left| left.is_zero()) {
                return Err(Undelivered::NoAnswer);
            }
            if !is_served && !posted.store.is_served() {
                let is_taken_back = !may_wait && posted.is_taken_back();
                return Err(match is_taken_back {
                    true => Undelivered::NotRunning,
                    false => Undelivered::Waits,
                });
            }
            // It goes when its answer is there, or because it was refused.
            if !posted.mailbox.has_request(&posted.name) {
                let last = posted.mailbox.take_answer(&posted.name, Duration::ZERO);
                let answer = last.ok().and_then(|file| {
                    let answer = self.seal.open(Direction::Answer, &posted.name, &file)?;
                    Some(read(answer))
                });
                return answer.unwrap_or(Err(Undelivered::Unknown));
            }
            let is_unknown = !posted.mailbox.is_known() && begun.elapsed() >= KNOWN_WITHIN;
            if is_unknown && posted.is_taken_back() {
                return Err(Undelivered::Unknown);
            }
        }
    }

    /// Leaves a request in the first mailbox that takes it.
    fn post(&self, frames: &[u8]) -> Result<PostedRequest, Undelivered> {
        let mut reason = None;
        for path in &self.stores {
            let name = MailName::new();
            let file = self.seal.close(Direction::Request, &name, frames);
            let post = || {
                if let Some(root) = path.parent().filter(|root| !root.is_dir()) {
                    let _ = super::prepare_root(root);
                }
                let mailbox = Mailbox::make(path, self.seal.mailbox())?;
                mailbox.post_as(&name, &file)?;
                let store = StoreFolder::open(path)?;
                Ok(PostedRequest {
                    store,
                    mailbox,
                    name: name.clone(),
                })
            };
            // An idle mailbox may be removed at this very moment.
            match post().or_else(|error| if is_gone(&error) { post() } else { Err(error) }) {
                Ok(posted) => return Ok(posted),
                Err(error) => reason = reason.or(Some(error)),
            }
        }
        Err(Undelivered::NoMailbox(reason))
    }
}

fn stores(paths: &Paths) -> Vec<PathBuf> {
    let roots = roots();
    let mut stores: Vec<_> = roots
        .iter()
        .map(|root| store_folder(root, &paths.data))
        .collect();
    // One that a daemon serves is better than one that none serves.
    stores.sort_by_key(|path| !StoreFolder::open(path).is_ok_and(|store| store.is_served()));
    stores
}

/// A request that was left in a mailbox.
struct PostedRequest {
    store: StoreFolder,
    mailbox: Mailbox,
    name: MailName,
}

impl PostedRequest {
    fn is_taken_back(&self) -> bool {
        matches!(self.mailbox.withdraw(&self.name), Ok(true))
    }
}

fn is_gone(error: &MailError) -> bool {
    matches!(error, MailError::Io { error, .. } if error.kind() == std::io::ErrorKind::NotFound)
}

fn failed(posted: &PostedRequest, error: MailError) -> Error {
    let body = ErrorBody::new(Code::StorageUnavailable, error.to_string());
    // What is there may be anything: the request is not left behind it.
    let _ = posted.is_taken_back();
    Error::Refused(body)
}

/// Reads the frame of an answer.
fn read(frames: &[u8]) -> Result<Reply, Undelivered> {
    let frame = frames.get(4..).unwrap_or_default();
    let failed = |error| Err(Undelivered::Failed(error));
    match frame::take_server(frame.to_vec()) {
        Ok(ServerFrame::Answer { outcome, .. }) => match outcome {
            Ok(reply) => Ok(reply),
            Err(body) => failed(Error::Refused(body)),
        },
        Ok(ServerFrame::Fault(body)) => failed(Error::Refused(body)),
        Ok(ServerFrame::Welcome(_) | ServerFrame::Item { .. }) => {
            failed(frame::FrameError::Unexpected("not an answer in the mailbox").into())
        }
        Err(error) => failed(error.into()),
    }
}
