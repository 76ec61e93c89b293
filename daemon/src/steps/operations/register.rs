//! The `register_extractor`, `register_field_mapping` and `list_extractors` operations.

use lore::protocol::Position;
use lore::protocol::SessionId;
use lore::protocol::steps::{
    Extractor as WireExtractor, FieldMapping as WireMapping, ListExtractorsArgs,
    ListExtractorsReply, RegisterExtractorArgs, RegisterExtractorReply, RegisterFieldMappingArgs,
    RegisterFieldMappingReply, Scope,
};

use super::{Read, ReadContext, blocking};
use crate::engine::Outcome;
use crate::error::Refusal;
use crate::events;
use crate::events::steps::{ExtractorRegistered, FieldMappingRegistered};
use crate::log::{Body, EventScope, codec};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op};
use crate::sessions::{self, PreparedSession, SessionSelector};
use crate::state::State;
use crate::steps::command::{Register, Registration, RegistrationScope};
use crate::steps::extract::{Extractor, ExtractorSet, FieldMapping};
use crate::steps::history::{Registrations, registered};

fn reach(
    cx: &Context,
    caller: &Caller,
    scope: Option<Scope>,
    session: Option<&SessionId>,
) -> Result<RegistrationScope, Refusal> {
    match scope.unwrap_or(Scope::Session) {
        Scope::Session => {
            let choice =
                PreparedSession::prepare(SessionSelector::of(caller, session), cx.engine.clock());
            Ok(RegistrationScope::Session(choice))
        }
        Scope::Project => caller
            .project
            .clone()
            .map(RegistrationScope::Project)
            .ok_or_else(|| {
                Refusal::invalid("this connection has no project to register for")
                    .hint("Connect with a working directory, or give the scope of one session: `\"scope\": \"session\"`.")
            }),
        Scope::Global => Ok(RegistrationScope::Global),
    }
}

/// The `register_extractor` operation.
pub struct RegisterExtractor;

impl Op for RegisterExtractor {
    type Args = RegisterExtractorArgs;
    type Reply = RegisterExtractorReply;
    const NAME: &'static str = "register_extractor";
    const TITLE: &'static str = "Register an extractor";
    const DESCRIPTION: &'static str = "Registers a custom extractor: a name, a regular expression with at most one capture group, \
        JSON field names, or both. It applies to the session, the project or globally, also to \
        earlier steps.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<RegisterExtractorArgs>) -> Result<RegisterExtractorReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let group = args
            .group
            .map(|group| u32::try_from(group).map_err(|_| Refusal::invalid("`group` is 0 or 1")))
            .transpose()?;
        let event = ExtractorRegistered {
            name: args.name,
            pattern: args.pattern,
            group,
            fields: args.fields,
        };
        let extractor = Extractor {
            name: event.name.clone(),
            pattern: event.pattern.clone(),
            group: event.group,
            fields: event.fields.clone(),
        };
        blocking(move || {
            ExtractorSet::new(&[extractor], &[])
                .map(drop)
                .map_err(|invalid| Refusal::invalid(invalid.to_string()))
        })
        .await?;
        let command = Register {
            reach: reach(&cx, &caller, args.scope, args.session.as_ref())?,
            what: Registration::Extractor,
            name: event.name.clone(),
            body: Body::new(codec::encode(&event), cx.engine.clock().random()),
        };
        let bytes = command.body.bytes.len();
        let outcome = cx.write(&caller, claim, bytes, command).await?;
        let recorded: ExtractorRegistered = events::body(&outcome.event)?;
        Ok(RegisterExtractorReply {
            name: recorded.name,
            position: outcome.event.position(),
            reextracted: steps_reached(&cx, &outcome).await?,
            durable: outcome.durable,
            session: None,
            chosen_by: None,
            project: outcome.event.header.project.clone(),
            warnings: Vec::new(),
        })
    }
}

/// Counts the recorded attempts in a registration's scope.
///
/// They are extracted again on their next read, because the cache key contains the hash of the extractors.
async fn steps_reached(cx: &Context, outcome: &Outcome) -> Result<u64, Refusal> {
    let state = State::live(cx, Some(outcome.event.position())).await?;
    Ok(match outcome.event.scope() {
        EventScope::Session(session) => sessions::get(&state, session)?.map_or(0, |row| row.steps),
        EventScope::Project(project) => sessions::project_counts(&state, project)?.steps,
        EventScope::Global => sessions::counts(&state)?.steps,
    })
}

/// The `register_field_mapping` operation.
pub struct RegisterFieldMapping;

