//! One resolver: its limits, its breaker, what it answered lately, and who waits for an answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

/// The most bytes of answers that are kept for each resolver.
const CACHE_BYTES_MAX: usize = 8 << 20;
/// The most entities for which answers are waited at once.
const FLIGHTS_MAX: usize = 1024;

/// An MCP server that says what names stand for.
pub struct Resolver {
    /// Its name in the settings.
    pub name: String,
    /// How it is asked.
    pub settings: Arc<Settings>,
    permits: Semaphore,
    connector: Arc<Connector>,
    answers: Cache<Entity>,
    inner: Mutex<Inner>,
}

/// What is asked for: kind and lower-cased name.
type Entity = (String, String);

/// A call on its way, for all who ask the same.
type LookupInFlight = Shared<BoxFuture<'static, Outcome>>;

struct Inner {
    breaker: CircuitBreaker,
    /// The end of a sentence: why the last call failed.
    last_failure: String,
    in_flight_calls: HashMap<Entity, LookupInFlight>,
    calls: u64,
    failures: u64,
    cached: u64,
}

/// What came of an ask.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The server knows it; the answer may be an earlier one.
    Found {
        /// What it says.
        candidate: Arc<Candidate>,
        /// Whether it said so to an earlier ask.
        cached: bool,
    },
    /// The server knows none.
    Nothing,
    /// There is no answer: the end of a sentence.
    Failed(String),
}

/// An answer that is kept.
struct CachedAnswer {
    outcome: Outcome,
    until: Instant,
}

/// Why there is no answer, each the end of a sentence.
enum ResolverError {
    /// It was not our turn yet: says nothing about the server.
    Waited(String),
    /// The server says no: it will say so again for a while.
    Refused(String),
    /// The server does not do what it should.
    Failed(String),
}

/// How a resolver does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolverStatus {
    /// Its name in the settings.
    pub name: String,
    /// Whether it has a server now.
    pub state: State,
    /// Calls to its server since the daemon's start.
    pub calls: u64,
    /// How many of them had no answer.
    pub failures: u64,
    /// Asks that an earlier answer served.
    pub cached: u64,
}

/// What a resolver is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no connection; the next ask makes one.
    Idle,
    /// There is a connection.
    Running,
    /// It failed too often and is left alone.
    Broken {
        /// Milliseconds until one ask tries it again.
        for_ms: u64,
    },
}

impl Resolver {
    /// A resolver that has connected to nothing yet.
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
        // Counts and flights stay usable whatever panicked.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the server knows of an entity; who asks the same at the same time shares the answer. A
    /// call that has begun runs to its end even if nobody waits for it any more.
    pub async fn resolve(self: &Arc<Self>, question: &Question, kind: &str, name: &str) -> Outcome {
        match self.in_flight_call(question, kind, name) {
            Ok(in_flight_call) => in_flight_call.await,
            Err(outcome) => outcome,
        }
    }

    /// Lets the server end; the resolver is of no more use.
    pub fn stop(&self) {
        self.connector.stop();
    }

    /// Ends the server and returns when its process is gone.
    pub async fn close(&self) {
        self.connector.close().await;
    }

    /// How it does.
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

    /// The call for an entity: one on its way, or a new one.
    ///
    /// # Errors
    /// The outcome, when no call is needed or possible.
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

    /// One call, and what is learnt from how it went.
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

    /// What a server refuses is not asked again for as long as a broken one is left alone.
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

    /// Waits for its turn and for the server, and asks it.
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
            // It may have ended since its last call: that is no failure, a new one is made.
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

    /// Calls the tool. A server that ended is given up, and so is one that does not answer; but one
    /// that became ready for this very ask had less than its time, and may be slow with its first
    /// answer: it gets another chance.
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

/// One entity, and until when its answer is waited for.
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
