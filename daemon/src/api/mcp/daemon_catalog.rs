//! The daemon's catalog: its operations as tools, its prompts, and its resources.

use lore::protocol::Position;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ReadResourceResult, Tool,
};

use super::catalog::{Catalog, ResourceChanges, ToolCall};
use super::too_large::resource_of;
use super::{completions, prompts, resources, tools};
use crate::api::changes::{ChangeSet, Changes};
use crate::api::dispatch::Dispatch;
use crate::api::operations::TABLE;
use crate::api::tool_selection::ToolSelection;
use crate::error::Refusal;
use crate::operation::{Access, Caller, Operation};

impl Catalog for Dispatch {
    type Tool = &'static Operation;
    type Changes = Changes;

    fn find_tool(&self, name: &str) -> Option<Self::Tool> {
        TABLE.get(name)
    }

    fn access(&self, tool: Self::Tool) -> Access {
        tool.access
    }

    fn waits(&self, tool: Self::Tool) -> bool {
        tool.waits
    }

    fn describe_tool(&self, tool: Self::Tool) -> Option<Tool> {
        tools::find(tool.name).cloned()
    }

    fn list_tools(&self, selection: &ToolSelection) -> Vec<Tool> {
        tools::listed(selection)
    }

    async fn call_tool(
        &self,
        tool: Self::Tool,
        call: ToolCall<'_, Self>,
    ) -> Result<CallToolResponse, ErrorData> {
        let encoder = call.encoder();
        let (name, unwanted) = (tool.name, call.unwanted);
        let answer = self
            .call_until(unwanted, call.caller, name, call.arguments)
            .await;
        let resource = |reply: &_| resource_of(name, reply, self.resources());
        Ok(encoder.encode(tool.into(), answer, resource).into())
    }

    fn list_prompts(&self) -> ListPromptsResult {
        prompts::list()
    }

    async fn get_prompt(
        &self,
        caller: Caller,
        tools: &ToolSelection,
        request: GetPromptRequestParams,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(self, caller, tools, request).await?.into())
    }

    async fn complete(
        &self,
        caller: Caller,
        tools: &ToolSelection,
        request: &CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorData> {
        completions::complete(self, caller, tools, request).await
    }

    fn has_resources(&self) -> bool {
        !self.resources().kinds().is_empty()
    }

    async fn list_resources(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
    ) -> Result<ListResourcesResult, Refusal> {
        let listed = Self::list_resources(self, caller, cursor).await?;
        Ok(resources::page(listed))
    }

    fn list_templates(&self) -> ListResourceTemplatesResult {
        resources::templates(self.resources())
    }

    async fn read_resource(
        &self,
        caller: &Caller,
        uri: &str,
        bytes_max: usize,
    ) -> Result<ReadResourceResult, Refusal> {
        let (base, _) = resources::part_of(uri);
        let (kind, text) = Self::read_resource(self, caller, base).await?;
        resources::contents(kind, uri.to_owned(), text, bytes_max)
    }

    async fn check_resource(&self, uri: &str) -> Result<(), Refusal> {
        let published = self.context().read(None).await?;
        self.resources().check(&published.snapshot, uri)
    }

    /// While the store is reopened, existence cannot be checked, so every URI may exist.
    fn may_have_resource(&self, uri: &str) -> bool {
        let state = self.context().engine.published();
        state.is_none_or(|state| self.resources().check(&state.snapshot, uri).is_ok())
    }

    fn position(&self) -> Option<Position> {
        let state = self.context().engine.published()?;
        Some(state.tail.position)
    }

    async fn changes(&self, after: Option<Position>) -> Result<Changes, Refusal> {
        Changes::after(self, after).await
    }
}

impl ResourceChanges for Changes {
    async fn next(&mut self) -> Result<ChangeSet, Refusal> {
        Self::next(self).await
    }
}
