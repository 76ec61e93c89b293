//! The mailboxes of a store: which there are, which host sessions they belong to, and the requests that wait in them.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lore::mailbox::{
    CODE_BYTES, Direction, MailError, MailName, Mailbox, Seal, StoreFolder, folder_seal,
    folder_session, name_of,
};
use lore::protocol::frame::{self, ClientFrame, Hello};

use super::binding::Bindings;
use crate::api::LoneCall;
use crate::capture::{HostSessions, KnownSession};
use crate::watch::Wake;

/// Requests that are carried out at once, in all mailboxes.
pub const REQUESTS_MAX: usize = 16;
/// Time after which an unused mailbox is removed.
const IDLE_MAX: Duration = Duration::from_hours(24);

/// An open mailbox.
#[derive(Debug)]
struct OpenMailbox {
    store: usize,
    name: String,
    mailbox: Arc<Mailbox>,
    /// `None`: no caller has named this host session yet.
    session: Option<Arc<BoundSession>>,
}

/// The host session of a mailbox.
#[derive(Debug)]
pub struct BoundSession {
    /// The session.
    pub session: KnownSession,
    /// Its seal.
    pub seal: Seal,
}

/// A request that is sealed as the mailbox demands.
#[derive(Debug)]
pub struct Request {
    /// Where it waits.
    pub mailbox: Arc<Mailbox>,
    /// Its name.
    pub name: MailName,
    /// Whose mailbox it is.
    pub bound: Arc<BoundSession>,
    /// The Hello and the call, or why they cannot be read.
    pub read: Result<(Hello, LoneCall), String>,
}

/// The open mailboxes.
pub struct OpenMailboxes {
    stores: Vec<StoreFolder>,
    bindings: Bindings,
    wake: Arc<Wake>,
    mailboxes: Vec<OpenMailbox>,
    /// Requests that are being carried out, with their mailboxes.
    taken: HashSet<(String, MailName)>,
    /// Requests that were found again while they are carried out: a client may have repeated them.
    seen_again: HashSet<(String, MailName)>,
}

impl OpenMailboxes {
    /// Claims the folders of the store, and watches them.
    ///
    /// # Errors
    /// When none of them can be used.
    pub fn open(folders: &[PathBuf], bindings: Bindings, wake: Arc<Wake>) -> io::Result<Self> {
        let mut stores = Vec::new();
        let mut reason = None;
        for folder in folders {
            let claimed = StoreFolder::make(folder).and_then(|store| match store.claim()? {
                true => Ok(store),
                // A client looks at this very moment.
                false => Err(MailError::Full),
            });
            match claimed.map_err(io::Error::other) {
                Ok(store) => {
                    wake.add(store.path())?;
                    stores.push(store);
                }
                Err(error) => reason = Some(error),
            }
        }
        match (stores.is_empty(), reason) {
            (true, Some(reason)) => Err(reason),
            _ => Ok(Self {
                stores,
                bindings,
                wake,
                mailboxes: Vec::new(),
                taken: HashSet::new(),
                seen_again: HashSet::new(),
            }),
        }
    }

    /// Returns whether there are no mailboxes.
    pub const fn is_empty(&self) -> bool {
        self.mailboxes.is_empty()
    }

    /// Returns the requests that wait, at most [`REQUESTS_MAX`] with those that are being carried out.
    ///
    /// # Errors
    /// When a folder of the store is gone, or cannot be read.
    pub fn look(&mut self, known: &HostSessions) -> io::Result<Vec<Request>> {
        self.find_mailboxes()?;
        self.bind(known);
        let mut requests = Vec::new();
        for open in &self.mailboxes {
            for name in open.mailbox.waiting().map_err(io::Error::other)? {
                if self.taken.len() >= REQUESTS_MAX {
                    return Ok(requests);
                }
                let key = (open.name.clone(), name);
                if self.taken.contains(&key) {
                    self.seen_again.insert(key);
                    continue;
                }
                match open.read(&key.1) {
                    Incoming::Sealed(request) => {
                        self.taken.insert(key);
                        requests.push(*request);
                    }
                    Incoming::Junk => drop(open.mailbox.withdraw(&key.1)),
                    Incoming::Unknown => {}
                }
            }
        }
        Ok(requests)
    }

    /// Notes that a request was answered; returns whether to look again: others may wait because of the limit, or the same
    /// one was left anew.
    pub fn finish(&mut self, mailbox: &str, name: MailName) -> bool {
        let key = (mailbox.to_owned(), name);
        let was_full = self.taken.len() >= REQUESTS_MAX;
        self.taken.remove(&key);
        self.seen_again.remove(&key) || was_full
    }

    /// Opens new mailboxes, and closes those that are gone.
    fn find_mailboxes(&mut self) -> io::Result<()> {
        if self.stores.iter().any(|store| !store.is_there()) {
            return Err(io::Error::other("the folder of the mailboxes was removed"));
        }
        self.mailboxes.retain(|open| open.mailbox.is_there());
        for (at, store) in self.stores.iter().enumerate() {
            for name in store.names().map_err(io::Error::other)? {
                let is_open = |open: &OpenMailbox| open.store == at && open.name == name;
                if self.mailboxes.iter().any(is_open) {
                    continue;
                }
                // One that is not a mailbox of this user is left alone.
                let Ok(mailbox) = Mailbox::open(store.path(), &name) else {
                    continue;
                };
                // Watched before it is looked at.
                self.wake.add(mailbox.requests_folder())?;
                self.mailboxes.push(OpenMailbox {
                    store: at,
                    name,
                    mailbox: Arc::new(mailbox),
                    session: None,
                });
            }
        }
        Ok(())
    }

