//! Sends several calls before it waits for the first reply: `cargo run -p lore --example pipeline`.
//!
//! All calls cost one round trip. Replies are received by call number, in any order.

use std::error::Error;

use lore::paths::Paths;
use lore::protocol::Args;
use lore::protocol::frame::Hello;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let hello = Hello {
        client: "pipeline/1".to_owned(),
        ..Hello::default()
    };
    let mut connection = lore::start::connect(&Paths::find(None)?, &hello)?;
    let mut calls = Vec::new();
    for number in 0..10 {
        let step = json!({"tool": "count", "result": number});
        calls.push(connection.send("record_step", &Args::Value(step))?);
    }
    for call in calls.into_iter().rev() {
        let reply = connection.receive(call)?;
        println!("{}", String::from_utf8_lossy(&reply.json));
    }
    Ok(())
}
