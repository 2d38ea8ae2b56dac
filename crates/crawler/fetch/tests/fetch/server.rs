//! Small servers on raw sockets, which can send bytes that no HTTP library would.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use web::{CanonicalForm, PageUrl};

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    heads: Mutex<Vec<String>>,
}

impl Server {
    /// Answers every request with these bytes and waits for the next one on the same connection.
    pub(crate) async fn answering(response: impl Into<Vec<u8>>) -> Self {
        let response: Arc<[u8]> = response.into().into();
        Self::start(move |mut stream, seen| {
            let response = Arc::clone(&response);
            async move {
                while let Some(head) = read_head(&mut stream).await {
                    seen.note(head);
                    if stream.write_all(&response).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    /// Answers the first request of every connection with these bytes and closes it.
    pub(crate) async fn answering_once(response: impl Into<Vec<u8>>) -> Self {
        let response: Arc<[u8]> = response.into().into();
        Self::with(move |mut stream| {
            let response = Arc::clone(&response);
            async move {
                stream
                    .write_all(&response)
                    .await
                    .expect("the client listens");
            }
        })
        .await
    }

    /// Reads the first request of every connection and leaves the rest to `response`.
    pub(crate) async fn with<F, Done>(response: F) -> Self
    where
        F: Fn(TcpStream) -> Done + Send + Sync + 'static,
        Done: Future<Output = ()> + Send,
    {
        let response = Arc::new(response);
        Self::start(move |mut stream, seen| {
            let response = Arc::clone(&response);
            async move {
                if let Some(head) = read_head(&mut stream).await {
                    seen.note(head);
                    response(stream).await;
                }
            }
        })
        .await
    }

    async fn start<F, Done>(serve: F) -> Self
    where
        F: Fn(TcpStream, Arc<Seen>) -> Done + Send + 'static,
        Done: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("loopback is there");
        let address = listener.local_addr().expect("it is bound");
        let seen = Arc::new(Seen::default());
        let server = Self {
            address,
            seen: Arc::clone(&seen),
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                seen.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&seen)));
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> PageUrl {
        page(&format!("http://{}{path}", self.address))
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        self.seen
            .heads
            .lock()
            .expect("no test panics in here")
            .clone()
    }
}

impl Seen {
    fn note(&self, head: String) {
        self.heads
            .lock()
            .expect("no test panics in here")
            .push(head);
    }
}

pub(crate) fn page(url: &str) -> PageUrl {
    PageUrl::parse(url, &CanonicalForm::default()).expect("tests ask for pages")
}

/// Reads up to and including the empty line; `None` once the client has closed the connection.
async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}
