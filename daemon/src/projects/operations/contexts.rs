//! `get_context` and `list_contexts`.

use std::collections::BTreeMap;
use std::sync::Arc;

use lore::protocol::projects::{
    ContextFile, FileContent, GetContextArgs, GetContextReply, ListContextsArgs, ListContextsReply,
};

use super::history::no_version;
use super::wire;
use super::{
    ResolvedProject, change, check_file_type, conflict_warning, content_of, open_conflict, path_of,
    types_known, version_at,
};
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::events::projects::ProjectEvent;
use crate::hint::{Tool, hint};
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Moment, Op, blocking};
use crate::projects::append;
use crate::projects::feature::ProjectState;
use crate::projects::notes;
use crate::projects::outline::Outline;
use crate::projects::template::{Layers, Template};
use crate::projects::validate::{Validation, validate};
use crate::projects::view::{self, FileRow};
use crate::state::State;
use crate::tokens::Tokens;

/// `get_context`.
pub struct GetContext;

impl Op for GetContext {
    type Args = GetContextArgs;
    type Reply = GetContextReply;
    const NAME: &'static str = "get_context";
    const TITLE: &'static str = "Get a context file";
    const DESCRIPTION: &'static str = "Returns a project's context file with its content, version and validation. If nothing is \
        written yet, it returns the template.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<GetContextArgs>) -> Result<GetContextReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let named = [
            args.version.is_some(),
            args.draft == Some(true),
            args.as_of.is_some(),
        ];
        if named.iter().filter(|is_named| **is_named).count() > 1 {
            return Err(Refusal::invalid(
                "`version`, `draft` and `as_of` exclude each other: give one of them",
            ));
        }
        if args.max_tokens == Some(0) {
            return Err(Refusal::invalid("`max_tokens` is 0; it is at least 1"));
        }
        let state = Arc::new(State::live(&cx, args.at_least).await?);
        let found = ResolvedProject::of(&cx, &caller, &state, &args.project_id).await?;
        blocking(move || ProjectFiles::of(&cx, &state, found)?.context(&caller, args)).await
    }
}

/// A project's files, for one read.
struct ProjectFiles<'r> {
    cx: &'r Context,
    state: &'r State,
    found: ResolvedProject,
    layers: Arc<Layers>,
}

impl<'r> ProjectFiles<'r> {
    fn of(cx: &'r Context, state: &'r State, found: ResolvedProject) -> Result<Self, Refusal> {
        let layers = ProjectState::of(cx)?.templates(found.place.as_ref());
        Ok(Self {
            cx,
            state,
            found,
            layers,
        })
    }

    fn context(&self, caller: &Caller, args: GetContextArgs) -> Result<GetContextReply, Refusal> {
        let file_type = &args.file_type;
        let types = types_known(self.cx, self.state, &self.found)?;
        check_file_type(file_type, &types)?;
        let row = self.row(&args)?;
        let mut reply = self.empty(file_type, row.as_ref())?;
        let mut is_entry = false;
        let content = if args.draft == Some(true) {
            let (draft, of_entry) = self.draft(caller, file_type, &mut reply)?;
            is_entry = of_entry;
            Some(draft)
        } else {
            match row.clone().filter(FileRow::is_written) {
                Some(row) => Some(content_of(self.cx, self.state, row.place())?),
                None => None,
            }
        };
        let template = self.layers.get(file_type).map(|found| &*found.template);
        if let (true, Some(entry), Some(template)) = (is_entry, &content, template) {
            let validation = self.checked_entry(entry, row.as_ref(), template)?;
            reply.validation = validation.as_ref().map(wire::validation);
        }
        match (content, template) {
            (Some(content), template) => {
                self.describe(caller, &args, content, template, &mut reply)?;
            }
            (None, Some(template)) => reply.template = Some(to_write(template)),
            (None, None) => {}
        }
        self.warn(file_type, &mut reply)?;
        Ok(reply)
    }

    /// Returns the requested version; `None` if nothing was written by then.
    fn row(&self, args: &GetContextArgs) -> Result<Option<FileRow>, Refusal> {
        let (project, file_type) = (&*self.found.project, &*args.file_type);
        if let Some(number) = args.version {
            let row = view::version(self.state, project, file_type, number)?;
            return match row {
                Some(row) => Ok(Some(row)),
                None => {
                    let newest = view::file(self.state, project, file_type)?;
                    let newest = newest.map_or(0, |row| row.written.version);
                    Err(no_version("version", number, newest))
                }
            };
        }
        let Some(as_of) = &args.as_of else {
            return Ok(view::file(self.state, project, file_type)?);
        };
        let moment = Moment::of(as_of)?;
        version_at(self.state, project, file_type, |row| match moment {
            Moment::Position(position) => row.position <= position.0,
            Moment::Time(time) => row.at <= time,
        })
    }