impl Op for RegisterFieldMapping {
    type Args = RegisterFieldMappingArgs;
    type Reply = RegisterFieldMappingReply;
    const NAME: &'static str = "register_field_mapping";
    const TITLE: &'static str = "Register a field mapping";
    const DESCRIPTION: &'static str = "Registers aliases of a field, so that TICKET_FROM_STEP_1 finds `issueid`. They apply to the \
        session, the project or globally.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(
        call: Call<RegisterFieldMappingArgs>,
    ) -> Result<RegisterFieldMappingReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let event = FieldMappingRegistered {
            field: args.field,
            aliases: args.aliases,
        };
        let mapping = FieldMapping {
            field: event.field.clone(),
            aliases: event.aliases.clone(),
        };
        ExtractorSet::new(&[], &[mapping])
            .map_err(|invalid| Refusal::invalid(invalid.to_string()))?;
        let command = Register {
            reach: reach(&cx, &caller, args.scope, args.session.as_ref())?,
            what: Registration::Mapping,
            name: event.field.clone(),
            body: Body::new(codec::encode(&event), cx.engine.clock().random()),
        };
        let bytes = command.body.bytes.len();
        let outcome = cx.write(&caller, claim, bytes, command).await?;
        let recorded: FieldMappingRegistered = events::body(&outcome.event)?;
        Ok(RegisterFieldMappingReply {
            field: recorded.field,
            aliases: recorded.aliases,
            position: outcome.event.position(),
            durable: outcome.durable,
            session: None,
            chosen_by: None,
            project: outcome.event.header.project.clone(),
            warnings: Vec::new(),
        })
    }
}

/// The `list_extractors` operation.
pub struct ListExtractors;

impl Op for ListExtractors {
    type Args = ListExtractorsArgs;
    type Reply = ListExtractorsReply;
    const NAME: &'static str = "list_extractors";
    const TITLE: &'static str = "List extractors";
    const DESCRIPTION: &'static str = "Lists the extractors and field mappings of a session: built-in, global, its project's and \
        its own.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListExtractorsArgs>) -> Result<ListExtractorsReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let only = args.scope;
        let read = ReadContext::of(&args).open(cx, caller).await?;
        blocking(move || list(&read, only)).await
    }
}

fn list(read: &Read, only: Option<Scope>) -> Result<ListExtractorsReply, Refusal> {
    let mut reply = ListExtractorsReply {
        extractors: Vec::new(),
        mappings: Vec::new(),
        position: read.state.position(),
        durable: read.durable(),
        session: None,
        chosen_by: None,
        warnings: Vec::new(),
    };
    if only.is_none_or(|only| only == Scope::Global) {
        put_built_in(&mut reply);
    }
    let project = sessions::get(&read.state, &read.session)?.and_then(|row| row.project);
    let all = Position(u64::MAX);
    let mut scopes = vec![(Scope::Global, EventScope::Global, all)];
    scopes.extend(
        project
            .as_deref()
            .map(|of| (Scope::Project, EventScope::Project(of), all)),
    );
    let lines = sessions::lineage(&read.state, &read.session)?;
    let own = lines.iter().rev();
    scopes.extend(own.map(|line| {
        (
            Scope::Session,
            EventScope::Session(&line.session),
            line.up_to,
        )
    }));
    scopes.retain(|(scope, ..)| only.is_none_or(|only| only == *scope));
    for (scope, of, up_to) in scopes {
        for registration in registered(&read.state, of, up_to)? {
            let position = Some(registration.position);
            match registration.what {
                Registrations::Extractor(extractor) => reply.extractors.push(WireExtractor {
                    name: extractor.name,
                    scope,
                    pattern: extractor.pattern,
                    group: extractor.group.map(Into::into),
                    fields: extractor.fields,
                    position,
                    built_in: false,
                }),
                Registrations::Mapping(mapping) => reply.mappings.push(WireMapping {
                    field: mapping.field,
                    aliases: mapping.aliases,
                    scope,
                    position,
                    built_in: false,
                }),
            }
        }
    }
    Ok(reply)
}

fn put_built_in(reply: &mut ListExtractorsReply) {
    for (name, _) in crate::steps::extract::BUILT_IN {
        reply.extractors.push(WireExtractor {
            name: name.to_owned(),
            scope: Scope::Global,
            pattern: None,
            group: None,
            fields: Vec::new(),
            position: None,
            built_in: true,
        });
    }
    for (field, aliases) in crate::steps::extract::MAPPINGS {
        reply.mappings.push(WireMapping {
            field: field.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            scope: Scope::Global,
            position: None,
            built_in: true,
        });
    }
}
