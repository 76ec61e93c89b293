//! The review of suspicious texts by people: a list of what was found, and judgements.

mod command;
pub mod operations;

// For the engine's tests, which decide real commands.
#[cfg(test)]
pub(crate) mod decided {
    pub(crate) use super::command::RecordJudgement;
}
