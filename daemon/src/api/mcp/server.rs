//! The rmcp server: serves a catalog.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use lore::protocol::{Code, tools as said};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestMethod, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use super::catalog::Catalog;
use super::in_flight::InFlightCall;
use super::named::named_tools;
use super::raw_call::RawMcpCall;
use super::resources;
use super::results::{about, refused, unknown_tool};
use super::subscriptions::{self, Subscriptions};
use super::transport::RequestStart;
use crate::api::frames::{Endpoint, Host};
use crate::api::hints::for_tools;
use crate::api::limits::{Budget, Limits};
use crate::api::tool_selection::ToolSelection;
use crate::error::Refusal;
use crate::locks::lock_unpoisoned;
use crate::operation::{Access, WaitPermit};
use crate::resource::only_page;

/// Supported requests. A request with invalid params reaches [`ServerHandler::on_custom_request`].
const METHODS: [&str; 8] = [
    "completion/complete",
    "initialize",
    "ping",
    "prompts/get",
    "prompts/list",
    "server/discover",
    "tools/call",
    "tools/list",
];

/// Supported requests for resources, when there are any.
const RESOURCE_METHODS: [&str; 6] = [
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "subscriptions/listen",
];

/// Requests that the newest era has removed.
const REMOVED_METHODS: [&str; 5] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// Lifetime of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionLifetime {
    /// ConnectionLifetime as long as its connection.
    Long,
    /// ConnectionLifetime for one request; its subscriptions end with it.
    OneRequest,
}

/// The MCP server of one connection.
pub struct Server<C: Catalog> {
    pub(super) catalog: C,
    pub(super) budget: Budget,
    pub(super) limits: Arc<Limits>,
    pub(super) host: Host,
    /// Raw call of a server that serves one call, when requests do not carry theirs.
    raw_call: Option<Arc<RawMcpCall>>,
    /// From `initialize`; applies to later requests that do not name their client.
    pub(super) client: Mutex<Option<Implementation>>,
    /// From `initialize`, when it selects tools.
    tools: Mutex<Option<ToolSelection>>,
    /// Whether tools were listed with their output schemas: results must then have structured content.
    pub(super) has_schemas: AtomicBool,
    lifetime: ConnectionLifetime,
    subscriptions: Subscriptions,
    over: CancellationToken,
    /// Cancelled when nothing waits for answers any more.
    pub(super) unwanted: CancellationToken,
}

impl<C: Catalog> Server<C> {
    /// Creates a server for this host. Long polls end when `over` is cancelled.
    #[must_use]
    pub fn new(
        endpoint: &Endpoint<C>,
        mut host: Host,
        lifetime: ConnectionLifetime,
        over: CancellationToken,
    ) -> Self {
        host.caller.wait_permit = WaitPermit::until(over.clone());
        Self {
            catalog: endpoint.dispatch.clone(),
            budget: endpoint.budget.clone(),
            limits: Arc::clone(&endpoint.limits),
            host,
            raw_call: None,
            client: Mutex::default(),
            tools: Mutex::default(),
            has_schemas: AtomicBool::default(),
            lifetime,
            subscriptions: Subscriptions::default(),
            over,
            unwanted: CancellationToken::new(),
        }
    }

    /// Ends the work of calls once this is cancelled: nothing waits for their answers.
    #[must_use]
    pub fn until(mut self, unwanted: CancellationToken) -> Self {
        self.unwanted = unwanted;
        self
    }

    /// Sets the raw call of a server that serves one call.
    #[must_use]
    pub fn with_raw_call(mut self, raw_call: Option<Arc<RawMcpCall>>) -> Self {
        self.raw_call = raw_call;
        self
    }

    /// Returns the listed tools: from `initialize`, otherwise from the connection.
    pub(super) fn tools(&self) -> ToolSelection {
        let tools = lock_unpoisoned(&self.tools);
        tools.clone().unwrap_or_else(|| self.host.tools.clone())
    }

    /// Refuses the cursor of a list with one page.
    fn first_page(&self, request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        only_page(cursor.as_deref())
            .map_err(|refusal| resources::refused(&refusal, &self.tools(), None))
    }

    fn has_resources(&self) -> bool {
        self.catalog.has_resources()
    }

    /// Returns whether a host of the older era can subscribe.
    fn has_subscriptions(&self) -> bool {
        self.has_resources() && self.lifetime == ConnectionLifetime::Long
    }
}

/// Returns whether a request is of the newest era, which has no `initialize`.
fn is_modern(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version()
        .is_some_and(|version| !version.has_initialize())
}

