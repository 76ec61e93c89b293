//! `get_session`.

use lore::protocol::coordination::ContinuedSession;
use lore::protocol::names::word;
use lore::protocol::sessions::{
    GetSessionArgs, GetSessionReply, LeaseHeld, ModelUse, Pruning, TokenUsage, ToolExecution,
};
use serde_json::{Map, Value};

use crate::budget;
use crate::clock::{Micros, format_time};
use crate::entities::{self, most_relevant};
use crate::error::Refusal;
use crate::log::Position;
use crate::messages::{self, Execution, ExecutionKind};
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::read_context::{Read, ReadContext};
use crate::sessions::operations::{parent, session_id};
use crate::sessions::{self, SessionSettings};
use crate::store::Blobs;
use crate::{checkpoints, packs, steps};

/// Maximum number of active entities in the reply.
const ENTITIES_MAX: usize = 10;
/// Maximum number of tool executions in the reply.
const TOOLS_MAX: usize = 20;
/// Maximum number of agents and of leases in the reply.
const NAMES_MAX: usize = 100;
/// Maximum number of models in the reply.
const MODELS_MAX: usize = 50;
/// Longer results are truncated to this size, in bytes.
const RESULT_BYTES_MAX: usize = 2 * 1024;

/// `get_session`.
pub struct GetSession;

impl Op for GetSession {
    type Args = GetSessionArgs;
    type Reply = GetSessionReply;
    const NAME: &'static str = "get_session";
    const TITLE: &'static str = "Show a session";
    const DESCRIPTION: &'static str = "Returns the state of a session: topic, preferences, agents, current entities, the last tools \
        with their results, tokens used.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<GetSessionArgs>) -> Result<GetSessionReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let read = ReadContext::of(&args).open(cx, caller).await?;
        blocking(move || transfer(&read)).await
    }
}

/// Builds the full overview of a session.
pub fn transfer(read: &Read) -> Result<GetSessionReply, Refusal> {
    let Read {
        cx,
        state: rows,
        session,
        looked_at,
        ..
    } = read;
    let now = cx.engine.clock().now();
    let row = sessions::get(rows, session)?
        .ok_or_else(|| Refusal::new(crate::error::Code::Corrupt, "a session without its row"))?;
    let details = sessions::details(rows, session)?;
    let lines = read.lines()?;
    let totals = messages::totals(rows, &lines)?;
    let of_checkpoints = checkpoints::of_session_row(rows, session)?;
    let executions = messages::executions(rows, &rows.log(), &lines, None, TOOLS_MAX)?;
    let preferences = details.preferences.as_deref();
    let [user, assistant, system, tool] = totals.tokens;
    Ok(GetSessionReply {
        session: read.session_id()?,
        state: SessionSettings::of(cx).state(&row, now),
        parent: parent(details.parent.as_ref())?,
        continues: sessions::continued_from(rows, session)?
            .into_iter()
            .map(|one| continued(&one.session, Position(one.position)))
            .collect::<Result<_, _>>()?,
        continued_by: sessions::continued_by(rows, session)?
            .iter()
            .map(|(session, position)| continued(session, *position))
            .collect::<Result<_, _>>()?,
        user: details.user,
        project: row.project,
        title: details.title,
        topic: details.topic,
        tags: details.tags,
        preferences: preferences
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default(),
        agents: sessions::agents(rows, session, NAMES_MAX)?,
        created_at: format_time(row.created_at),
        last_activity: format_time(row.last_activity),
        last_accessed_at: looked_at.map(format_time),
        changed: row.changed.into(),
        messages: totals.messages,
        steps: row.steps + steps::shared_attempts(rows, &lines)?,
        entities: entities::count(rows, &lines)?,
        checkpoints: of_checkpoints.count,
        total_size_bytes: of_checkpoints.bytes,
        active_entities: most_relevant(rows, &lines, &[], ENTITIES_MAX, now)?
            .into_iter()
            .map(|scored| entities::operations::entity(rows, &lines, scored, now))
            .collect::<Result<_, _>>()?,
        last_tool_results: last_results(&executions, &cx.blobs)?,
        tool_history: executions.into_iter().map(execution).collect(),
        token_usage: TokenUsage {
            total: totals.tokens_total(),
            user,
            assistant,
            system,
            tool,
            packs: packs::tokens(rows, session)?,
        },
        models: sessions::model_use(rows, session, MODELS_MAX)?
            .into_iter()
            .map(model_use)
            .collect(),
        context_size: packs::context_size(rows, &lines)?,
        pruning_history: packs::prunings(rows, &lines)?
            .into_iter()
            .map(pruning)
            .collect(),
        leases: leases(read, now)?,
        position: rows.position(),
        durable: read.durable(),
        chosen_by: None,
        warnings: Vec::new(),
    })
}

fn continued(session: &str, position: Position) -> Result<ContinuedSession, Refusal> {
    Ok(ContinuedSession {
        session: session_id(session)?,
        position,
    })
}

fn model_use((model, of_model): (String, sessions::ModelUse)) -> ModelUse {
    ModelUse {
        model: Some(model).filter(|model| !model.is_empty()),
        calls: of_model.calls,
        input: of_model.input,
        output: of_model.output,
        cache_read: of_model.cache_read,
        cache_written: of_model.cache_written,
    }
}

fn pruning(pruned: packs::PruneTotals) -> Pruning {
    let what = &pruned.row.pruned;
    Pruning {
        position: pruned.position,
        at: format_time(pruned.row.at),
        strategy: word(what.strategy),
        tokens_before: what.tokens_before,
        tokens_after: what.tokens_after,
        undone: pruned.is_undone,
    }
}

fn execution(execution: Execution) -> ToolExecution {
    let mut reported = ToolExecution {
        tool: execution.tool,
        status: execution.status.into(),
        at: format_time(execution.at),
        agent: execution.agent,
        position: execution.position,
        step: None,
        attempt: None,
        execution: None,
        message: None,
    };
    match execution.of {
        ExecutionKind::Step { step, attempt } => {
            reported.step = Some(step.into());
            reported.attempt = Some(attempt.into());
        }
        ExecutionKind::Execution(id) => reported.execution = Some(id),
        ExecutionKind::Message(id) => reported.message = Some(id),
    }
    reported
}

/// Returns the last result of each tool, by name.
fn last_results(executions: &[Execution], blobs: &Blobs) -> Result<Map<String, Value>, Refusal> {
    let mut found = Map::new();
    for execution in executions {
        let Some(result) = &execution.result else {
            continue;
        };
        if found.contains_key(&execution.tool) {
            continue;
        }
        let text = budget::passing(|| result.clone().read(blobs))?;
        let shown = text.get(..text.floor_char_boundary(RESULT_BYTES_MAX));
        let whole = (text.len() <= RESULT_BYTES_MAX)
            .then(|| serde_json::from_str(&text).ok())
            .flatten();
        let value = whole.unwrap_or_else(|| Value::from(shown.unwrap_or_default()));
        found.insert(execution.tool.clone(), value);
    }
    Ok(found)
}

fn leases(read: &Read, now: Micros) -> Result<Vec<LeaseHeld>, Refusal> {
    let leases = sessions::leases(&read.state, &read.session, NAMES_MAX)?;
    let held = leases.into_iter().filter(|(_, lease)| lease.holds(now));
    Ok(held
        .map(|(name, lease)| LeaseHeld {
            name,
            agent: lease.agent,
            until: format_time(lease.until),
        })
        .collect())
}
