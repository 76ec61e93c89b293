//! The fixtures of MCP's conformance suite, served by the daemon's own MCP layer.
//!
//! `mcp-fixtures-for-tests` listens on a free port of this machine, prints it, and serves until its input ends. Only the
//! catalog is the test's: tools, prompts and resources with the names and contents that the scenarios of the suite ask for.

mod content;
mod input;
mod prompts;
mod tools;

use std::io;
use std::sync::Arc;

use lored::api::{
    Budget, Catalog, ChangeSet, ConnectionSlots, Endpoint, HttpService, Limits, ResourceChanges,
    ToolCall, ToolSelection,
};
use lored::error::{Code, Refusal};
use lored::operation::{Access, Caller};
use lored::resource::only_page;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ReadResourceResult, Tool,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use tools::FixtureTool;

/// The catalog of the fixtures.
#[derive(Clone)]
struct Fixtures;

/// Changes of resources that never change.
struct Unchanging;

impl ResourceChanges for Unchanging {
    async fn next(&mut self) -> Result<ChangeSet, Refusal> {
        std::future::pending().await
    }
}

impl Catalog for Fixtures {
    type Tool = &'static FixtureTool;
    type Changes = Unchanging;

    fn find_tool(&self, name: &str) -> Option<Self::Tool> {
        tools::TOOLS.iter().find(|tool| tool.name == name)
    }

    fn access(&self, _: Self::Tool) -> Access {
        Access::Read
    }

    fn waits(&self, _: Self::Tool) -> bool {
        false
    }

    fn mirrors_arguments(&self, tool: Self::Tool) -> bool {
        tool.mirrors_arguments()
    }

    fn describe_tool(&self, tool: Self::Tool) -> Option<Tool> {
        Some(tool.describe())
    }

    fn list_tools(&self, _: &ToolSelection) -> Vec<Tool> {
        tools::TOOLS.iter().map(FixtureTool::describe).collect()
    }

    async fn call_tool(
        &self,
        tool: Self::Tool,
        call: ToolCall<'_, Self>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(tool, call).await
    }

    fn list_prompts(&self) -> ListPromptsResult {
        prompts::list()
    }

    async fn get_prompt(
        &self,
        _: Caller,
        _: &ToolSelection,
        request: GetPromptRequestParams,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn complete(
        &self,
        _: Caller,
        _: &ToolSelection,
        request: &CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorData> {
        prompts::complete(request)
    }

    fn has_resources(&self) -> bool {
        true
    }

    async fn list_resources(
        &self,
        _: &Caller,
        cursor: Option<&str>,
    ) -> Result<ListResourcesResult, Refusal> {
        only_page(cursor)?;
        Ok(content::list())
    }

    fn list_templates(&self) -> ListResourceTemplatesResult {
        content::templates()
    }

    async fn read_resource(
        &self,
        _: &Caller,
        uri: &str,
        _: usize,
    ) -> Result<ReadResourceResult, Refusal> {
        let found = content::read(uri).ok_or_else(|| missing(uri))?;
        Ok(ReadResourceResult::new(vec![found]))
    }

    async fn check_resource(&self, uri: &str) -> Result<(), Refusal> {
        content::read(uri).map(drop).ok_or_else(|| missing(uri))
    }

    fn may_have_resource(&self, uri: &str) -> bool {
        content::read(uri).is_some()
    }

    fn position(&self) -> Option<lore::protocol::Position> {
        None
    }

    async fn changes(&self, _: Option<lore::protocol::Position>) -> Result<Unchanging, Refusal> {
        Ok(Unchanging)
    }
}

fn missing(uri: &str) -> Refusal {
    Refusal::new(Code::NotFound, format!("resource {uri} not found"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("{}", listener.local_addr()?.port());
    let stop = CancellationToken::new();
    let limits = Limits::default();
    let endpoint = Endpoint {
        dispatch: Fixtures,
        budget: Budget::new(limits.bytes_in_flight_total_max),
        limits: Arc::new(limits),
        stop: stop.clone(),
    };
    std::thread::spawn(move || {
        // An input that cannot be read has ended, too.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        stop.cancel();
    });
    serve(listener, endpoint).await
}

/// Serves every connection, as the daemon serves those of its socket.
async fn serve(listener: TcpListener, endpoint: Endpoint<Fixtures>) -> io::Result<()> {
    let http = Arc::new(HttpService::new());
    let slots = ConnectionSlots::new(endpoint.limits.connections_max);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = endpoint.stop.cancelled() => return Ok(()),
        };
        let (stream, _) = accepted?;
        let Some(slot) = slots.take(0, CancellationToken::new()) else {
            continue;
        };
        let (http, endpoint) = (Arc::clone(&http), endpoint.clone());
        tokio::spawn(async move {
            let (read, write) = stream.into_split();
            // A peer may disconnect at any time.
            let _ = http.serve(&endpoint, 0, &slot, read, write).await;
        });
    }
}
