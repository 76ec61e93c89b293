//! All resolvers: queried in turn, ordered by name, until one knows the entity.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;

use super::phrases::quoted;
use super::resolver::{Outcome, Resolver};
use super::{Candidate, ProcessBroker, ResolverStatus, Settings};

/// Limit on a looked-up name, in bytes.
const NAME_BYTES_MAX: usize = 1024;

/// The configured MCP servers that identify names. Drop ends their processes; [`Resolvers::close`] also waits until
/// they have ended.
pub struct Resolvers {
    resolvers: Vec<Arc<Resolver>>,
}

/// Result of resolving an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A resolver knows the entity.
    Found {
        /// The resolver's answer.
        candidate: Arc<Candidate>,
        /// Name of the resolver.
        resolver: String,
        /// Whether the answer is cached.
        cached: bool,
    },
    /// All resolvers answered that they do not know it.
    Nothing,
    /// No resolver is configured for this kind.
    NoResolver,
    /// No resolver knows it, and at least one did not answer: a sentence for the caller.
    Failed(String),
}

impl Resolvers {
    /// Creates the resolvers by name; servers are started at their first lookup. Without a process broker, servers that
    /// are programs cannot be started.
    #[must_use]
    pub fn new(settings: BTreeMap<String, Settings>, broker: Option<Arc<ProcessBroker>>) -> Self {
        let resolver = |(name, settings)| Arc::new(Resolver::new(name, settings, broker.clone()));
        Self {
            resolvers: settings.into_iter().map(resolver).collect(),
        }
    }

    /// Returns whether new entities of this kind are resolved in the background.
    #[must_use]
    pub fn is_auto(&self, kind: &str) -> bool {
        self.resolvers
            .iter()
            .any(|resolver| resolver.settings.auto && resolver.settings.kinds.contains_key(kind))
    }

    /// Resolves an entity, within the timeout of each resolver that is asked. Must be called within the runtime.
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
                // The first failure is reported; another server's "not found" does not clear it.
                Outcome::Nothing | Outcome::Failed(_) => {}
            }
        }
        resolution
    }

    /// Returns the status of each resolver, by name.
    #[must_use]
    pub fn status(&self) -> Vec<ResolverStatus> {
        let status = |resolver: &Arc<Resolver>| resolver.status();
        self.resolvers.iter().map(status).collect()
    }

    /// Ends all servers, and waits until their processes have ended. No lookups are possible afterwards.
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
