//! A browser without script: it keeps the cookie of a dashboard, and sends forms as pages do.

use std::io::{Read, Write};
use std::net::TcpStream;

use scraper::{Html, Selector};

use crate::support::Running;

/// A browser at the dashboard of a crawl.
pub(crate) struct Browser {
    address: String,
    cookie: String,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Browser {
    /// Opens the URL that a command prints.
    pub(crate) fn at(running: &mut Running) -> Self {
        let (mut browser, target) = Self::without_token(running);
        browser.enter(&target);
        browser
    }

    /// Returns a browser without the token, and the target of the printed URL.
    pub(crate) fn without_token(running: &mut Running) -> (Self, String) {
        let line = running.line_with("dashboard: http://");
        let (_, url) = line.split_once("http://").unwrap();
        let (address, target) = url.split_once('/').unwrap();
        let browser = Self {
            address: address.to_owned(),
            cookie: String::new(),
        };
        (browser, format!("/{target}"))
    }

    /// Opens a target that has the token.
    pub(crate) fn enter(&mut self, target: &str) {
        let entered = self.get(target);
        assert_eq!(entered.status, 303, "{entered:?}");
        let fields = entered.head.lines();
        let mut cookies = fields.filter_map(|field| field.strip_prefix("set-cookie: "));
        let cookie = cookies.next().unwrap();
        cookie
            .split(';')
            .next()
            .unwrap()
            .clone_into(&mut self.cookie);
    }

    /// Asks for a page.
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.get_with(target, &[])
    }

    /// Asks for a page with further header fields.
    pub(crate) fn get_with(&self, target: &str, fields: &[&str]) -> Answer {
        self.send("GET", target, fields, "")
    }

    /// Asks for a page until it has these words: figures may be half a second old.
    pub(crate) fn wait_for(&self, target: &str, words: &str) -> String {
        loop {
            let text = self.get(target).text();
            if text.contains(words) {
                return text;
            }
        }
    }

    /// Sends a form.
    pub(crate) fn post(&self, target: &str, form: &str) -> Answer {
        self.send("POST", target, &[], form)
    }

    /// Orders a change: sends its form, and the one of the preview.
    pub(crate) fn order(&self, form: &str) {
        let preview = self.post("/controls/preview", form);
        assert_eq!(preview.status, 200, "{preview:?}");
        let document = Html::parse_document(&preview.body);
        let base = Selector::parse("input[name=base]").unwrap();
        let base = document
            .select(&base)
            .next()
            .unwrap()
            .attr("value")
            .unwrap();
        let written = self.post("/controls", &format!("base={base}&{form}"));
        assert_eq!(written.status, 303, "{written:?}");
    }

    fn send(&self, method: &str, target: &str, fields: &[&str], form: &str) -> Answer {
        let (address, cookie) = (&self.address, &self.cookie);
        let mut stream = TcpStream::connect(address).unwrap();
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
             Cookie: {cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             {fields}Content-Length: {}\r\nConnection: close\r\n\r\n{form}",
            form.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        let received = String::from_utf8_lossy(&received);
        let (head, body) = received.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }
}

impl Answer {
    /// Returns the text of the page.
    pub(crate) fn text(&self) -> String {
        let document = Html::parse_document(&self.body);
        document.root_element().text().collect()
    }

    /// Returns the addresses of the frames of the page that allow nothing.
    pub(crate) fn frames(&self) -> Vec<String> {
        assert_eq!(self.status, 200, "{self:?}");
        let document = Html::parse_document(&self.body);
        let frames = Selector::parse("iframe[sandbox='']").unwrap();
        let frames = document.select(&frames);
        frames
            .map(|frame| frame.attr("src").unwrap().to_owned())
            .collect()
    }
}
