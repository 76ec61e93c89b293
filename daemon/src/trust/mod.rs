//! Trust: which recorded texts give orders to a model, claim an identity or rewrite facts, and what people say about
//! them.
//!
//! A text is scanned when it is recorded, before the writer; what is found is part of its event, and this view lists such
//! events for people. When a text is to be given to a model, it is scanned again, because the rules improve: a judgement of
//! a person wins over both.

pub mod operations;
mod scanned;
mod view;

pub use scanned::{of_step, suspicions};
pub use view::{
    SPACE, SuspectRow, apply, forget, forget_outside, is_left_out, is_undone, judgement,
    last_judgement, suspects,
};
