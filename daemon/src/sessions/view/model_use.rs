//! What the models that a host called took, as the host counts it.

use super::SPACE;
use crate::events::capture::ObservationDetails;
use crate::rows::{self, key_in};
use crate::store::{Error, Rows, RowsMut};

/// The tag of the rows.
pub(super) const TAG: u8 = b'y';

/// The calls of one model, with the tokens of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelUse {
    /// Number of calls.
    pub calls: u64,
    /// Tokens of the requests.
    pub input: u64,
    /// Tokens of the answers.
    pub output: u64,
    /// Tokens of the requests that came from the provider's cache.
    pub cache_read: u64,
    /// Tokens of the requests that were put into the cache.
    pub cache_written: u64,
}

impl ModelUse {
    const fn numbers(&self) -> [u64; 5] {
        [
            self.calls,
            self.input,
            self.output,
            self.cache_read,
            self.cache_written,
        ]
    }
}

/// Adds a call of a model. An observation without tokens is not counted.
pub(super) fn note(
    rows: &mut dyn RowsMut,
    session: &str,
    call: &ObservationDetails,
) -> Result<(), Error> {
    let Some(tokens) = &call.tokens else {
        return Ok(());
    };
    let key = key_in(TAG, session, call.model.as_deref().unwrap_or_default());
    let mut of_model = rows::read(rows, SPACE, &key, decode)?.unwrap_or_default();
    of_model.calls += 1;
    for (sum, more) in [
        (&mut of_model.input, tokens.input),
        (&mut of_model.output, tokens.output),
        (&mut of_model.cache_read, tokens.cache_read),
        (&mut of_model.cache_written, tokens.cache_written),
    ] {
        // The numbers are a host's.
        *sum = sum.saturating_add(more);
    }
    rows.put(SPACE, &key, &rows::numbers(of_model.numbers(), &[]));
    Ok(())
}

/// Returns the models that were called in a session with what they took, by name, at most `limit`. The name is empty where
/// the host does not say it.
///
/// # Errors
/// When a row cannot be read.
pub fn model_use(
    rows: &dyn Rows,
    session: &str,
    limit: usize,
) -> Result<Vec<(String, ModelUse)>, Error> {
    let prefix = key_in(TAG, session, "");
    rows::list(rows, SPACE, &prefix, limit, |model, value| {
        Some((rows::text(model)?, decode(value)?))
    })
}

fn decode(value: &[u8]) -> Option<ModelUse> {
    let ([calls, input, output, cache_read, cache_written], _) = rows::split(value)?;
    Some(ModelUse {
        calls,
        input,
        output,
        cache_read,
        cache_written,
    })
}
