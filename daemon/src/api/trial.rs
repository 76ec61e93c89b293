//! Operations for tests of the doors alone: they give back what came, in every shape of a reply.

use std::sync::Arc;

use lore::protocol::{Meta, Position, RawJson, RawObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::operation::{Access, Caller, Context, Op, Operation};

/// The lines of the table.
pub const OPERATIONS: &[Operation] = &[Operation::of::<Echo>(), Operation::of::<List>()];

/// Arguments of both.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialArgs {
    /// What is given back.
    object: RawObject,
}

/// An object, with what is said beside it.
#[derive(Serialize, JsonSchema)]
pub struct EchoReply {
    object: RawJson,
    #[serde(skip)]
    meta: Option<Meta>,
}

/// A list.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ListReply(Vec<RawJson>);

/// Gives an object back.
pub struct Echo;

impl Op for Echo {
    type Args = TrialArgs;
    type Reply = EchoReply;
    const NAME: &'static str = "trial_echo";
    const TITLE: &'static str = "Echo";
    const SENTENCE: &'static str = "Gives an object back.";
    const ACCESS: Access = Access::Write;
    const IS_DESTRUCTIVE: bool = true;
    const RESULT_CHARS_MAX: Option<u64> = Some(500_000);

    fn meta(reply: &EchoReply) -> Option<Meta> {
        reply.meta.clone()
    }

    async fn call(_: Arc<Context>, caller: Caller, args: TrialArgs) -> Result<EchoReply, Refusal> {
        Ok(EchoReply {
            object: raw(args.object)?,
            meta: Some(Meta {
                position: Position(7),
                durable: true,
                project: caller.project,
                warnings: vec!["beside".to_owned()],
                total: None,
            }),
        })
    }
}

/// Gives a list of one object back.
pub struct List;

impl Op for List {
    type Args = TrialArgs;
    type Reply = ListReply;
    const NAME: &'static str = "trial_list";
    const TITLE: &'static str = "List";
    const SENTENCE: &'static str = "Gives an object back in a list.";
    const ACCESS: Access = Access::Read;
    const WRAPPED_AS: Option<&'static str> = Some("items");

    fn meta(reply: &ListReply) -> Option<Meta> {
        Some(Meta {
            position: Position(7),
            durable: true,
            project: None,
            warnings: Vec::new(),
            total: Some(reply.0.len() as u64),
        })
    }

    async fn call(_: Arc<Context>, _: Caller, args: TrialArgs) -> Result<ListReply, Refusal> {
        Ok(ListReply(vec![raw(args.object)?]))
    }
}

fn raw(object: RawObject) -> Result<RawJson, Refusal> {
    RawJson::parse(object.into_string()).map_err(|error| Refusal::invalid(error.to_string()))
}
