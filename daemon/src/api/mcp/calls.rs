//! Calls of tools over MCP: the caller, the permits and the form of the result.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lore::protocol::{Args, agent_name, printable};
use rmcp::model::{CallToolRequestParams, CallToolResponse, Implementation};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::catalog::{Catalog, ToolCall};
use super::content_form::ContentForm;
use super::host_session;
use super::in_flight::InFlightCall;
use super::named::{key_of, named_tools};
use super::raw_call::RawMcpCall;
use super::server::Server;
use crate::locks::unpoisoned;
use crate::log::Actor;
use crate::operation::{Access, Caller};

/// Maximum length of a client's label, in characters.
const CLIENT_CHARS_MAX: usize = 128;

impl<C: Catalog> Server<C> {
    /// Builds the caller from the connection and the request.
    pub(super) fn caller_of(&self, cx: &RequestContext<RoleServer>, access: Access) -> Caller {
        let mut caller = self.host.caller.clone();
        caller.reads_text = true;
        if let Some(client) = self.client_of(cx) {
            let label = format!("{}/{}", client.name, client.version);
            let agent = match caller.actor.agent.as_str() {
                "" => agent_name(&client.name),
                agent => agent.to_owned(),
            };
            caller.actor = Arc::new(Actor {
                agent,
                uid: caller.actor.uid,
                client: printable(&label).take(CLIENT_CHARS_MAX).collect(),
            });
        }
        host_session::state(&mut caller, &cx.meta.0);
        if let (Some(bridge), Access::Write) = (&self.host.bridge, access) {
            caller.default_key = Some(key_of(bridge, &cx.id));
        }
        caller
    }

    /// Returns which content the result of a call carries.
    pub(super) fn content_form(&self, cx: &RequestContext<RoleServer>) -> ContentForm {
        let is_whole = match named_tools(&cx.meta) {
            Ok(Some(tools)) => tools.is_whole(),
            Ok(None) | Err(_) => self.tools().is_whole(),
        };
        let has_schemas = is_whole || self.has_schemas.load(Ordering::Relaxed);
        let client = self.client_of(cx).map(|client| client.name);
        // HTTP presumes an old version where a request states none.
        let version = client.is_some().then(|| cx.protocol_version()).flatten();
        ContentForm::of(
            self.limits.mcp_content,
            has_schemas,
            client.as_deref(),
            version.as_ref(),
        )
    }

    /// Returns the client that a request or `initialize` names.
    fn client_of(&self, cx: &RequestContext<RoleServer>) -> Option<Implementation> {
        cx.meta.client_info().or_else(|| {
            let client = self.client.lock();
            unpoisoned(client).clone()
        })
    }

    /// Calls a tool with its permits.
    pub(super) async fn call(
        &self,
        tool: C::Tool,
        mut caller: Caller,
        request: &CallToolRequestParams,
        raw_call: &RawMcpCall,
        cx: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let in_flight_call = cx.extensions.get::<Arc<InFlightCall>>();
        if let Some(in_flight_call) = in_flight_call {
            caller.wait_permit = in_flight_call.wait_permit().clone();
        }
        let bytes = match in_flight_call {
            Some(in_flight_call) => in_flight_call.bytes(),
            // A long poll has dropped its arguments by then.
            None if self.catalog.waits(tool) => 0,
            None => raw_call.bytes(),
        };
        let _permit = match in_flight_call {
            Some(in_flight_call) if in_flight_call.lacks_permit() => {
                Some(self.budget.small(in_flight_call.bytes()).await)
            }
            Some(_) | None => None,
        };
        let _turn = self.budget.turn(bytes).await;
        let call = ToolCall {
            caller,
            arguments: Args::Json(raw_call.take_arguments().unwrap_or_default()),
            request,
            cx,
            unwanted: &self.unwanted,
            server: self,
            raw_call,
        };
        self.catalog.call_tool(tool, call).await
    }
}
