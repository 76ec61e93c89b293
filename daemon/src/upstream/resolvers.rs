//! All resolvers: asked one after the other, in the order of their names, until one knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;

use super::phrases::quoted;
use super::resolver::{Outcome, Resolver};
use super::{Candidate, ProcessBroker, ResolverStatus, Settings};

/// The longest name that is asked for, in bytes.
const NAME_BYTES_MAX: usize = 1024;

/// What the configured MCP servers say of names. Dropping it ends their processes; [`Resolvers::close`]
/// also waits until they are gone.
pub struct Resolvers {
    resolvers: Vec<Arc<Resolver>>,
}

/// What the resolvers know of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// One of them knows it.
    Found {
        /// What it says.
        candidate: Arc<Candidate>,
        /// Its name.
        resolver: String,
        /// Whether the answer was given to an earlier ask.
        cached: bool,
    },
    /// All who were asked answered that there is none.
    Nothing,
    /// No resolver is asked for this kind.
    NoResolver,
    /// Nobody knows it, and somebody did not answer: a sentence for the caller.
    Failed(String),
}

impl Resolvers {
    /// Resolvers by their names; no server is started before it is asked. Without a starter those that
    /// are programs cannot be.
    #[must_use]
    pub fn new(settings: BTreeMap<String, Settings>, broker: Option<Arc<ProcessBroker>>) -> Self {
        let resolver = |(name, settings)| Arc::new(Resolver::new(name, settings, broker.clone()));
        Self {
            resolvers: settings.into_iter().map(resolver).collect(),
        }
    }

    /// Whether new entities of this kind are to be resolved in the background.
    #[must_use]
    pub fn is_auto(&self, kind: &str) -> bool {
        self.resolvers
            .iter()
            .any(|resolver| resolver.settings.auto && resolver.settings.kinds.contains_key(kind))
    }

    /// What an entity is, within the time-out of each resolver that is asked. Must be called within
    /// the runtime.
    pub async fn resolve(&self, kind: &str, name: &str) -> Resolution {
        let mut resolution = Resolution::NoResolver;
        for resolver in &self.resolvers {
            let Some(question) = resolver.settings.kinds.get(kind) else {
                continue;
            };
            if name.trim().is_empty() || name.len() > NAME_BYTES_MAX {
                return Resolution::Failed(format!(
                    "the name of a {kind} is from 1 to {NAME_BYTES_MAX} bytes long; this one stays \
                     unresolved"
                ));
            }
            match resolver.resolve(question, kind, name).await {
                Outcome::Found { candidate, cached } => {
                    return Resolution::Found {
                        candidate,
                        resolver: resolver.name.clone(),
                        cached,
                    };
                }
                Outcome::Nothing if resolution == Resolution::NoResolver => {
                    resolution = Resolution::Nothing;
                }
                Outcome::Failed(said) if !matches!(resolution, Resolution::Failed(_)) => {
                    resolution = Resolution::Failed(format!(
                        "the resolver {} {said}; the {kind} \"{}\" stays unresolved",
                        resolver.name,
                        quoted(name)
                    ));
                }
                // The first failure is told; a server that knows none does not heal it.
                Outcome::Nothing | Outcome::Failed(_) => {}
            }
        }
        resolution
    }

    /// How each of them does, by name.
    #[must_use]
    pub fn status(&self) -> Vec<ResolverStatus> {
        let status = |resolver: &Arc<Resolver>| resolver.status();
        self.resolvers.iter().map(status).collect()
    }

    /// Ends all servers, and returns when their processes are gone. Nothing can be asked after it.
    pub async fn close(&self) {
        join_all(self.resolvers.iter().map(|resolver| resolver.close())).await;
    }
}

impl Drop for Resolvers {
    fn drop(&mut self) {
        for resolver in &self.resolvers {
            resolver.stop();
        }
    }
}
