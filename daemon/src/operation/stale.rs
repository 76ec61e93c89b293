//! Writes that are prepared before they are queued, and again when their inputs have changed meanwhile.

use std::future::Future;

use crate::error::Refusal;

/// Maximum number of attempts for a write.
const ATTEMPTS_MAX: usize = 5;

/// Prepares and submits a write until the writer does not refuse it as stale.
///
/// # Errors
/// The refusal of `attempt`; its last refusal when the write is stale every time.
pub async fn while_stale<T, F>(attempt: impl Fn() -> F) -> Result<T, Refusal>
where
    F: Future<Output = Result<T, Refusal>>,
{
    let mut result = attempt().await;
    for _ in 1..ATTEMPTS_MAX {
        match result {
            Err(refusal) if refusal.is_stale => result = attempt().await,
            _ => break,
        }
    }
    result
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::cell::Cell;

    use futures_util::FutureExt;

    use super::*;
    use crate::error::Code;

    fn attempts_of(refusal: impl Fn(usize) -> Option<Refusal>) -> (usize, Result<(), Refusal>) {
        let attempts = Cell::new(0);
        let result = while_stale(|| {
            attempts.set(attempts.get() + 1);
            std::future::ready(refusal(attempts.get()).map_or(Ok(()), Err))
        });
        let result = result.now_or_never().unwrap();
        (attempts.get(), result)
    }

    #[test]
    fn only_stale_writes_are_prepared_again() {
        let conflict = || Refusal::new(Code::Conflict, "changed");
        let stale = |attempt| (attempt < 3).then(|| conflict().stale());
        assert_eq!(attempts_of(stale), (3, Ok(())));
        let always = |_| Some(conflict().stale());
        assert_eq!(attempts_of(always), (5, Err(conflict().stale())));
        assert_eq!(attempts_of(|_| Some(conflict())), (1, Err(conflict())));
    }
}
