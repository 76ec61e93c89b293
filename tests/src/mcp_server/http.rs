//! The server over streamable HTTP, on a port of its own that it leaves in the folder.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;

use crate::{Answer, Mode, Server, leave, respond};

/// The session that every client gets.
const SESSION: &str = "session-of-tests";

/// Answers one connection after the other until it is killed.
pub fn serve(server: &Server) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    // Under another name first: who sees the file can read it.
    let made = server.folder.join("address.new");
    std::fs::write(&made, address.to_string()).expect("the folder takes files");
    std::fs::rename(made, server.folder.join("address")).expect("the folder takes files");
    for stream in listener.incoming().flatten() {
        // A client may go at any time.
        let _ = exchange(server, stream);
    }
}

/// One request and its answer; the connection ends with it.
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
