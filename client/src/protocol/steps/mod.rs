//! Wire types of steps: tool results and the names that refer to them.

mod extract;
mod inspect;
mod record;
mod resolve;

pub use extract::{
    Extractor, FieldMapping, ListExtractorsArgs, ListExtractorsReply, RegisterExtractorArgs,
    RegisterExtractorReply, RegisterFieldMappingArgs, RegisterFieldMappingReply, Scope,
};
pub use inspect::{GetStepArgs, GetStepReply, ListStepsArgs, ListStepsReply, StepSummary};
pub use record::{RecordStepArgs, RecordStepReply};
pub use resolve::{
    Reason, Resolution, ResolveParametersArgs, ResolveParametersReply, ResolveVariablesArgs,
    ResolveVariablesReply, Strategy, Unresolved,
};