fn method_not_found(method: &str) -> ErrorData {
    let message = format!("method `{method}` not found");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// Runs a request until it is cancelled; rmcp sends no answer to a cancelled request.
async fn unless_cancelled<T>(
    cx: &RequestContext<RoleServer>,
    asked: impl Future<Output = T>,
) -> Result<T, ErrorData> {
    tokio::select! {
        answer = asked => Ok(answer),
        () = cx.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
    }
}

impl<C: Catalog> ServerHandler for Server<C> {
    fn get_info(&self) -> ServerConfig {
        // The newest era opens a separate stream for changes, also on a server for one request.
        about(self.has_resources(), true, &self.tools())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let is_said = |version: &&ProtocolVersion| said::MCP_VERSIONS.contains(&version.as_str());
        let known = ProtocolVersion::KNOWN_VERSIONS.iter();
        known.filter(is_said).cloned().collect()
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if is_modern(&cx) {
            return Err(method_not_found("initialize"));
        }
        let mut result = self.negotiate_initialize(&request)?;
        if let Some(tools) = named_tools(&cx.meta)? {
            *lock_unpoisoned(&self.tools) = Some(tools);
        }
        let about = about(
            self.has_resources(),
            self.has_subscriptions(),
            &self.tools(),
        );
        (result.capabilities, result.instructions) = (about.capabilities, about.instructions);
        let client = Some(request.client_info.clone());
        *lock_unpoisoned(&self.client) = client;
        request.protocol_version = result.protocol_version.clone();
        cx.peer.set_peer_info(request);
        Ok(result)
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        if self.has_subscriptions() {
            let watched = self
                .subscriptions
                .watch(&self.catalog, &cx.peer, &self.over);
            if let Err(refusal) = watched.await {
                tracing::warn!(%refusal, "changes of resources are not watched");
            }
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.first_page(request)?;
        let tools = match named_tools(&cx.meta)? {
            Some(tools) => tools,
            None => self.tools(),
        };
        if tools.is_whole() {
            self.has_schemas.store(true, Ordering::Relaxed);
        }
        Ok(ListToolsResult::with_all_items(
            self.catalog.list_tools(&tools),
        ))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.catalog.find_tool(name)?;
        self.catalog.describe_tool(tool)
    }

    /// Calls a tool; a panic becomes an error answer.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.catalog.find_tool(&request.name) else {
            let listed = self.catalog.list_tools(&self.tools());
            return Err(unknown_tool(&request.name, &listed));
        };
        let carried = cx.extensions.get::<Arc<RawMcpCall>>().cloned();
        let Some(raw_call) = carried.or_else(|| self.raw_call.clone()) else {
            return Err(ErrorData::internal_error(
                "the arguments of the call are missing",
                None,
            ));
        };
        let access = self.catalog.access(tool);
        let caller = self.caller_of(&cx, access);
        let call = self.call(tool, caller, &request, &raw_call, &cx);
        let call = AssertUnwindSafe(call).catch_unwind();
        let response = match access {
            Access::Read => unless_cancelled(&cx, call).await?,
            Access::Write => call.await,
        };
        response.unwrap_or_else(|_| {
            let refusal = Refusal::new(Code::Internal, "the call failed inside the daemon");
            let body = for_tools(&refusal, &self.tools(), None);
            Ok(refused(&body, self.content_form(&cx), None).into())
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if !self.has_resources() {
            return Err(ErrorData::method_not_found::<ListResourcesRequestMethod>());
        }
        let caller = self.caller_of(&cx, Access::Read);
        let cursor = request.and_then(|request| request.cursor);
        let listed = self.catalog.list_resources(&caller, cursor.as_deref());
        let listed = unless_cancelled(&cx, listed).await?;
        listed.map_err(|refusal| resources::refused(&refusal, &self.tools(), None))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if !self.has_resources() {
            return Err(ErrorData::method_not_found::<
                ListResourceTemplatesRequestMethod,
            >());
        }
        self.first_page(request)?;
        Ok(self.catalog.list_templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if !self.has_resources() {
            return Err(ErrorData::method_not_found::<ReadResourceRequestMethod>());
        }
        let caller = self.caller_of(&cx, Access::Read);
        let uri = request.uri;
        let bytes_max = self.limits.mcp_line_bytes_max;
        let read = self.catalog.read_resource(&caller, &uri, bytes_max);
        match unless_cancelled(&cx, read).await? {
            Ok(contents) => Ok(contents.into()),
            Err(refusal) => Err(resources::refused(&refusal, &self.tools(), Some(&uri))),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.has_subscriptions() {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        // Watches before answering, so later changes are always reported.
        let watched = self
            .subscriptions
            .watch(&self.catalog, &cx.peer, &self.over);
        let added = async {
            watched.await?;
            self.subscriptions
                .add(&self.catalog, request.uri.clone())
                .await
        };
        let added = unless_cancelled(&cx, added).await?;
        added.map_err(|refusal| resources::refused(&refusal, &self.tools(), Some(&request.uri)))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.has_subscriptions() {
            return Err(ErrorData::method_not_found::<UnsubscribeRequestMethod>());
        }
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.has_resources()
            .then(|| subscriptions::granted(&self.catalog, requested))
    }

    async fn listen(&self, stream: SubscriptionContext) -> Result<(), ErrorData> {
        let extensions = &stream.request_context().extensions;
        let behind = extensions.get::<RequestStart>().and_then(|since| since.0);
        let in_flight_call = extensions.get::<Arc<InFlightCall>>();
        let wait_permit = in_flight_call.map_or(&self.host.caller.wait_permit, |in_flight_call| {
            in_flight_call.wait_permit()
        });
        let listened = subscriptions::listen(&self.catalog, behind, &stream, wait_permit).await;
        listened.map_err(|refusal| resources::refused(&refusal, &self.tools(), None))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(64).collect();
        let is_known = METHODS.contains(&method.as_str())
            || (self.has_resources() && RESOURCE_METHODS.contains(&method.as_str()));
        let of_other_era = match is_modern(&cx) {
            true => REMOVED_METHODS.contains(&method.as_str()),
            false => method == "subscriptions/listen",
        };
        if is_known && !of_other_era {
            let message = format!("the params of `{method}` do not fit");
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(method_not_found(&method))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.caller_of(&cx, Access::Read);
        let tools = self.tools();
        let completed = self.catalog.complete(caller, &tools, &request);
        unless_cancelled(&cx, completed).await?
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.first_page(request)?;
        Ok(self.catalog.list_prompts())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = self.caller_of(&cx, Access::Read);
        let tools = self.tools();
        let made = self.catalog.get_prompt(caller, &tools, request);
        unless_cancelled(&cx, made).await?
    }
}
