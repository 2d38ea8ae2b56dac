//! A request of our own that shows that the server has read everything before it.

use std::io::{Read, Write};
use std::net::TcpStream;

use testkit::Server;

/// A host that is no part of the web.
pub(crate) const BELL: &str = "bell.test";

/// Asks for something of our own, and waits for the answer: what was sent before has been read
/// then.
pub(crate) fn ring(server: &Server) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {BELL}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}
