//! One resolver: its limits, its breaker, its cached answers, and the calls in flight.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::answers::Candidate;
use super::breaker::CircuitBreaker;
use super::connection::{CallError, Connection};
use super::connector::{ConnectError, Connector};
use super::{ProcessBroker, Question, Settings};
use crate::cache::Cache;
use crate::locks::lock_unpoisoned;

/// Limit on cached answers per resolver, in bytes.
const CACHE_BYTES_MAX: usize = 8 << 20;
/// Limit on entities with calls in flight.
const FLIGHTS_MAX: usize = 1024;

/// An MCP server that identifies names.
pub struct Resolver {
    /// Name in the settings.
    pub name: String,
    /// Settings of its calls.
    pub settings: Arc<Settings>,
    permits: Semaphore,
    connector: Arc<Connector>,
    answers: Cache<Entity>,
    inner: Mutex<Inner>,
}

/// Requested entity: kind and lower-cased name.
type Entity = (String, String);

/// A call in flight, shared by all callers with the same request.
type LookupInFlight = Shared<BoxFuture<'static, Outcome>>;

struct Inner {
    breaker: CircuitBreaker,
    /// Reason of the last failed call, as the end of a sentence.
    last_failure: String,
    in_flight_calls: HashMap<Entity, LookupInFlight>,
    calls: u64,
    failures: u64,
    cached: u64,
}

/// Outcome of a lookup.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The server knows the entity; the answer may be cached.
    Found {
        /// The server's answer.
        candidate: Arc<Candidate>,
        /// Whether the answer is cached.
        cached: bool,
    },
    /// The server does not know the entity.
    Nothing,
    /// There is no answer: the reason, as the end of a sentence.
    Failed(String),
}

/// A cached answer.
struct CachedAnswer {
    outcome: Outcome,
    until: Instant,
}

/// Reason why there is no answer, as the end of a sentence.
enum ResolverError {
    /// The call did not get its turn: this is not the server's failure.
    Waited(String),
    /// The server refused: it is assumed to refuse again for a while.
    Refused(String),
    /// The server failed.
    Failed(String),
}

/// Status of a resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverStatus {
    /// Name in the settings.
    pub name: String,
    /// Connection state.
    pub state: State,
    /// Number of calls to its server since the daemon's start.
    pub calls: u64,
    /// Number of calls without an answer.
    pub failures: u64,
    /// Number of lookups answered from the cache.
    pub cached: u64,
}

/// Connection state of a resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not connected; the next lookup connects.
    Idle,
    /// Connected.
    Running,
    /// Paused after too many failures.
    Broken {
        /// Milliseconds until the next trial lookup.
        for_ms: u64,
    },
}

