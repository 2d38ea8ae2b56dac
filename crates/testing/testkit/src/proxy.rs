//! A proxy that leads to one server, or to two by port, whatever the host, and keeps what it was
//! asked for.
//!
//! It speaks SOCKS 5 (RFC 1928, 1929) and HTTP (CONNECT, and URLs in full): the first byte tells.
//! Since it does not look at addresses, a test can ask it for public ones and never leaves this
//! machine.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use data_encoding::BASE64;

/// Listens on a free port of 127.0.0.1 until the test process ends.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    rules: Arc<Rules>,
}

#[derive(Debug)]
struct Rules {
    server: SocketAddr,
    /// The server for port 443.
    secure: SocketAddr,
    /// `user:password` of the only client that gets through.
    credentials: Option<String>,
    asked: Mutex<Vec<String>>,
}

impl Proxy {
    /// Leads to `server`; with credentials (`user:password`), only for clients that send them.
    ///
    /// # Panics
    /// Without a free port or a thread.
    #[must_use]
    pub fn before(server: SocketAddr, credentials: Option<&str>) -> Self {
        Self::before_both(server, server, credentials)
    }

    /// Leads to `secure` for port 443, and to `server` for every other.
    ///
    /// # Panics
    /// Without a free port or a thread.
    #[must_use]
    pub fn before_both(server: SocketAddr, secure: SocketAddr, credentials: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let rules = Arc::new(Rules {
            server,
            secure,
            credentials: credentials.map(str::to_owned),
            asked: Mutex::default(),
        });
        let shared = Arc::clone(&rules);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let rules = Arc::clone(&shared);
                // A conversation that breaks off is the test's business.
                thread::spawn(move || converse(client, &rules).ok());
            }
        });
        Self { address, rules }
    }

    /// Returns the address that it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests so far: `CONNECT 93.184.216.34:443`, `GET http://a.test/`, `SOCKS
    /// a.test:80`.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        let asked = self.rules.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Rules {
    fn connect(&self, target: &str) -> io::Result<TcpStream> {
        TcpStream::connect(match target.ends_with(":443") {
            true => self.secure,
            false => self.server,
        })
    }

    fn note(&self, asked: String) {
        let mut all = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(asked);
    }
}

fn converse(mut client: TcpStream, rules: &Rules) -> io::Result<()> {
    let mut first = [0];
    client.read_exact(&mut first)?;
    if first == [5] {
        socks(client, rules)
    } else {
        http(client, first[0], rules)
    }
}

fn http(mut client: TcpStream, first: u8, rules: &Rules) -> io::Result<()> {
    let head = read_head(&mut client, vec![first])?;
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.trim_end().split("\r\n");
    let request = lines.next().unwrap_or_default();
    let (method, target) = request.split_once(' ').unwrap_or_default();
    let target = target.split(' ').next().unwrap_or_default();
    let (for_us, for_server): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| line.to_ascii_lowercase().starts_with("proxy-"));
    if let Some(credentials) = &rules.credentials {
        let expected = format!("Basic {}", BASE64.encode(credentials.as_bytes()));
        if !for_us.iter().any(|line| line.ends_with(&expected)) {
            return client.write_all(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: \
                    close\r\n\r\n",
            );
        }
    }
    rules.note(format!("{method} {target}"));
    let mut server = rules.connect(target)?;
    if method == "CONNECT" {
        client.write_all(b"HTTP/1.1 200 Connection established\r\nVia: 1.1 testkit\r\n\r\n")?;
    } else {
        let path = target.splitn(4, '/').nth(3).unwrap_or_default();
        let fields = for_server.join("\r\n");
        write!(
            server,
            "{method} /{path} HTTP/1.1\r\n{fields}\r\nConnection: close\r\n\r\n"
        )?;
        // Closes the connection after each request and says so: the client would otherwise send its
        // next request on a connection that is about to end.
        let mut answer = read_head(&mut server, Vec::new())?;
        answer.truncate(answer.len() - 2);
        answer.extend_from_slice(b"Connection: close\r\n\r\n");
        client.write_all(&answer)?;
    }
    pass_on(client, server)
}

/// Up to and with the empty line.
fn read_head(stream: &mut TcpStream, mut head: Vec<u8>) -> io::Result<Vec<u8>> {
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(head)
}

fn socks(mut client: TcpStream, rules: &Rules) -> io::Result<()> {
    let methods = exactly_counted(&mut client)?;
    let wanted = if rules.credentials.is_some() { 2 } else { 0 };
    if !methods.contains(&wanted) {
        return client.write_all(&[5, 0xff]);
    }
    client.write_all(&[5, wanted])?;
    if let Some(credentials) = &rules.credentials {
        client.read_exact(&mut [0])?;
        let given = [exactly_counted(&mut client)?, exactly_counted(&mut client)?].join(&b':');
        if given != credentials.as_bytes() {
            return client.write_all(&[1, 1]);
        }
        client.write_all(&[1, 0])?;
    }
    let mut request = [0; 4];
    client.read_exact(&mut request)?;
    let host = match request[3] {
        1 => {
            let mut octets = [0; 4];
            client.read_exact(&mut octets)?;
            Ipv4Addr::from(octets).to_string()
        }
        4 => {
            let mut octets = [0; 16];
            client.read_exact(&mut octets)?;
            format!("[{}]", Ipv6Addr::from(octets))
        }
        _ => String::from_utf8_lossy(&exactly_counted(&mut client)?).into_owned(),
    };
    let mut port = [0; 2];
    client.read_exact(&mut port)?;
    let target = format!("{host}:{}", u16::from_be_bytes(port));
    rules.note(format!("SOCKS {target}"));
    let server = rules.connect(&target)?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    pass_on(client, server)
}

/// A byte that says how many follow, and those.
fn exactly_counted(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut count = [0];
    client.read_exact(&mut count)?;
    let mut bytes = vec![0; count[0].into()];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn pass_on(mut client: TcpStream, mut server: TcpStream) -> io::Result<()> {
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        // Each side learns when the other hangs up.
        io::copy(&mut from_client, &mut to_server).ok();
        to_server.shutdown(Shutdown::Write).ok();
    });
    io::copy(&mut server, &mut client)?;
    client.shutdown(Shutdown::Write)
}
