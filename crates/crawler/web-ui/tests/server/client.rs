//! A client that sends any request, also those that no browser sends.

use std::net::SocketAddr;

use scraper::{Html, Selector};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use web::{Clock, Timestamp};
use web_ui::{DashboardServer, ServeOptions, Token};

use crate::crawl::CrawlFixture;

/// The token of all servers in these tests.
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A dashboard that is served until it is dropped.
pub(crate) struct Served {
    pub(crate) crawl: CrawlFixture,
    pub(crate) address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Served {
    /// Serves a crawl. Each look at its figures reads on, because the clock of the server jumps.
    pub(crate) async fn of(crawl: CrawlFixture) -> Self {
        let options = ServeOptions {
            listen: "127.0.0.1:0".parse().unwrap(),
            token: Token::parse(TOKEN).unwrap(),
        };
        let minutes = std::sync::atomic::AtomicU64::new(0);
        let clock = Clock::new(move || {
            let minute = minutes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Timestamp::from_millis(1_790_000_000_000 + minute * 60_000)
        });
        let server = DashboardServer::open(&options, crawl.watched(), clock)
            .await
            .unwrap();
        Self {
            crawl,
            address: server.address(),
            serving: tokio::spawn(server.run()),
        }
    }

    /// Sends a request with these header fields only, and reads the response to its end.
    pub(crate) async fn send(&self, first: &str, fields: &[&str], body: &str) -> Response {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut request = format!("{first} HTTP/1.1\r\nConnection: close\r\n");
        for field in fields {
            request += &format!("{field}\r\n");
        }
        if !body.is_empty() {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        request += &format!("\r\n{body}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        // A server that refuses a long body closes the connection while it is sent.
        let _ended = stream.read_to_end(&mut received).await;
        Response::read(&received)
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: {}", self.address)
    }

    pub(crate) fn cookie(&self) -> String {
        format!("Cookie: crawler-{}={TOKEN}", self.address.port())
    }

    pub(crate) fn origin(&self) -> String {
        format!("Origin: http://{}", self.address)
    }

    /// Asks as a browser without the token does.
    pub(crate) async fn get(&self, target: &str) -> Response {
        self.send(&format!("GET {target}"), &[&self.host()], "")
            .await
    }

    /// Asks as a browser with the token does.
    pub(crate) async fn get_as_owner(&self, target: &str) -> Response {
        let fields = [&*self.host(), &self.cookie()];
        self.send(&format!("GET {target}"), &fields, "").await
    }

    /// Sends a form as one of our own pages does.
    pub(crate) async fn post(&self, target: &str, form: &str) -> Response {
        let form_type = "Content-Type: application/x-www-form-urlencoded";
        let fields = [&*self.host(), &self.cookie(), &self.origin(), form_type];
        self.send(&format!("POST {target}"), &fields, form).await
    }
}

impl Response {
    fn read(received: &[u8]) -> Self {
        let text = String::from_utf8_lossy(received);
        let (head, body) = text.split_once("\r\n\r\n").expect(&text);
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Returns the value of a header field.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// Returns the name and the attributes of each element, in order.
    pub(crate) fn elements(&self) -> Vec<String> {
        let document = Html::parse_document(&self.body);
        let all = Selector::parse("*").unwrap();
        let elements = document.select(&all);
        elements
            .map(|element| format!("{:?}", element.value()))
            .collect()
    }

    /// Returns the text of the page.
    pub(crate) fn text(&self) -> String {
        let document = Html::parse_document(&self.body);
        let body = Selector::parse("body").unwrap();
        document
            .select(&body)
            .flat_map(|body| body.text())
            .collect()
    }

    /// Returns the value of an attribute of the first element that a selector finds.
    pub(crate) fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        let document = Html::parse_document(&self.body);
        let selector = Selector::parse(selector).unwrap();
        let found = document.select(&selector).next()?;
        found.attr(name).map(str::to_owned)
    }
}
