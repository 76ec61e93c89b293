//! Locks that stay usable after a panic.
//!
//! A panic ends one call; it must not fail every later call that needs the same lock. So a poisoned lock is used as
//! it is. Each holder therefore keeps its data consistent wherever it may panic: a change is one assignment, one
//! insertion or one removal, or it is complete before anything that may panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if another thread panicked while holding it.
pub fn lock_unpoisoned<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// Returns the guard of a lock, even if another thread panicked while holding it. For other locks than a mutex, and
/// for condition variables.
pub fn unpoisoned<T>(locked: Result<T, PoisonError<T>>) -> T {
    locked.unwrap_or_else(PoisonError::into_inner)
}
