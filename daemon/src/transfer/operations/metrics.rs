//! `metrics`.

use lore::protocol::sessions::{MetricsArgs, MetricsPoint, MetricsReply};

use crate::clock::format_time;
use crate::error::Refusal;
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::read_context::{Read, ReadContext};
use crate::sessions::{Line, SessionSettings};
use crate::{entities, messages, packs};

const LIMIT: u64 = 1000;
const LIMIT_MAX: u64 = 10_000;

/// `metrics`.
pub struct Metrics;

impl Op for Metrics {
    type Args = MetricsArgs;
    type Reply = MetricsReply;
    const NAME: &'static str = "metrics";
    const TITLE: &'static str = "Metrics of a session";
    const DESCRIPTION: &'static str = "Returns the context size, entity count and token use of a session over the last hour, \
        message by message, with their current values.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<MetricsArgs>) -> Result<MetricsReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let limit = args.limit.unwrap_or(LIMIT);
        if !(1..=LIMIT_MAX).contains(&limit) {
            return Err(Refusal::invalid(format!(
                "`limit`: got {limit}, expected 1 to {LIMIT_MAX}"
            )));
        }
        let keep_ms = args
            .since_ms
            .unwrap_or(SessionSettings::of(&cx).metrics_keep_ms);
        let now = cx.engine.clock().now();
        let since = now.saturating_sub(keep_ms.saturating_mul(1000));
        let read = ReadContext::of(&args).open(cx, caller).await?;
        blocking(move || {
            let (state, lines) = (&read.state, read.lines()?);
            let points = packs::series(state, &state.log(), &lines, since, limit as usize)?;
            let Gauges {
                context_size,
                entity_count,
                token_usage,
            } = Gauges::of(&read, &lines)?;
            let known = entities::known_since(state, &lines)?;
            let point = |point: packs::Point| MetricsPoint {
                position: point.position,
                at: format_time(point.at),
                context_size: point.context_size,
                entity_count: known.partition_point(|at| *at <= point.position) as u64,
                token_usage: point.tokens,
            };
            Ok(MetricsReply {
                session: read.session_id()?,
                context_size,
                entity_count,
                token_usage,
                points: points.into_iter().map(point).collect(),
                position: state.position(),
                durable: read.durable(),
                chosen_by: None,
                warnings: Vec::new(),
            })
        })
        .await
    }
}

/// Current measurements of a session.
struct Gauges {
    context_size: u64,
    entity_count: u64,
    token_usage: u64,
}

impl Gauges {
    fn of(read: &Read, lines: &[Line]) -> Result<Self, Refusal> {
        let rows = &read.state;
        Ok(Self {
            context_size: packs::context_size(rows, lines)?,
            entity_count: entities::count(rows, lines)?,
            token_usage: messages::totals(rows, lines)?.tokens_total(),
        })
    }
}
