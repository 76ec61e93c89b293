//! Wakes the background jobs of an idle daemon when something is read or recorded, so that they need no timer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// Time after a start in which background jobs read what they need. These reads do not count as use of the store.
pub const AFTER_START: Duration = Duration::from_secs(2);

/// Whether a store is used.
#[derive(Debug)]
pub(super) struct Activity {
    /// Something happened, and no listener has begun to wait since.
    is_active: AtomicBool,
    happened: watch::Sender<()>,
}

impl Default for Activity {
    fn default() -> Self {
        Self {
            is_active: AtomicBool::new(false),
            happened: watch::Sender::new(()),
        }
    }
}

impl Activity {
    /// Notes that something was read or recorded. Only the first time after a listener began to wait costs anything.
    pub fn note(&self) {
        // Nearly always it is set, and then no processor takes it from another.
        if !self.is_active.load(Ordering::SeqCst) && !self.is_active.swap(true, Ordering::SeqCst) {
            self.happened.send_replace(());
        }
    }

    /// Returns a listener to which nothing has happened yet.
    pub fn listen(self: &Arc<Self>) -> ActivityListener {
        ActivityListener {
            activity: Arc::clone(self),
            happened: self.happened.subscribe(),
        }
    }
}

/// One background job that waits for activity.
#[derive(Debug)]
pub struct ActivityListener {
    activity: Arc<Activity>,
    happened: watch::Receiver<()>,
}

impl ActivityListener {
    /// Counts as nothing what happened until now.
    pub fn forget(&mut self) {
        self.announce();
        self.happened.mark_unchanged();
    }

    /// Waits until something was read or recorded after the last return of this function. It may return early, but what
    /// happens is never missed.
    pub async fn next(&mut self) {
        self.announce();
        // The sender is alive, because this listener holds it.
        if self.happened.changed().await.is_err() {
            std::future::pending().await
        }
    }

    /// Wakes all listeners for what happened while the flag was set, because it woke none.
    fn announce(&self) {
        if self.activity.is_active.swap(false, Ordering::SeqCst) {
            self.activity.happened.send_replace(());
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn is_ready(listener: &mut ActivityListener) -> bool {
        listener.next().now_or_never().is_some()
    }

    /// Each listener learns of each use, whichever of them waits first.
    #[test]
    fn no_use_is_missed_by_any_listener() {
        let activity = Arc::new(Activity::default());
        let (mut one, mut other) = (activity.listen(), activity.listen());
        assert!(!is_ready(&mut one) && !is_ready(&mut other));
        activity.note();
        assert!(is_ready(&mut one));
        // The flag is still set, so this one is announced by the next listener that waits.
        activity.note();
        assert!(is_ready(&mut other));
        assert!(is_ready(&mut one));
        assert!(!is_ready(&mut one) && !is_ready(&mut other));
        activity.note();
        one.forget();
        assert!(!is_ready(&mut one) && is_ready(&mut other));
    }

    #[tokio::test]
    async fn a_use_ends_a_wait() {
        let activity = Arc::new(Activity::default());
        let mut listener = activity.listen();
        let waiting = tokio::spawn(async move { listener.next().await });
        tokio::task::yield_now().await;
        activity.note();
        waiting.await.expect("the wait ends");
    }
}
