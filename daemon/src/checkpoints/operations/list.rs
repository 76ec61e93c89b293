//! `workflow_checkpoint_list`.

use std::ops::ControlFlow;

use lore::protocol::checkpoints::{ListArgs, ListReply, Listed};

use super::{StoredCheckpoint, meta_of_read, state_as_of};
use crate::checkpoints;
use crate::checkpoints::feature::Checkpoints;
use crate::checkpoints::metadata::Metadata;
use crate::checkpoints::values::Values;
use crate::checkpoints::view::{self, CheckpointRow};
use crate::clock::format_time;
use crate::error::Refusal;
use crate::hint::{arg, hint};
use crate::operation::cursor::page_limit;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::sessions::operations::session_id;
use crate::sessions::{self, SessionSelector};
use crate::state::State;
use crate::store::Direction;

const LIMIT: u64 = 20;
const LIMIT_MAX: u64 = 100;

pub struct List;

impl Op for List {
    type Args = ListArgs;
    type Reply = ListReply;
    const NAME: &'static str = "workflow_checkpoint_list";
    const TITLE: &'static str = "List checkpoints";
    const DESCRIPTION: &'static str = "Lists metadata of a session's checkpoints, newest first, to find one to resume from. Filters \
        by tags, name or words.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;
    const WRAPPED_AS: Option<&'static str> = Some("checkpoints");

    async fn call(call: Call<ListArgs>) -> Result<ListReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let limit = page_limit(args.limit, LIMIT, LIMIT_MAX);
        let limit = limit
            .map_err(|refusal| refusal.hint(hint!["Use ", arg("offset"), " for the next page."]))?;
        let state = State::live(&cx, args.at_least).await?;
        let selector = SessionSelector::of(&caller, args.session_id.as_ref());
        let now = cx.engine.clock().now();
        let session = selector.find(&state, &caller.actor, now, &checkpoints::content())?;
        let session = session_id(&session)?;
        let event_lookup = args.as_of.clone().map(|as_of| (&session, as_of));
        let state = state_as_of(&cx, args.at_least, event_lookup).await?;
        sessions::find(&state, session.as_str())?;
        blocking(move || page(&cx, &state, session.as_str(), &args, limit as u64)).await
    }
}

/// The filters of a list.
struct Filter {
    tags: Vec<String>,
    name: Option<String>,
    words: Vec<String>,
}

impl Filter {
    fn of(args: &ListArgs) -> Self {
        let query = args.query.as_deref().unwrap_or_default().to_lowercase();
        Self {
            tags: args.tags.clone(),
            name: args.name.clone(),
            words: query.split_whitespace().map(str::to_owned).collect(),
        }
    }

    fn is_any(&self) -> bool {
        !self.tags.is_empty() || self.name.is_some() || !self.words.is_empty()
    }

    fn takes(&self, metadata: &Metadata) -> bool {
        self.tags.iter().all(|tag| metadata.tags.contains(tag))
            && (self.name.is_none() || self.name == metadata.name)
            && metadata.has_words(&self.words)
    }
}

fn page(
    cx: &Context,
    state: &State,
    session: &str,
    args: &ListArgs,
    limit: u64,
) -> Result<ListReply, Refusal> {
    let filter = Filter::of(args);
    let offset = args.offset.unwrap_or(0);
    let marks: Vec<String> = view::critical_keys(state, session)?
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    let mut total = 0;
    let mut checkpoints = Vec::new();
    let log = state.log();
    for line in sessions::lineage(state, session)? {
        let session = &line.session;
        view::walk(
            state,
            session,
            line.before(),
            Direction::Backward,
            &mut |row: CheckpointRow| {
                let is_on_page = (offset..offset.saturating_add(limit)).contains(&total);
                if filter.is_any() || is_on_page {
                    let found = StoredCheckpoint::at(&log, session.clone(), row)?;
                    let metadata = found.metadata()?;
                    if filter.takes(&metadata) {
                        if is_on_page {
                            checkpoints.push((found, metadata));
                        }
                        total += 1;
                    }
                } else {
                    total += 1;
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
    }
    let values = Values::of(cx, state);
    let listed = |(found, metadata): (StoredCheckpoint, Metadata)| {
        let mut critical_keys = marks.clone();
        if !marks.is_empty() {
            // A damaged checkpoint is listed with the keys that were critical when it was saved.
            let keys = values.keys(&found.manifest);
            let keys = keys.unwrap_or_else(|_| found.manifest.critical.clone());
            critical_keys.retain(|mark| keys.contains(mark));
        }
        Ok(Listed {
            checkpoint_id: found.checkpoint_id()?,
            session_id: found.session_id()?,
            created_at: format_time(found.event.header.happened_at()),
            size_bytes: found.row.stored_bytes,
            metadata: metadata.published(&found.event, &found.row.hash, found.row.stored_bytes),
            critical_keys,
        })
    };
    let checkpoints: Result<Vec<Listed>, Refusal> = checkpoints.into_iter().map(listed).collect();
    let warning = Checkpoints::of(cx)?.clean_up_warning(state, session)?;
    let mut meta = meta_of_read(cx, state, warning.into_iter().collect());
    meta.total = Some(total);
    Ok(ListReply {
        checkpoints: checkpoints?,
        meta: Some(meta),
    })
}
