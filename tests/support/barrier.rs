//! A request of the test that shows that the server has read everything before it.

use std::io::{Read, Write};
use std::net::TcpStream;

use testkit::Server;

/// A host that is no part of the web.
pub(crate) const BARRIER_HOST: &str = "barrier.test";

/// Sends a request and waits for its answer: by then the server has read everything that was sent
/// before.
pub(crate) fn wait(server: &Server) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {BARRIER_HOST}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}