    fn empty(&self, file_type: &str, row: Option<&FileRow>) -> Result<GetContextReply, Refusal> {
        Ok(GetContextReply {
            project: self.found.project.clone(),
            file_type: file_type.to_owned(),
            content: None,
            version: row.map_or(0, |row| row.written.version),
            updated_at: row.map(|row| format_time(row.at)),
            updated_by: row.map(|row| row.agent.clone()),
            change: row.map(|row| change(row.written.change)),
            validation: None,
            template: None,
            sections: Vec::new(),
            attempt_count: None,
            tokens: None,
            truncated: None,
            path: path_of(ProjectState::of(self.cx)?, &self.found.project, file_type),
            position: self.state.position(),
            durable: self.cx.engine.is_durable(),
            warnings: self.found.warnings(),
        })
    }

    /// Returns the caller's draft: its last content that failed validation.
    fn draft(
        &self,
        caller: &Caller,
        file_type: &str,
        reply: &mut GetContextReply,
    ) -> Result<(String, bool), Refusal> {
        let agent = &caller.actor.agent;
        let draft = view::draft(self.state, &self.found.project, file_type, agent)?;
        let Some(draft) = draft else {
            return Err(Refusal::new(
                Code::NotFound,
                format!("the agent `{agent}` has no draft of `{file_type}`"),
            )
            .hint(hint![
                "A draft is kept when an update does not fit its template, until one does.";
                Tool::ListContexts, " says who has one."
            ]));
        };
        reply.attempt_count = Some(u64::from(draft.attempts));
        reply.updated_at = Some(format_time(draft.at));
        reply.updated_by = Some(agent.clone());
        reply.change = None;
        let (record, position) = draft.place();
        let event = self.state.log().event(record, position)?;
        let meta = ProjectEvent::of(&event)?;
        let is_entry = matches!(meta, Some(ProjectEvent::DraftSaved(meta)) if meta.is_entry);
        Ok((content_of(self.cx, self.state, draft.place())?, is_entry))
    }

    /// Validates the draft of an entry against the current file.
    fn checked_entry(
        &self,
        entry: &str,
        row: Option<&FileRow>,
        template: &Template,
    ) -> Result<Option<Validation>, Refusal> {
        let there = match row.filter(|row| row.is_written()) {
            Some(row) => content_of(self.cx, self.state, row.place())?,
            None => String::new(),
        };
        // Its heading was completed when it was sent, so the date does not matter.
        let entry = append::prepare(&there, entry, template, "");
        Ok(entry
            .ok()
            .map(|entry| append::check(&there, &entry, template)))
    }

    /// Adds the content, or the requested part of it, with its validation and sections to the reply.
    fn describe(
        &self,
        caller: &Caller,
        args: &GetContextArgs,
        content: String,
        template: Option<&Template>,
        reply: &mut GetContextReply,
    ) -> Result<(), Refusal> {
        match template {
            Some(template) if reply.validation.is_none() => {
                reply.validation = Some(wire::validation(&validate(&content, template)));
            }
            Some(_) => {}
            None => reply.warnings.push(format!(
                "template `{}` no longer exists: the content is not checked",
                args.file_type
            )),
        }
        let outline = Outline::of(&content);
        reply.sections = outline
            .sections()
            .iter()
            .map(|section| section.key.clone())
            .collect();
        let mut shown = match &args.section {
            None => content.clone(),
            Some(name) => section(&outline, name)?,
        };
        if let Some(most) = args.max_tokens {
            let tokens = &crate::checkpoints::Checkpoints::of(self.cx)?.tokens;
            let (kept, total) = cut(&shown, most, tokens);
            reply.tokens = Some(total);
            reply.truncated = Some(kept < shown.len());
            shown.truncate(kept);
        }
        reply.content = Some(shown);
        let is_whole = args.section.is_none() && reply.truncated != Some(true);
        let is_newest = args.version.is_none() && args.as_of.is_none();
        if is_whole && is_newest && args.draft != Some(true) {
            let room = ProjectState::of(self.cx)?;
            let (project, file_type) = (&self.found.project, &args.file_type);
            room.known_versions
                .note(caller, project, file_type, reply.version);
        }
        Ok(())
    }

    /// Adds warnings: concurrent edits that were not merged, faults of the file on disk, and inactive templates.
    fn warn(&self, file_type: &str, reply: &mut GetContextReply) -> Result<(), Refusal> {
        let room = ProjectState::of(self.cx)?;
        let project = &self.found.project;
        let newest = view::file(self.state, project, file_type)?;
        if newest.is_some_and(|row| reply.version == row.written.version) {
            let conflict = open_conflict(self.state, project, file_type)?;
            reply
                .warnings
                .extend(conflict.as_ref().map(conflict_warning));
        }
        reply
            .warnings
            .extend(room.sync_status.fault(project, file_type));
        for broken in self.layers.broken() {
            reply
                .warnings
                .push(format!("a template file is not active: {broken}"));
        }
        Ok(())
    }
}

