//! The `search` operation, over all kinds.

use std::ops::Range;

use lore::protocol::search::{SearchArgs, SearchReply};
use lored_retrieval::text::Kind;

use super::documents::K;
use super::given::{document_filter, fusing, mode};
use super::readable::readable;
use super::result::kind_of;
use super::result_page::{Page, answer};
use crate::documents::operations::page_size;
use crate::error::{Code, Refusal};
use crate::hint::{Tool, hint};
use crate::operation::cursor::List;
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::search::dates;
use crate::search::request::{RESULTS, RESULTS_MAX, SearchRequest};
use crate::sessions;
use crate::state::State;
use crate::trust::operations::origin_of;

/// The `search` operation.
pub struct Search;

impl Op for Search {
    type Args = SearchArgs;
    type Reply = SearchReply;
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search everything";
    const DESCRIPTION: &'static str =
        "Searches everything: documents, messages, tool results, context files, checkpoints.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<SearchArgs>) -> Result<SearchReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let document_filter = document_filter(args.filters.unwrap_or_default())?;
        let kinds: Vec<Kind> = match args.kinds.is_empty() {
            true => Kind::ALL.to_vec(),
            false => args.kinds.iter().map(|kind| kind_of(*kind)).collect(),
        };
        let state = State::live(&cx, args.at_least).await?;
        if let Some(session) = &args.session
            && !sessions::exists(&state, session.as_str())?
        {
            return Err(Refusal::new(
                Code::SessionNotFound,
                format!("session `{}` not found", session.as_str()),
            )
            .hint(hint![Tool::ListSessions, " lists them."]));
        }
        let project = sessions::named_project(&cx, &state, &caller, args.project)?;
        let now = cx.engine.clock().now() / 1_000_000;
        let is_narrowed = project.is_some() || args.session.is_some() || document_filter.is_some();
        let ask = SearchRequest {
            period: period(args.since.as_deref(), args.until.as_deref())?,
            named_days: dates::named_in(&args.query, now),
            first: caller.project.clone().filter(|_| !is_narrowed),
            folder: caller.dir.clone(),
            query: args.query,
            mode: mode(args.search_type.unwrap_or_default()),
            kinds,
            origins: args.origins.iter().map(|one| origin_of(*one)).collect(),
            agents: args.agents,
            is_likely_only: false,
            session: args.session.map(|session| session.as_str().to_owned()),
            project,
            document_filter,
            most: page_size("max_results", args.max_results, RESULTS, RESULTS_MAX)?,
            fusing: fusing(args.fusion.unwrap_or_default()),
            k: args.k.unwrap_or(K) as f64,
            explain: args.explain.unwrap_or(false),
            include_content: args.include_content.unwrap_or(false),
        };
        let page = Page {
            next: args.next,
            list: List::Everything,
        };
        answer(cx, state, ask, page).await
    }

    fn readable(reply: &SearchReply) -> Option<String> {
        let has_content = reply.results.iter().any(|result| result.content.is_some());
        Some(readable(reply, has_content))
    }
}

/// Converts `since` and `until` to a period in seconds; `None` without either.
fn period(since: Option<&str>, until: Option<&str>) -> Result<Option<Range<u64>>, Refusal> {
    let read = |name: &str, text: Option<&str>, parse: fn(&str) -> Option<u64>, open: u64| {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Ok(open);
        };
        parse(text).ok_or_else(|| {
            Refusal::invalid(format!(
                "`{name}` is `{text}`; expected a date such as `2026-11-21` or a time such as \
                 `2026-11-21T10:00:00Z`"
            ))
        })
    };
    let start = read("since", since, dates::start, 0)?;
    let end = read("until", until, dates::end, u64::MAX)?;
    if start >= end {
        return Err(Refusal::invalid("`since` is after `until`"));
    }
    Ok((since.is_some() || until.is_some()).then_some(start..end))
}
