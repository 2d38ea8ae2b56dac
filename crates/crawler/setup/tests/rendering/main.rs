//! Crawls whose pages are rendered, by a table in place of a browser.
//!
//! The crawl is assembled as by the command line and crawls a server on loopback.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

mod failures;
mod requests;
mod verdicts;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crawl::{Fault, Finish, Limits};
use fetch::Secrets;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};
use journal::VisitRecord;
use messages::CommandError;
use policy::RenderMode;
use render::{BrowserRequest, RequestKind};
use settings::read_again::ArchivedPages;
use settings::seeds::{ReadAhead, Seeds};
use settings::values::Span;
use settings::{Settings, crawl_directory, machine};
use setup::assembly::{Components, assemble, prepare_directory};
use sinks::warc::{Record, WarcReader, name_of};
use testkit::browser::{ScriptedBrowser, request};
use testkit::{Reply, Server, Site};

const HOST: &str = "app.test";

/// A page with next to no text without its script.
const SHELL: &str = "<html><head><title>App</title><script src=/app.js></script></head>\
                     <body><div id=root></div></body></html>";

/// Returns a DOM with a heading, a text and a link.
fn dom(heading: &str, text: &str, link: &str) -> String {
    format!(
        "<html><head><title>{heading}</title></head><body><h1>{heading}</h1><p>{text}</p>\
         <a href=\"{link}\">{link}</a></body></html>"
    )
}

/// Returns a text of sixty words, which differ for each topic.
fn words(topic: &str) -> String {
    (0..60).map(|number| format!("{topic}{number} ")).collect()
}

/// Returns a POST of JSON.
fn post(url: &str) -> BrowserRequest {
    let json = HeaderValue::from_static("application/json");
    BrowserRequest {
        method: Method::POST,
        headers: HeaderMap::from_iter([(CONTENT_TYPE, json)]),
        body: Some("{\"q\": [1, \"a b\"]}".into()),
        ..request(RequestKind::Data, url)
    }
}

/// A crawl of a server.
struct Crawl {
    server: Server,
    settings: Settings,
    directory: tempfile::TempDir,
    browser: ScriptedBrowser,
}

/// A crawl that has ended.
struct Ended {
    result: Result<Finish, Fault>,
    server: Server,
    settings: Settings,
    browser: Arc<ScriptedBrowser>,
    directory: tempfile::TempDir,
}

impl Crawl {
    /// Begins at `/` of these pages, which robots.txt allows but for `/private/`.
    fn of(pages: &[(&str, Reply)]) -> Self {
        let robots = Reply::text("User-agent: *\nDisallow: /private/\n");
        let mut pages: Vec<(String, Reply)> = pages
            .iter()
            .map(|(path, reply)| ((*path).to_owned(), reply.clone()))
            .collect();
        pages.push(("/robots.txt".to_owned(), robots));
        Self::at(Site::pages(pages))
    }

    /// Begins at `/` of a site.
    fn at(site: Site) -> Self {
        let server = Server::spawn_thread(site);
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings {
            url: vec![server.url(HOST, "/")],
            out: directory.path().join("crawl"),
            resolve: vec![server.resolve(HOST), server.resolve("api.test")],
            allow_private: true,
            delay: Span(Duration::ZERO),
            delay_factor: 0.0,
            render: RenderMode::Shells,
            contact: Some("test@example.org".to_owned()),
            ..Settings::default()
        };
        Self {
            server,
            settings,
            directory,
            browser: ScriptedBrowser::default(),
        }
    }

    /// Adds what the scripts of the page at `path` do, by its URL.
    fn script(
        mut self,
        path: &str,
        script: impl FnOnce(ScriptedBrowser, &str) -> ScriptedBrowser,
    ) -> Self {
        let url = self.url(path);
        self.browser = script(self.browser, &url);
        self
    }