/// Describes how to write a missing file.
fn to_write(template: &Template) -> FileContent {
    FileContent {
        description: template.description.clone(),
        required_sections: template.required_sections().map(str::to_owned).collect(),
        example: template.examples.first().cloned().unwrap_or_default(),
        next_steps: format!(
            "Nothing is written yet. Write a file of this form with what you know of the project, \
             and call update_context with file_type \"{}\" and the whole content.",
            template.name
        ),
    }
}

/// Returns a section with its heading, and the sections below it.
fn section(outline: &Outline<'_>, name: &str) -> Result<String, Refusal> {
    let key = crate::projects::outline::key_of(name);
    let all = outline.sections();
    let is_it = |section: &&crate::projects::outline::Section| {
        section.key == key || section.key == name || section.title.eq_ignore_ascii_case(name)
    };
    let Some(found) = all.iter().find(is_it) else {
        let keys: Vec<String> = all.iter().map(|one| format!("`{}`", one.key)).collect();
        let shown: String = name.chars().take(80).collect();
        return Err(
            Refusal::new(Code::NotFound, format!("the file has no section {shown:?}")).hint(
                match keys.is_empty() {
                    true => "It has none at all.".to_owned(),
                    false => format!("It has {}.", keys.join(", ")),
                },
            ),
        );
    };
    let is_behind = |section: &&crate::projects::outline::Section| {
        section.heading.start > found.heading.start && section.level <= found.level
    };
    let end = all.iter().find(is_behind);
    let end = end.map_or(outline.text().len(), |next| next.heading.start);
    let text = outline.text().get(found.heading.start..end);
    Ok(text.unwrap_or_default().to_owned())
}

/// Returns the bytes of a text that fit a token budget, cut at a line end, and the token count of the whole text.
fn cut(text: &str, most: u64, tokens: &Tokens) -> (usize, u64) {
    let total = tokens.count(text) as u64;
    if total <= most {
        return (text.len(), total);
    }
    let fits = tokens.beginning(text, usize::try_from(most).unwrap_or(usize::MAX));
    (fits.rfind('\n').map_or(0, |end| end + 1), total)
}

/// `list_contexts`.
pub struct ListContexts;

impl Op for ListContexts {
    type Args = ListContextsArgs;
    type Reply = ListContextsReply;
    const NAME: &'static str = "list_contexts";
    const TITLE: &'static str = "List context files";
    const DESCRIPTION: &'static str = "Lists a project's context files, existing and possible ones: version, author, size, errors, \
        and agents with a draft.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListContextsArgs>) -> Result<ListContextsReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let state = Arc::new(State::live(&cx, args.at_least).await?);
        let found = ResolvedProject::of(&cx, &caller, &state, &args.project_id).await?;
        blocking(move || ProjectFiles::of(&cx, &state, found)?.list()).await
    }
}

impl ProjectFiles<'_> {
    fn list(self) -> Result<ListContextsReply, Refusal> {
        let project = &self.found.project;
        let mut rows: BTreeMap<String, Option<FileRow>> = self
            .layers
            .all()
            .map(|found| (found.template.name.clone(), None))
            .collect();
        for (file_type, row) in view::files(self.state, project)? {
            // The memory tool lists them.
            if !notes::is_note(&file_type) {
                rows.insert(file_type, Some(row));
            }
        }
        let mut contexts = Vec::new();
        let mut warnings = self.found.warnings();
        for (file_type, row) in rows {
            if row.is_some() {
                let conflict = open_conflict(self.state, project, &file_type)?;
                let reported = conflict.as_ref().map(conflict_warning);
                warnings.extend(reported.map(|conflict| format!("{file_type}: {conflict}")));
            }
            contexts.push(self.file(file_type, row)?);
        }
        Ok(ListContextsReply {
            contexts,
            position: self.state.position(),
            durable: self.cx.engine.is_durable(),
            warnings,
            project: self.found.project,
        })
    }

    fn file(&self, file_type: String, row: Option<FileRow>) -> Result<ContextFile, Refusal> {
        let project = &self.found.project;
        let drafts = view::drafts(self.state, project, &file_type)?;
        let template = self.layers.get(&file_type);
        Ok(ContextFile {
            description: template
                .map_or_else(String::new, |found| found.template.description.clone()),
            written: row.as_ref().is_some_and(FileRow::is_written),
            version: row.as_ref().map_or(0, |row| row.written.version),
            updated_at: row.as_ref().map(|row| format_time(row.at)),
            updated_by: row.as_ref().map(|row| row.agent.clone()),
            bytes: row.as_ref().map_or(0, |row| row.written.bytes),
            errors: row.as_ref().map_or(0, |row| u64::from(row.written.errors)),
            drafts: drafts.into_iter().map(|(agent, _)| agent).collect(),
            path: path_of(ProjectState::of(self.cx)?, project, &file_type),
            file_type,
        })
    }
}
