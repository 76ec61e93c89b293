//! A value that can be replaced while it is in use, for example settings after a reload.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;

/// A reloadable value, shared by all clones. Code that has read the value keeps the old one.
pub struct Reloadable<T>(Arc<watch::Sender<Arc<T>>>);

impl<T> Reloadable<T> {
    /// Creates it with an initial value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(watch::Sender::new(Arc::new(value))))
    }

    /// Returns the current value.
    #[must_use]
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.borrow())
    }

    /// Replaces the value for later readers.
    pub fn set(&self, value: T) {
        self.0.send_replace(Arc::new(value));
    }

    /// Returns a receiver that is notified of each later replacement.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Arc<T>> {
        self.0.subscribe()
    }
}

impl<T> Clone for Reloadable<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Reloadable<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Reloadable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// Result of the last reload of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastReload {
    /// The settings file.
    pub file: PathBuf,
    /// Reason why the file was rejected; the previous settings remain in force.
    pub fault: Option<String>,
    /// Keys whose new values take effect at the next start.
    pub waiting: Vec<String>,
}

impl LastReload {
    /// Returns warnings for users, as sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let fault = self.fault.iter().map(|fault| {
            format!("the settings were not taken, those before are still in force: {fault}")
        });
        let waiting = (!self.waiting.is_empty()).then(|| {
            let keys = self.waiting.join(", ");
            format!("these settings have changed and act at the next start: {keys}")
        });
        fault.chain(waiting).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn who_took_the_old_value_keeps_it() {
        let live = Reloadable::new(1);
        let (other, before, changes) = (live.clone(), live.get(), live.changes());
        assert!(!changes.has_changed().unwrap());
        other.set(2);
        assert_eq!((*before, *live.get()), (1, 2));
        assert!(changes.has_changed().unwrap());
    }

    #[test]
    fn what_waits_and_what_is_wrong_is_said() {
        assert!(LastReload::default().warnings().is_empty());
        let read = LastReload {
            file: "config.toml".into(),
            fault: Some("config.toml:1:1: no".to_owned()),
            waiting: vec!["engine.reserve_bytes".to_owned()],
        };
        let reported = read.warnings().join("\n");
        assert!(
            reported.contains("config.toml:1:1: no") && reported.contains("engine.reserve_bytes")
        );
    }
}
