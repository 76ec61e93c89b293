//! `forget`: by session, project, agent, origin and time.

use std::sync::Arc;

use lore::protocol::AsOf;
use lore::protocol::log::{ForgetArgs, ForgetReply};

use crate::engine::{KeyClaim, Outcome};
use crate::error::Refusal;
use crate::events::forgetting::ContentForgotten;
use crate::forgetting::erasure::finish;
use crate::forgetting::forget_command::{self, EVENTS_MAX};
use crate::forgetting::origin::ContentOrigin;
use crate::forgetting::select::{ForgetSelector, HeldFile, Selection, SelectionContext};
use crate::hint::{arg, hint};
use crate::log::{Log, Position};
use crate::operation::{
    Access, Call, Caller, Context, MemoryBound, Moment, Op, blocking, while_stale,
};
use crate::projects;
use crate::sessions::{self, AccessTimes};

/// The `forget` operation.
pub struct Forget;

impl Op for Forget {
    type Args = ForgetArgs;
    type Reply = ForgetReply;
    const NAME: &'static str = "forget";
    const TITLE: &'static str = "Forget";
    const DESCRIPTION: &'static str = "Forgets data for good: of a session or project, by an agent, between two moments, or from \
        one origin. Its bytes are gone from disk before the reply. The log still verifies. `dry_run` \
        counts and changes nothing.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;
    const IS_DESTRUCTIVE: bool = true;

    async fn call(call: Call<ForgetArgs>) -> Result<ForgetReply, Refusal> {
        let key = call.claim()?;
        let (cx, caller, mut args) = call.into_parts();
        if args.project.is_some() {
            let rows = &cx.read(None).await?.snapshot;
            args.project = sessions::named_project(&cx, rows, &caller, args.project)?;
        }
        let selector = selector(&args)?;
        if args.dry_run == Some(true) {
            let selected = select(&cx, selector).await?;
            let warnings = vec!["a dry run: nothing was forgotten".to_owned()];
            return Ok(unchanged(&cx, selected, warnings));
        }
        let (outcome, kept) = match cx.repeated(&caller, key.as_ref()).await? {
            Some(outcome) => (outcome, Vec::new()),
            None => match forget(&cx, &caller, key, &selector).await? {
                ForgetOutcome::Forgotten(outcome, kept) => (*outcome, kept),
                ForgetOutcome::Nothing(selected) => {
                    let why = match selected.kept.is_empty() {
                        true => "nothing of it is there: nothing was forgotten",
                        false => "nothing was forgotten; `kept` gives the reasons",
                    };
                    return Ok(unchanged(&cx, *selected, vec![why.to_owned()]));
                }
            },
        };
        let warnings = match finish(&cx).await {
            Ok(warnings) => warnings,
            // It is forgotten nevertheless; only its bytes are still on disk.
            Err(refusal) => vec![format!("it is erased from the disk later: {refusal}")],
        };
        reply(&outcome, kept, warnings)
    }
}

/// Outcome of a call.
enum ForgetOutcome {
    /// Content was forgotten; includes the reasons for selected content that stays.
    Forgotten(Box<Outcome>, Vec<String>),
    /// There was nothing to forget.
    Nothing(Box<Selection>),
}

/// Forgets the selected content. The selection runs again when unselected content was recorded meanwhile that would
/// be forgotten with it.
async fn forget(
    cx: &Arc<Context>,
    caller: &Caller,
    key: Option<KeyClaim>,
    selector: &ForgetSelector,
) -> Result<ForgetOutcome, Refusal> {
    let key = &key;
    while_stale(|| async move {
        // What others added to a file after the forgotten versions stays; the text of these does not.
        for file in held_files(cx, selector.clone()).await? {
            let of = (&*file.project, &*file.file_type);
            projects::record_without(cx, of, file.version, file.without).await?;
        }
        let mut selected = select(cx, selector.clone()).await?;
        if selected.is_empty() {
            return Ok(ForgetOutcome::Nothing(Box::new(selected)));
        }
        let kept = std::mem::take(&mut selected.kept);
        let command = forget_command::Forget::new(selected, cx.engine.clock().random());
        let outcome = cx.write(caller, key.clone(), 0, command).await?;
        Ok(ForgetOutcome::Forgotten(Box::new(outcome), kept))
    })
    .await
}

