//! The server over streamable HTTP, on a free port whose address it writes into the folder.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;

use crate::{Answer, Mode, Server, leave, respond};

/// Session id of every client.
const SESSION: &str = "session-of-tests";

/// Serves connections sequentially until killed.
pub fn serve(server: &Server) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    // Written under another name first, so that readers only see a complete file.
    let made = server.folder.join("address.new");
    std::fs::write(&made, address.to_string()).expect("the folder takes files");
    std::fs::rename(made, server.folder.join("address")).expect("the folder takes files");
    for stream in listener.incoming().flatten() {
        // A client may disconnect at any time.
        let _ = exchange(server, stream);
    }
}

/// Handles one request; the connection ends with its answer.
fn exchange(server: &Server, stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(&stream);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let (mut length, mut session) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "mcp-session-id" => session = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    leave(&server.folder, "request", request.trim());
    if request.starts_with("DELETE") {
        return write(&stream, "200 OK", "text/plain", "");
    }
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        return write(&stream, "400 Bad Request", "text/plain", "no JSON");
    };
    if message["method"] != "initialize" && session.as_deref() != Some(SESSION) {
        return write(&stream, "400 Bad Request", "text/plain", "no session");
    }
    match server.answer(&message) {
        None => write(&stream, "202 Accepted", "text/plain", ""),
        Some(Answer::Result(result)) => {
            let text = respond(&message, &result).to_string();
            if server.mode == Mode::HttpEvents {
                let events = format!(": hello\n\ndata: {text}\n\n");
                return write(&stream, "200 OK", "text/event-stream", &events);
            }
            write(&stream, "200 OK", "application/json", &text)
        }
        Some(_) => write(&stream, "500 Internal Server Error", "text/plain", "broken"),
    }
}

fn write(mut stream: &TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nMcp-Session-Id: {SESSION}\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
