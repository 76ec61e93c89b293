//! Values of steps that a text references by variable name, such as `ID_FROM_STEP_2`.

use super::history::{On, SessionSteps, StepReadError};
use super::names;
use super::resolve::{Resolution, Resolver};
use crate::error::{Code, Refusal};
use crate::operation::Context;
use crate::state::State;

/// Returns the hash of the extractors that apply to a session.
///
/// The hash and the session's own steps determine the value of a variable name.
pub fn extractors_hash(cx: &Context, state: &State, session: &str) -> Result<[u8; 32], Refusal> {
    Ok(SessionSteps::of(cx, state, session, On::Thread)?.set.hash())
}

/// Resolves the words that are variable names, in the context of a session.
///
/// Reads results, so it must run off the event loop.
pub fn resolved<'w>(
    cx: &Context,
    state: &State,
    session: &str,
    words: impl IntoIterator<Item = &'w str>,
) -> Result<Vec<Resolution>, Refusal> {
    let steps = SessionSteps::of(cx, state, session, On::Thread)?;
    let resolver = Resolver {
        history: &steps,
        set: &steps.set,
        current_step: None,
        all_values: false,
        explain: false,
    };
    words
        .into_iter()
        .filter(|word| names::parse(word, &steps.set).is_ok())
        .map(|word| resolver.resolve(word).map_err(refused))
        .collect()
}

fn refused(unread: StepReadError) -> Refusal {
    match unread {
        StepReadError::Fault(error) => error.into(),
        StepReadError::Refused(refusal) => refusal,
        // Only reads on the event loop have a limit.
        StepReadError::TooLong => {
            Refusal::new(Code::Internal, "a read gave up on a thread of its own")
        }
    }
}
