//! The operations on steps.

mod inspect;
mod record;
mod register;
mod resolve;

pub(crate) use record::{PURPOSE_BYTES_MAX, prepare as prepare_step};

pub(crate) use super::command::{RecordStep as StepCommand, STEP_MAX};
use crate::error::{Code, Refusal};
use crate::operation::{Operation, blocking};
use crate::read_context::{Read, ReadContext};
use crate::sessions::newest_with;
use crate::steps;
use crate::steps::history::{On, StepReadError};
use crate::store::Error;

/// Operations on steps, for the operation table.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<record::RecordStep>(),
    Operation::of::<resolve::ResolveVariables>(),
    Operation::of::<resolve::ResolveParameters>(),
    Operation::of::<inspect::GetStep>(),
    Operation::of::<inspect::ListSteps>(),
    Operation::of::<register::ListExtractors>(),
    Operation::of::<register::RegisterExtractor>(),
    Operation::of::<register::RegisterFieldMapping>(),
];

/// Returns the newest session of the project that has these steps, if the read one is the caller's own and so gets no
/// values of another session.
fn elsewhere(read: &Read, steps: &[u32]) -> Result<Option<String>, Error> {
    if !read.is_own {
        return Ok(None);
    }
    let wanted = steps::content(steps.to_vec());
    let project = read.project.as_deref();
    newest_with(&read.state, project, Some(&read.session), &wanted)
}

/// Tries a read on the event loop, and repeats it on a blocking thread if it would take too long.
async fn quick_or_blocking<T: Send + 'static>(
    read: Read,
    answer: impl Fn(&Read, On) -> Result<T, StepReadError> + Send + 'static,
) -> Result<T, Refusal> {
    match answer(&read, On::EventLoop) {
        Err(StepReadError::TooLong) => {
            blocking(move || refuse_unread(answer(&read, On::Thread))).await
        }
        answered => refuse_unread(answered),
    }
}

fn refuse_unread<T>(answered: Result<T, StepReadError>) -> Result<T, Refusal> {
    answered.map_err(|unread| match unread {
        StepReadError::Fault(error) => error.into(),
        StepReadError::Refused(refusal) => refusal,
        // Only reads on the event loop have a limit.
        StepReadError::TooLong => {
            Refusal::new(Code::Internal, "a read gave up on a thread of its own")
        }
    })
}
