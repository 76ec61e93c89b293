//! What an MCP server offers: the tables of the daemon, or the fixtures of the conformance suite.
//!
//! Everything else is the same for each: HTTP and lines, eras and methods, cursors, limits, cancellation, refusals, and
//! the encoding of replies. The compiler makes a server of its own for each catalog, so the daemon has no indirection.

use lore::protocol::{Args, Position};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ReadResourceResult, Resource, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio_util::sync::CancellationToken;

use super::raw_call::RawMcpCall;
use super::results::{ReplyShape, refused, replied};
use super::server::Server;
use super::too_large::{fitting, within_announced};
use crate::api::changes::ChangeSet;
use crate::api::hints::for_tools;
use crate::api::tool_selection::ToolSelection;
use crate::error::Refusal;
use crate::operation::{Access, Answer, Caller, Reply};

/// The tools, prompts and resources of a server.
///
/// A request for a name that does not exist is refused by [`Catalog::get_prompt`], [`Catalog::complete`] and
/// [`Catalog::read_resource`] themselves. The server refuses unknown tools, and everything about resources where there
/// are none.
pub trait Catalog: Clone + Send + Sync + 'static {
    /// A tool that was found by its name.
    type Tool: Copy + Send + Sync;
    /// The changes of resources after a position.
    type Changes: ResourceChanges;

    /// Finds a tool by its name, also one that is not listed.
    fn find_tool(&self, name: &str) -> Option<Self::Tool>;

    /// Returns whether a tool can change anything.
    fn access(&self, tool: Self::Tool) -> Access;

    /// Returns whether a tool may wait for what is to come (a long poll).
    fn waits(&self, tool: Self::Tool) -> bool;

    /// Returns whether requests over HTTP repeat arguments of a tool in headers, as its schema says (`x-mcp-header`).
    fn mirrors_arguments(&self, _tool: Self::Tool) -> bool {
        false
    }

    /// Returns the schema and the descriptions of a tool, with all that it accepts.
    fn describe_tool(&self, tool: Self::Tool) -> Option<Tool>;

    /// Lists the selected tools, by name.
    fn list_tools(&self, selection: &ToolSelection) -> Vec<Tool>;

    /// Calls a tool.
    fn call_tool(
        &self,
        tool: Self::Tool,
        call: ToolCall<'_, Self>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send;

    /// Lists every prompt.
    fn list_prompts(&self) -> ListPromptsResult;

    /// Returns the messages of a prompt.
    fn get_prompt(
        &self,
        caller: Caller,
        tools: &ToolSelection,
        request: GetPromptRequestParams,
    ) -> impl Future<Output = Result<GetPromptResponse, ErrorData>> + Send;

    /// Completes an argument of a prompt or a URI template.
    fn complete(
        &self,
        caller: Caller,
        tools: &ToolSelection,
        request: &CompleteRequestParams,
    ) -> impl Future<Output = Result<CompleteResult, ErrorData>> + Send;

    /// Returns whether there are resources.
    fn has_resources(&self) -> bool;

    /// Lists a page of the resources.
    fn list_resources(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<ListResourcesResult, Refusal>> + Send;

    /// Lists the URI templates.
    fn list_templates(&self) -> ListResourceTemplatesResult;

    /// Reads a resource, or a part of it that fits into a line of `bytes_max`.
    fn read_resource(
        &self,
        caller: &Caller,
        uri: &str,
        bytes_max: usize,
    ) -> impl Future<Output = Result<ReadResourceResult, Refusal>> + Send;

    /// Checks that a resource exists, for a subscription.
    fn check_resource(&self, uri: &str) -> impl Future<Output = Result<(), Refusal>> + Send;

    /// Returns whether a resource may exist, as far as is known without waiting.
    fn may_have_resource(&self, uri: &str) -> bool;

    /// Returns the newest position, which a subscription that is requested now begins after.
    fn position(&self) -> Option<Position>;

    /// Returns the changes of resources after a position, or from now on.
    fn changes(
        &self,
        after: Option<Position>,
    ) -> impl Future<Output = Result<Self::Changes, Refusal>> + Send;
}

/// A source of resource changes for one subscriber.
pub trait ResourceChanges: Send + 'static {
    /// Waits for changes and returns those that occurred together. Cancel-safe.
    fn next(&mut self) -> impl Future<Output = Result<ChangeSet, Refusal>> + Send;
}

/// A call of a tool.
pub struct ToolCall<'c, C: Catalog> {
    /// The caller.
    pub caller: Caller,
    /// The arguments, as they were sent.
    pub arguments: Args,
    /// The request, without its arguments.
    pub request: &'c CallToolRequestParams,
    /// The metadata of the request, and the peer.
    pub cx: &'c RequestContext<RoleServer>,
    /// Cancelled once nothing waits for the result.
    pub unwanted: &'c CancellationToken,
    pub(super) server: &'c Server<C>,
    pub(super) raw_call: &'c RawMcpCall,
}

/// The encoding of an answer as the result of one request.
pub struct ResultEncoder<'c, C: Catalog> {
    cx: &'c RequestContext<RoleServer>,
    server: &'c Server<C>,
    raw_call: &'c RawMcpCall,
}

impl<'c, C: Catalog> ToolCall<'c, C> {
    /// Returns what encodes the answer to this call.
    #[must_use]
    pub fn encoder(&self) -> ResultEncoder<'c, C> {
        ResultEncoder {
            cx: self.cx,
            server: self.server,
            raw_call: self.raw_call,
        }
    }
}

impl<C: Catalog> ResultEncoder<'_, C> {
    /// Encodes an answer: as text and structured content where the client needs both, if they fit into a line. A reply
    /// that does not fit is refused with the resource that holds it.
    #[must_use]
    pub fn encode(
        &self,
        shape: ReplyShape,
        answer: Answer,
        resource: impl FnOnce(&Reply) -> Option<Resource>,
    ) -> CallToolResult {
        let form = self.server.content_form(self.cx);
        let (refusal, more) = match answer {
            Err(refusal) => (refusal, None),
            Ok(reply) => {
                let bytes_max = self.server.limits.mcp_line_bytes_max;
                let fits = within_announced(shape, &reply)
                    .and_then(|()| fitting(shape, &reply, form, bytes_max));
                match fits {
                    Ok(form) => return replied(shape, reply, form, self.raw_call),
                    Err(refusal) => (refusal, resource(&reply)),
                }
            }
        };
        let body = for_tools(&refusal, &self.server.tools(), Some(shape.tool));
        refused(&body, form, more)
    }
}