    /// Begins at `/`, whose scripts make this request. `/echo` shows what it received.
    fn sending(request: impl FnOnce(&Self) -> BrowserRequest) -> Self {
        let crawl = Self::at(Site::new(|request| match request.path() {
            "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private/\n"),
            "/" => Reply::html(SHELL),
            _ => {
                let media = request.header("content-type").unwrap_or_default();
                let body = String::from_utf8_lossy(&request.body);
                Reply::text(format!("{} {media} {body}", request.method))
            }
        }));
        let request = request(&crawl);
        crawl.script("/", |browser, url| browser.sends(url, request))
    }

    /// Adds a page whose scripts request `/app.js` and its data, and show these.
    fn shows(self, path: &str, data: &str) -> Self {
        let (script, data) = (self.url("/app.js"), self.url(data));
        self.script(path, |browser, url| {
            let requests = [
                (RequestKind::Script, script.as_str()),
                (RequestKind::Data, data.as_str()),
            ];
            browser.shows(url, &requests, "{1}")
        })
    }

    fn url(&self, path: &str) -> String {
        self.server.url(HOST, path)
    }

    fn run(self) -> Ended {
        let browser = Arc::new(self.browser);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let result = runtime.block_on(crawl(&self.settings, Arc::clone(&browser)));
        Ended {
            result: result.unwrap(),
            server: self.server,
            settings: self.settings,
            directory: self.directory,
            browser,
        }
    }
}

async fn crawl(
    settings: &Settings,
    browser: Arc<ScriptedBrowser>,
) -> Result<Result<Finish, Fault>, CommandError> {
    let form = settings.canonical_form();
    let mut seeds = Seeds::gather(settings, &form, ReadAhead::All, |_| None)?;
    let clock = machine::clock();
    let mut components = Components::new(settings, &seeds, Secrets::default(), &clock, None)?;
    components.render_by(browser);
    prepare_directory(settings)?;
    let (_handle, stop) = crawl::stop();
    let assembled = assemble(settings, &mut seeds, components, None, || stop.clone()).await?;
    let limits = Limits {
        concurrency: 8,
        pages: None,
        bytes: None,
        harvest: None,
        time: None,
        drain: Duration::from_secs(60),
    };
    let result = crawl::run(&assembled.context, limits, stop).await;
    Ok(result)
}

impl Ended {
    fn visits(&self) -> Vec<VisitRecord> {
        let state = crawl_directory::state(&self.settings.out);
        let visits = journal::visits(&state).unwrap();
        visits.map(|visit| visit.unwrap()).collect()
    }

    fn visit(&self, path: &str) -> VisitRecord {
        let url = self.server.url(HOST, path);
        let mut visits = self.visits().into_iter();
        visits.find(|visit| visit.url.as_str() == url).unwrap()
    }

    /// Returns how often a path was requested.
    fn requested(&self, path: &str) -> usize {
        self.server.log().count(HOST, path)
    }

    /// Returns the text that readers of the archive find for a page.
    fn archived_text(&self, path: &str) -> String {
        let pages = ArchivedPages::of(&self.settings);
        pages.read(&self.visit(path)).unwrap().document.text
    }

    /// Returns the records of the archive, as kind and path.
    fn records(&self) -> Vec<String> {
        let records = self.whole_records().into_iter();
        let names = records.map(|record| {
            let target = record.target().unwrap_or_default();
            let path = target.rsplit_once('/').map_or("", |(_, path)| path);
            format!("{} /{path}", record.kind())
        });
        names.collect()
    }

    /// Returns a field of the archive's metadata about a page.
    fn note(&self, path: &str, name: &str) -> Option<String> {
        let url = self.server.url(HOST, path);
        let mut records = self.whole_records().into_iter();
        let metadata = records
            .find(|record| record.kind() == "metadata" && record.target() == Some(&url))
            .unwrap();
        let fields = String::from_utf8(metadata.block).unwrap();
        let mut fields = fields.lines().filter_map(|line| line.split_once(": "));
        let field = fields.find(|(field, _)| *field == name);
        field.map(|(_, value)| value.to_owned())
    }

    fn whole_records(&self) -> Vec<Record> {
        let archive = crawl_directory::archive(&self.settings.out);
        let mut records = Vec::new();
        for path in archive_files(&archive) {
            let mut reader = WarcReader::open(&path).unwrap();
            records.extend(std::iter::from_fn(|| reader.next_record(1 << 20).unwrap()));
        }
        records
    }
}

fn archive_files(archive: &Path) -> Vec<std::path::PathBuf> {
    let items = std::fs::read_dir(archive).unwrap();
    let mut paths: Vec<_> = items.map(|item| item.unwrap().path()).collect();
    paths.retain(|path| name_of(path).is_some());
    paths.sort();
    paths
}
