//! Values of steps that a text refers to by name: `ID_FROM_STEP_2` and its kin.

use super::history::{On, SessionSteps, StepReadError};
use super::names;
use super::resolve::{Resolution, Resolver};
use crate::error::{Code, Refusal};
use crate::operation::Context;
use crate::state::State;

/// The extractors that reach a session, as a hash: with the session's own steps it decides what a name
/// stands for.
///
/// # Errors
/// When the registrations cannot be read.
pub fn extractors_hash(cx: &Context, state: &State, session: &str) -> Result<[u8; 32], Refusal> {
    Ok(SessionSteps::of(cx, state, session, On::Thread)?.set.hash())
}

/// What each of these words stands for that is a name, as resolved in a session. Results are read: off
/// the event loop.
///
/// # Errors
/// When a step cannot be read.
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
        // Nothing is too long on a thread.
        StepReadError::TooLong => {
            Refusal::new(Code::Internal, "a read gave up on a thread of its own")
        }
    }
}