impl Resolver {
    /// Creates a resolver without a connection.
    pub fn new(name: String, settings: Settings, broker: Option<Arc<ProcessBroker>>) -> Self {
        let settings = Arc::new(settings);
        let pause = Duration::from_millis(settings.pause_ms);
        Self {
            permits: Semaphore::new(settings.concurrent_max),
            connector: Arc::new(Connector::new(&name, Arc::clone(&settings), broker)),
            answers: Cache::new(CACHE_BYTES_MAX),
            inner: Mutex::new(Inner {
                breaker: CircuitBreaker::new(settings.failures_max, pause),
                last_failure: String::new(),
                in_flight_calls: HashMap::new(),
                calls: 0,
                failures: 0,
                cached: 0,
            }),
            name,
            settings,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Counts and calls in flight stay consistent after a panic.
        lock_unpoisoned(&self.inner)
    }

    /// Looks up an entity on the server; concurrent lookups of the same entity share one call. A started call runs to
    /// its end even if all callers have disconnected.
    pub async fn resolve(self: &Arc<Self>, question: &Question, kind: &str, name: &str) -> Outcome {
        match self.in_flight_call(question, kind, name) {
            Ok(in_flight_call) => in_flight_call.await,
            Err(outcome) => outcome,
        }
    }

    /// Ends the server; the resolver cannot be used afterwards.
    pub fn stop(&self) {
        self.connector.stop();
    }

    /// Ends the server and waits until its process has ended.
    pub async fn close(&self) {
        self.connector.close().await;
    }

    /// Returns the status.
    pub fn status(&self) -> ResolverStatus {
        let inner = self.lock();
        let state = match inner.breaker.open_for(Instant::now()) {
            Some(rest) => State::Broken {
                for_ms: u64::try_from(rest.as_millis()).unwrap_or(u64::MAX),
            },
            None if self.connector.is_connected() => State::Running,
            None => State::Idle,
        };
        ResolverStatus {
            name: self.name.clone(),
            state,
            calls: inner.calls,
            failures: inner.failures,
            cached: inner.cached,
        }
    }

    /// Returns the call for an entity: the one in flight, or a new one.
    ///
    /// # Errors
    /// The outcome, when no call is necessary or possible.
    fn in_flight_call(
        self: &Arc<Self>,
        question: &Question,
        kind: &str,
        name: &str,
    ) -> Result<LookupInFlight, Outcome> {
        let entity = (kind.to_owned(), name.trim().to_lowercase());
        let now = Instant::now();
        let mut inner = self.lock();
        if let Some(kept) = self.answers.get::<CachedAnswer>(&entity)
            && kept.until > now
        {
            inner.cached += 1;
            return Err(kept.outcome.clone());
        }
        if let Some(in_flight_call) = inner.in_flight_calls.get(&entity)
            && in_flight_call.peek().is_none()
        {
            return Ok(in_flight_call.clone());
        }
        if inner.in_flight_calls.len() >= FLIGHTS_MAX {
            let said = format!("has {FLIGHTS_MAX} entities to answer first");
            return Err(Outcome::Failed(said));
        }
        if let Err(rest) = inner.breaker.admit(now) {
            return Err(Outcome::Failed(format!(
                "is left alone for {} ms more, since it {}",
                rest.as_millis(),
                inner.last_failure
            )));
        }
        let (this, question) = (Arc::clone(self), question.clone());
        let (asked, name) = (entity.clone(), name.to_owned());
        let task = tokio::spawn(async move { this.run(&question, asked, &name).await });
        let in_flight_call = task
            .map(|ended| ended.unwrap_or_else(|_| Outcome::Failed("was given up".to_owned())))
            .boxed()
            .shared();
        inner.in_flight_calls.insert(entity, in_flight_call.clone());
        Ok(in_flight_call)
    }

    /// Makes one call, and records its result in the breaker and the cache.
    async fn run(self: Arc<Self>, question: &Question, entity: Entity, name: &str) -> Outcome {
        let result = self.attempt(question, &entity.0, name).await;
        let now = Instant::now();
        let mut inner = self.lock();
        inner.in_flight_calls.remove(&entity);
        inner.calls += 1;
        inner.failures += u64::from(result.is_err());
        match result {
            Ok(found) => {
                inner.breaker.succeeded();
                let kept = match &found {
                    Some(candidate) => Outcome::Found {
                        candidate: Arc::clone(candidate),
                        cached: true,
                    },
                    None => Outcome::Nothing,
                };
                self.keep(entity, kept, now + self.cache_time());
                found.map_or(Outcome::Nothing, |candidate| Outcome::Found {
                    candidate,
                    cached: false,
                })
            }
            Err(ResolverError::Refused(said)) => {
                inner.breaker.succeeded();
                let outcome = Outcome::Failed(said);
                self.keep(entity, outcome.clone(), now + self.refusal_time());
                outcome
            }
            Err(ResolverError::Waited(said)) => {
                inner.breaker.undecided();
                Outcome::Failed(said)
            }
            Err(ResolverError::Failed(said)) => {
                inner.breaker.failed(now);
                inner.last_failure.clone_from(&said);
                Outcome::Failed(said)
            }
        }
    }

    fn cache_time(&self) -> Duration {
        Duration::from_millis(self.settings.cache_ms)
    }

    /// Returns how long a refusal is cached: as long as the pause of a broken server.
    fn refusal_time(&self) -> Duration {
        Duration::from_millis(self.settings.pause_ms.min(self.settings.cache_ms))
    }

    fn keep(&self, entity: Entity, outcome: Outcome, until: Instant) {
        let bytes = match &outcome {
            Outcome::Found { candidate, .. } => candidate.bytes(),
            Outcome::Nothing => 0,
            Outcome::Failed(said) => said.len(),
        };
        let bytes = bytes + 2 * (entity.0.len() + entity.1.len()) + 256;
        self.answers
            .put(entity, Arc::new(CachedAnswer { outcome, until }), bytes);
    }

    /// Waits for its turn and for the server, then makes the call.
    async fn attempt(
        &self,
        question: &Question,
        kind: &str,
        name: &str,
    ) -> Result<Option<Arc<Candidate>>, ResolverError> {
        let deadline = Instant::now() + Duration::from_millis(self.settings.timeout_ms);
        let Ok(_permit) = timeout_at(deadline, self.permits.acquire()).await else {
            return Err(ResolverError::Waited(format!(
                "had {} others to answer for {} ms",
                self.settings.concurrent_max, self.settings.timeout_ms
            )));
        };
        let ask = EntityLookup {
            question,
            kind,
            name,
            deadline,
        };
        let (connection, was_there) = self.connect(deadline).await?;
        let asked = self.call(&connection, was_there, &ask).await;
        match asked {
            // The server may have exited since its last call: that is not a failure, and a new connection is made.
            Err(CallError::Closed(_)) if was_there && Instant::now() < deadline => {
                let (connection, was_there) = self.connect(deadline).await?;
                let asked = self.call(&connection, was_there, &ask).await;
                asked.map_err(ResolverError::from)
            }
            asked => asked.map_err(ResolverError::from),
        }
    }

    async fn connect(&self, deadline: Instant) -> Result<(Arc<Connection>, bool), ResolverError> {
        let connected = self.connector.connection(deadline).await;
        connected.map_err(|error| match error {
            ConnectError::Starting(said) => ResolverError::Waited(said),
            ConnectError::Failed(said) => ResolverError::Failed(said),
        })
    }

    /// Calls the tool. A server that exited or does not answer is dropped. Exception: a server that only became ready
    /// for this call had less than its time and may be slow with its first answer, so it stays.
    async fn call(
        &self,
        connection: &Arc<Connection>,
        was_there: bool,
        ask: &EntityLookup<'_>,
    ) -> Result<Option<Arc<Candidate>>, CallError> {
        let arguments = ask.question.filled(ask.kind, ask.name);
        let call = connection.call(&ask.question.tool, arguments);
        let (answered, is_useless) = match timeout_at(ask.deadline, call).await {
            Ok(answered) => {
                let is_useless = matches!(answered, Err(CallError::Closed(_)));
                (answered, is_useless)
            }
            Err(_) => {
                let timeout_ms = self.settings.timeout_ms;
                let said = format!("did not answer within {timeout_ms} ms");
                (Err(CallError::Closed(said)), was_there)
            }
        };
        if is_useless {
            self.connector.give_up(connection);
        }
        let candidate = answered?.candidate(ask.name, ask.question.wants_one());
        let candidate = candidate.map_err(CallError::Refused)?;
        Ok(candidate.map(Arc::new))
    }
}

/// One entity and the deadline of its lookup.
struct EntityLookup<'a> {
    question: &'a Question,
    kind: &'a str,
    name: &'a str,
    deadline: Instant,
}

impl From<CallError> for ResolverError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Closed(said) => Self::Failed(said),
            CallError::Refused(said) => Self::Refused(said),
        }
    }
}
