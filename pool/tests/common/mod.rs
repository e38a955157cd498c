//! A NATS server on the loopback, with a store of its own.

use intermezzo_pool::{Address, Pool};
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};
use tempfile::TempDir;

/// A server that ends with the test.
pub(crate) struct Server {
    child: Child,
    store: TempDir,
    port: u16,
    arguments: &'static [&'static str],
}

impl Server {
    /// Starts a server; `None` if there is no `nats-server` here, which is said.
    pub(crate) fn start() -> Option<Server> {
        Server::with(&[])
    }

    /// The same, with these arguments besides.
    pub(crate) fn with(arguments: &'static [&'static str]) -> Option<Server> {
        let store = tempfile::tempdir().unwrap();
        // The port is free now, and no other test is told of it.
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        match run(store.path(), port, arguments) {
            Ok(child) => Some(Server {
                child,
                store,
                port,
                arguments,
            }),
            Err(error) => {
                let line = format!(
                    "SKIPPED: nats-server cannot be run here ({error}), so this test shows nothing\n"
                );
                // Past the harness, which would keep it for itself.
                io::stderr().write_all(line.as_bytes()).unwrap();
                None
            }
        }
    }

    /// Returns the address of the pool of this name.
    pub(crate) fn address(&self, stream: &str) -> Address {
        format!("nats://127.0.0.1:{}/{stream}", self.port)
            .parse()
            .unwrap()
    }

    /// Connects to the pool of this name.
    #[allow(dead_code, reason = "the tests of the command line connect in its processes")]
    pub(crate) fn pool(&self, stream: &str) -> Pool {
        Pool::connect(&self.address(stream)).unwrap()
    }

    /// Ends the server without warning, waits, and starts one with the same store.
    pub(crate) fn restart(&mut self, away: Duration) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        thread::sleep(away);
        self.child = run(self.store.path(), self.port, self.arguments).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(store: &Path, port: u16, arguments: &[&str]) -> io::Result<Child> {
    let child = Command::new("nats-server")
        .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"])
        .arg(store)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "the server does not answer"
        );
        thread::sleep(Duration::from_millis(20));
    }
    Ok(child)
}