    /// Finds the host sessions of mailboxes.
    fn bind(&mut self, known: &HostSessions) {
        for open in self
            .mailboxes
            .iter_mut()
            .filter(|open| open.session.is_none())
        {
            let stored = self.bindings.read(&open.name);
            let Some(session) = stored
                .clone()
                .or_else(|| known.find(|id| name_of(id) == open.name))
            else {
                continue;
            };
            if stored.is_none()
                && let Err(error) = self.bindings.write(&session)
            {
                tracing::warn!(%error, "the session of a mailbox was not written down");
            }
            if let Err(error) = open.mailbox.note_known() {
                tracing::debug!(%error, "a mailbox does not say that it is served");
            }
            let seal = Seal::of(&session.id);
            open.session = Some(Arc::new(BoundSession { session, seal }));
        }
    }

    /// Removes the mailboxes of sessions that ended, unless requests wait in them.
    pub fn end(&mut self, ended: &[String]) {
        let ended: HashSet<_> = ended.iter().map(|id| name_of(id)).collect();
        self.remove(|open| ended.contains(&open.name));
    }

    /// Removes answers that were not taken, and mailboxes that were not used for a day.
    pub fn sweep(&mut self) {
        for open in &self.mailboxes {
            if let Err(error) = open.mailbox.sweep() {
                tracing::debug!(%error, "a mailbox was not swept");
            }
            if !open.mailbox.is_idle(IDLE_MAX) || open.session.is_some() {
                continue;
            }
            // Nothing will ever answer these.
            for name in open.mailbox.waiting().unwrap_or_default() {
                drop(open.mailbox.withdraw(&name));
            }
        }
        self.remove(|open| open.mailbox.is_idle(IDLE_MAX));
    }

    fn remove(&mut self, is_over: impl Fn(&OpenMailbox) -> bool) {
        let mut gone = BTreeMap::new();
        for open in self.mailboxes.iter().filter(|open| is_over(open)) {
            if let Some(store) = self.stores.get(open.store) {
                gone.insert(open.name.clone(), open.mailbox.remove(store));
            }
        }
        self.mailboxes
            .retain(|open| gone.get(&open.name) != Some(&true));
        let is_open = |name: &String| self.mailboxes.iter().any(|open| open.name == *name);
        for name in gone.keys().filter(|name| !is_open(name)) {
            self.bindings.remove(name);
        }
    }
}

/// Nothing stays of a store without mailboxes.
impl Drop for OpenMailboxes {
    fn drop(&mut self) {
        for store in &self.stores {
            let _ = store.remove_if_empty();
        }
    }
}

/// A file that waits as a request.
enum Incoming {
    /// A request that is sealed as it has to be.
    Sealed(Box<Request>),
    /// Anything else, or sealed by another session: no answer reaches the process that has left it.
    Junk,
    /// The host session is not known yet.
    Unknown,
}

impl OpenMailbox {
    fn read(&self, name: &MailName) -> Incoming {
        let file = match self.mailbox.request(name) {
            Ok(Some(file)) => file,
            Ok(None) => return Incoming::Unknown,
            Err(error) => {
                tracing::debug!(%error, "a request was refused");
                return Incoming::Junk;
            }
        };
        let bound = match &self.session {
            Some(bound) => Arc::clone(bound),
            None => match self.bind_to_folder(&file) {
                Some(bound) => Arc::new(bound),
                None => return Incoming::Unknown,
            },
        };
        let Some(frames) = bound.seal.open(Direction::Request, name, &file) else {
            tracing::warn!(
                mailbox = self.name,
                "a request of another session was refused"
            );
            return Incoming::Junk;
        };
        let read = decode(frames).ok_or_else(|| "a Hello and a call are expected".to_owned());
        Incoming::Sealed(Box::new(Request {
            mailbox: Arc::clone(&self.mailbox),
            name: name.clone(),
            bound,
            read,
        }))
    }

    /// Returns the session of a folder whose mailbox this is. Which folder that is, the request says: its name and its seal
    /// prove it. The key may be another one with each request.
    fn bind_to_folder(&self, file: &[u8]) -> Option<BoundSession> {
        let (hello, _) = split(file.get(CODE_BYTES..)?)?;
        let folder = PathBuf::from(frame::decode_hello(hello).ok()?.cwd?);
        let id = folder_session(&folder);
        if !folder.is_absolute() || name_of(&id) != self.name {
            return None;
        }
        let seal = folder_seal(&folder).ok()?;
        if let Err(error) = self.mailbox.note_known() {
            tracing::debug!(%error, "a mailbox does not say that it is served");
        }
        let session = KnownSession {
            stated: id.clone(),
            id,
            folder: Some(folder),
        };
        Some(BoundSession { session, seal })
    }
}

fn decode(frames: &[u8]) -> Option<(Hello, LoneCall)> {
    let (hello, rest) = split(frames)?;
    let (call, rest) = split(rest)?;
    let hello = frame::decode_hello(hello).ok()?;
    match frame::decode_client(call).ok()? {
        ClientFrame::Call { id, name, args } if rest.is_empty() => {
            Some((hello, LoneCall { id, name, args }))
        }
        _ => None,
    }
}

/// Returns the body of the first frame, and what follows it.
fn split(frames: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = frames.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}
