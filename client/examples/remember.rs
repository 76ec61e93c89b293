//! Records a tool result and searches for it: `cargo run -p lore --example remember`.
//!
//! The client starts the daemon if none is running. Set `LORE_HOME` to a separate folder to leave your memory alone.

use std::error::Error;

use lore::client::Client;
use lore::paths::Paths;
use lore::protocol::Args;
use lore::protocol::frame::Hello;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let hello = Hello {
        client: "remember/1".to_owned(),
        agent: Some("example".to_owned()),
        ..Hello::default()
    };
    let mut client = Client::new(Paths::find(None)?, hello);
    let mut call = |name: &str, args: Value| -> Result<Value, Box<dyn Error>> {
        let reply = client.call(name, &Args::Value(args))?;
        Ok(serde_json::from_slice(&reply.json)?)
    };
    let recorded = call(
        "record_step",
        json!({
            "tool": "get_device",
            "parameters": {"site": "nyc"},
            "result": {"id": 412, "name": "switch-nyc-01", "state": "down"},
        }),
    )?;
    println!("recorded: {recorded:#}");
    let found = call("search", json!({"query": "which switch is down?"}))?;
    println!("found: {found:#}");
    Ok(())
}
