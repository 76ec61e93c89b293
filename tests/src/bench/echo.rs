//! The lower bound of reads: a server on the same runtime that answers at once with prepared bytes.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, ExitCode};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use super::child::Server;

/// Argument that makes a benchmark serve echoes.
const SERVE: &str = "--serve-echo";
/// Server threads, as many as the daemon's.
const WORKERS: usize = 2;

/// A process that answers each request with a fixed number of bytes.
#[derive(Debug)]
pub struct EchoServer {
    _server: Server,
    _folder: tempfile::TempDir,
    socket: std::path::PathBuf,
}

impl EchoServer {
    /// Starts this program again, as an echo server.
    pub fn start(dir: &Path) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("lore-bench-echo-")
            .tempdir_in(dir)
            .expect("a folder for the echo's socket");
        let socket = folder.path().join("echo.sock");
        let own = std::env::current_exe().expect("a program knows where it is");
        let mut command = Command::new(own);
        command.arg("--bench").arg(SERVE).arg(&socket);
        let server = Server::start(command, || UnixStream::connect(&socket).is_ok());
        Self {
            _server: server,
            _folder: folder,
            socket,
        }
    }

    /// Connects, for requests of `request` bytes and answers of `answer` bytes.
    pub fn connect(&self, request: usize, answer: usize) -> EchoClient {
        let mut stream = UnixStream::connect(&self.socket).expect("the echo serves");
        for size in [request, answer] {
            let size = u32::try_from(size).unwrap_or(u32::MAX);
            stream
                .write_all(&size.to_be_bytes())
                .expect("the echo reads");
        }
        EchoClient {
            stream,
            request: vec![b'?'; request],
            answer: vec![0; answer],
        }
    }
}

/// A client of the echo server.
#[derive(Debug)]
pub struct EchoClient {
    stream: UnixStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl EchoClient {
    /// Sends a request and reads its answer.
    pub fn trip(&mut self) {
        self.stream
            .write_all(&self.request)
            .expect("the echo reads");
        self.stream
            .read_exact(&mut self.answer)
            .expect("the echo answers");
    }

    /// Serves until killed if this process was started as an echo server.
    pub fn serve_if_asked() -> Option<ExitCode> {
        let socket = std::env::args_os().skip_while(|arg| arg != SERVE).nth(1)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_all()
            .build()
            .expect("threads to serve with");
        runtime.block_on(serve(Path::new(&socket)));
        Some(ExitCode::SUCCESS)
    }
}

async fn serve(socket: &Path) {
    let listener = UnixListener::bind(socket).expect("a socket to listen on");
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let (Ok(request), Ok(answer)) = (stream.read_u32().await, stream.read_u32().await)
            else {
                return;
            };
            let mut request = vec![0; request as usize];
            let answer = vec![b'!'; answer as usize];
            while stream.read_exact(&mut request).await.is_ok() {
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
            }
        });
    }
}
