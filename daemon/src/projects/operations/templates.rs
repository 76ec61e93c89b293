//! `get_template` and `list_templates`.

use std::sync::Arc;

use lore::protocol::projects::{
    BrokenTemplate, GetTemplateArgs, GetTemplateReply, ListTemplatesArgs, ListTemplatesReply,
    TemplateLine, TemplateOrigin,
};

use super::{ResolvedProject, check_file_type, types_of};
use crate::error::Refusal;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::projects::feature::ProjectState;
use crate::projects::template::{ActiveTemplate, Layer, Layers};
use crate::state::State;

/// `get_template`.
pub struct GetTemplate;

impl Op for GetTemplate {
    type Args = GetTemplateArgs;
    type Reply = GetTemplateReply;
    const NAME: &'static str = "get_template";
    const TITLE: &'static str = "Get a template";
    const DESCRIPTION: &'static str = "Returns the template of a type of context file: its sections, entries and rules, and a \
        complete valid example.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<GetTemplateArgs>) -> Result<GetTemplateReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let asked = TemplateQuery::of(&cx, &caller, args.project_id.as_deref()).await?;
        check_file_type(&args.file_type, &types_of(&asked.layers))?;
        let Some(found) = asked.layers.get(&args.file_type) else {
            return Err(Refusal::invalid("the template went meanwhile"));
        };
        let template = &found.template;
        Ok(GetTemplateReply {
            file_type: template.name.clone(),
            title: template.title.clone(),
            description: template.description.clone(),
            origin: origin(found.layer),
            path: path(found),
            template: template.source().to_owned(),
            example: template.examples.first().cloned().unwrap_or_default(),
            required_sections: template.required_sections().map(str::to_owned).collect(),
            schema: template.schema(),
            project: asked.project,
            position: cx.engine.position(),
            durable: cx.engine.is_durable(),
            warnings: asked.warnings,
        })
    }
}

/// `list_templates`.
pub struct ListTemplates;

impl Op for ListTemplates {
    type Args = ListTemplatesArgs;
    type Reply = ListTemplatesReply;
    const NAME: &'static str = "list_templates";
    const TITLE: &'static str = "List templates";
    const DESCRIPTION: &'static str = "Lists the types of context files with the origin of their templates, and invalid template \
        files with line and reason.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Rows;

    async fn call(call: Call<ListTemplatesArgs>) -> Result<ListTemplatesReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let asked = TemplateQuery::of(&cx, &caller, args.project_id.as_deref()).await?;
        let lines = asked.layers.all().map(|found| TemplateLine {
            file_type: found.template.name.clone(),
            title: found.template.title.clone(),
            description: found.template.description.clone(),
            origin: origin(found.layer),
            path: path(found),
            required_sections: found
                .template
                .required_sections()
                .map(str::to_owned)
                .collect(),
        });
        let broken = asked.layers.broken().iter().map(|broken| BrokenTemplate {
            path: broken.file.clone(),
            line: u64::from(broken.line),
            reason: broken.reason.to_string(),
        });
        Ok(ListTemplatesReply {
            templates: lines.collect(),
            broken: broken.collect(),
            project: asked.project,
            position: cx.engine.position(),
            durable: cx.engine.is_durable(),
            warnings: asked.warnings,
        })
    }
}

/// The project of a query, and its active templates.
struct TemplateQuery {
    project: Option<String>,
    layers: Arc<Layers>,
    warnings: Vec<String>,
}

impl TemplateQuery {
    async fn of(
        cx: &Arc<Context>,
        caller: &Caller,
        project_id: Option<&str>,
    ) -> Result<Self, Refusal> {
        let state = Arc::new(State::live(cx, None).await?);
        let found = match project_id {
            Some(id) => Some(ResolvedProject::of(cx, caller, &state, id).await?),
            None => None,
        };
        let (cx, dir) = (Arc::clone(cx), caller.dir.clone());
        blocking(move || {
            let room = ProjectState::of(&cx)?;
            let warnings = found
                .as_ref()
                .map(ResolvedProject::warnings)
                .unwrap_or_default();
            let place = match (&found, dir.as_deref()) {
                (Some(found), _) => found.place.clone(),
                (None, Some(dir)) => room.place_in(&*state, dir)?,
                (None, None) => None,
            };
            Ok(Self {
                layers: room.templates(place.as_ref()),
                project: match (found, place) {
                    (Some(found), _) => Some(found.project),
                    (None, Some(place)) => Some(place.project),
                    (None, None) => None,
                },
                warnings,
            })
        })
        .await
    }
}

fn origin(layer: Layer) -> TemplateOrigin {
    match layer {
        Layer::BuiltIn => TemplateOrigin::BuiltIn,
        Layer::User => TemplateOrigin::User,
        Layer::Project => TemplateOrigin::Project,
    }
}

fn path(found: &ActiveTemplate) -> Option<String> {
    (found.layer != Layer::BuiltIn).then(|| found.file.clone())
}
