//! Calls of operations over MCP: the caller, the permits and the result.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lore::protocol::{Args, agent_name, printable};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, Implementation};
use rmcp::service::RequestContext;

use super::content_form::ContentForm;
use super::host_session;
use super::in_flight::InFlightCall;
use super::named::{key_of, named_tools};
use super::raw_call::RawMcpCall;
use super::results::{refused, replied};
use super::server::Server;
use super::too_large::{fitting, resource_of, within_announced};
use crate::api::hints::for_tools;
use crate::locks::unpoisoned;
use crate::log::Actor;
use crate::operation::{Access, Answer, Caller, Operation};

/// Maximum length of a client's label, in characters.
const CLIENT_CHARS_MAX: usize = 128;

impl Server {
    /// Builds the caller from the connection and the request.
    pub(super) fn caller_of(&self, cx: &RequestContext<RoleServer>, access: Access) -> Caller {
        let mut caller = self.host.caller.clone();
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
    fn content_form(&self, cx: &RequestContext<RoleServer>) -> ContentForm {
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

    /// Builds the result of a call, if it fits into a line.
    pub(super) fn result(
        &self,
        operation: &Operation,
        answer: Answer,
        cx: &RequestContext<RoleServer>,
        raw_call: &RawMcpCall,
    ) -> CallToolResult {
        let form = self.content_form(cx);
        let (refusal, more) = match answer {
            Err(refusal) => (refusal, None),
            Ok(reply) => {
                let fits = within_announced(operation, &reply).and_then(|()| {
                    fitting(operation, &reply, form, self.limits.mcp_line_bytes_max)
                });
                match fits {
                    Ok(form) => return replied(operation, reply, form, raw_call),
                    Err(refusal) => {
                        let resources = self.dispatch.resources();
                        (refusal, resource_of(operation.name, &reply, resources))
                    }
                }
            }
        };
        let body = for_tools(&refusal, &self.tools(), Some(operation.name));
        refused(&body, form, more)
    }

    pub(super) async fn call(
        &self,
        operation: &Operation,
        mut caller: Caller,
        raw_call: &RawMcpCall,
        in_flight_call: Option<&InFlightCall>,
    ) -> Answer {
        if let Some(in_flight_call) = in_flight_call {
            caller.wait_permit = in_flight_call.wait_permit().clone();
        }
        let bytes = match in_flight_call {
            Some(in_flight_call) => in_flight_call.bytes(),
            // A long poll has dropped its arguments by then.
            None if operation.waits => 0,
            None => raw_call.bytes(),
        };
        let _permit = match in_flight_call {
            Some(in_flight_call) if in_flight_call.lacks_permit() => {
                Some(self.budget.small(in_flight_call.bytes()).await)
            }
            Some(_) | None => None,
        };
        let _turn = self.budget.turn(bytes).await;
        let args = Args::Json(raw_call.take_arguments().unwrap_or_default());
        self.dispatch
            .call_until(&self.unwanted, caller, operation.name, args)
            .await
    }
}