/// Converts the arguments to a selector.
fn selector(args: &ForgetArgs) -> Result<ForgetSelector, Refusal> {
    let moment = |name: &str, as_of: &Option<AsOf>| {
        let moment = as_of.as_ref().map(Moment::of).transpose();
        moment.map_err(|refusal| Refusal {
            message: refusal.message.replace("as_of", name),
            ..refusal
        })
    };
    let is_text = |text: &&String| !text.is_empty();
    let selector = ForgetSelector {
        session: args.session.as_ref().map(ToString::to_string),
        project: args.project.clone().filter(|text| is_text(&text)),
        of_agent: args.of_agent.clone().filter(|text| is_text(&text)),
        origin: args
            .origin
            .as_deref()
            .map(ContentOrigin::parse)
            .transpose()?,
        from: moment("from", &args.from)?,
        to: moment("to", &args.to)?,
        rule: None,
    };
    if selector.is_everything() {
        return Err(
            Refusal::invalid("nothing says what is to be forgotten").hint(hint![
                "Give at least one of ",
                arg("session"),
                ", ",
                arg("project"),
                ", ",
                arg("of_agent"),
                ", ",
                arg("origin"),
                ", ",
                arg("from"),
                " and ",
                arg("to"),
                "; several narrow each other."
            ]),
        );
    }
    check_order(args, &selector)?;
    Ok(selector)
}

/// Refuses a range that ends before it begins, because it would always be empty. A position and a time are not
/// compared.
fn check_order(args: &ForgetArgs, selector: &ForgetSelector) -> Result<(), Refusal> {
    let is_turned = match (selector.from, selector.to) {
        (Some(Moment::Position(from)), Some(Moment::Position(to))) => from > to,
        (Some(Moment::Time(from)), Some(Moment::Time(to))) => from > to,
        (Some(Moment::Position(_)), Some(Moment::Time(_)))
        | (Some(Moment::Time(_)), Some(Moment::Position(_)))
        | (None, _)
        | (_, None) => false,
    };
    let (true, Some(from), Some(to)) = (is_turned, &args.from, &args.to) else {
        return Ok(());
    };
    let shown = |moment: &AsOf| match moment {
        AsOf::Position(position) => format!("the position {position}"),
        AsOf::Time(text) => text.clone(),
    };
    let (from, to) = (shown(from), shown(to));
    let message = format!("the range ends before it begins: `from` is {from}, and `to` is {to}");
    Err(Refusal::invalid(message).hint(hint![
        "Exchange them: ",
        arg("from"),
        format!(" {to} and "),
        arg("to"),
        format!(" {from}.")
    ]))
}

/// Selects the content to forget in the current state.
async fn select(cx: &Arc<Context>, selector: ForgetSelector) -> Result<Selection, Refusal> {
    looking(cx, move |looking, up_to| {
        let selected = looking.select(&selector, up_to)?;
        looking.check(&selected)?;
        Ok(selected)
    })
    .await
}

/// Lists the current versions of context files that hold text of the selected content.
async fn held_files(cx: &Arc<Context>, selector: ForgetSelector) -> Result<Vec<HeldFile>, Refusal> {
    looking(cx, move |looking, _| looking.held_files(&selector)).await
}

/// Reads the current state, up to its end.
async fn looking<T: Send + 'static>(
    cx: &Arc<Context>,
    read: impl FnOnce(&SelectionContext<'_>, Position) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let published = cx.read(None).await?;
    let cx = Arc::clone(cx);
    blocking(move || {
        let access = cx.extensions.get::<AccessTimes>();
        let looking = SelectionContext {
            rows: &published.snapshot,
            event_lookup: &Log::new(&published.snapshot),
            blobs: Some(&cx.blobs),
            looked_at: &|session| access.map(|access| access.none_since(session)),
            examined: None,
            now: cx.engine.clock().now(),
            events_max: EVENTS_MAX,
        };
        read(&looking, published.tail.position)
    })
    .await
}

/// Builds the reply when nothing was forgotten.
fn unchanged(cx: &Context, selected: Selection, warnings: Vec<String>) -> ForgetReply {
    ForgetReply {
        kept: selected.kept,
        position: cx.engine.position(),
        durable: cx.engine.is_durable(),
        warnings,
        ..counts(&selected.reported)
    }
}

/// Builds the reply from the event.
fn reply(
    outcome: &Outcome,
    kept: Vec<String>,
    warnings: Vec<String>,
) -> Result<ForgetReply, Refusal> {
    Ok(ForgetReply {
        kept,
        position: outcome.event.position(),
        durable: outcome.durable,
        warnings,
        ..counts(&crate::forgetting::forget_command::forgotten_by(outcome)?)
    })
}

fn counts(reported: &ContentForgotten) -> ForgetReply {
    ForgetReply {
        events: reported.events,
        bytes: reported.bytes,
        sessions: reported.sessions,
        sessions_in_part: reported.sessions_in_part,
        projects: reported.projects,
        context_versions: reported.context_versions,
        sources: reported.sources,
        documents: reported.documents,
        ..ForgetReply::default()
    }
}
