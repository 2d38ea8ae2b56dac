//! The self-test of a browser: a page whose scripts make ten requests.
//!
//! Interception and the virtual clock are experimental methods of Chromium, so a new version may
//! break them. The page shows a word for each answer in a shadow root, so a word in the DOM proves
//! a request, its answer, and the reading of the DOM.

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, Method};
use url::Url;

use crate::failure::RenderFailure;
use crate::seam::{
    BrowserAnswer, BrowserRequest, PageNetwork, PageSource, Render, RenderLimits, RequestKind,
};

const PAGE: &str = "<!DOCTYPE html><link rel=stylesheet href=style>
<body><div id=host></div><script>
const root = host.attachShadow({ mode: 'open' });
function show(word) { root.append('[' + word + ']') }
const start = Date.now();
const timer = setInterval(() => {
  root.append('.');
  if (Date.now() - start < 3000) return;
  clearInterval(timer);
  if (new Date(start).getUTCFullYear() === 2001) show('clock');
}, 400);
const shown = answer => answer.text().then(show);
fetch('fetch').then(shown);
fetch('redirect').then(shown);
fetch('post', { method: 'POST', body: 'x' }).catch(() => show('post'));
const xhr = new XMLHttpRequest();
xhr.onload = () => { if (xhr.status === 404) show(xhr.responseText) };
xhr.open('GET', 'xhr');
xhr.send();
new Worker('worker').onmessage = message => show(message.data);
onload = () => show(getComputedStyle(host).getPropertyValue('--word'));
</script><script src=script></script><script type=module src=module></script>
<iframe src=frame></iframe>";

/// Start time of the page, in Unix seconds; it is in 2001.
const START: u64 = 981_173_106;

/// Paths of the page's requests, with their purpose and their answer as type and body. Each path
/// but the last is also the word that the page shows.
const REQUESTS: [(&str, RequestKind, &str, &str); 11] = [
    (
        "style",
        RequestKind::Style,
        "text/css",
        "#host { --word: style }",
    ),
    (
        "script",
        RequestKind::Script,
        "text/javascript",
        "show('script')",
    ),
    (
        "module",
        RequestKind::Script,
        "text/javascript",
        "show('module'); export {}",
    ),
    (
        "frame",
        RequestKind::Frame,
        "text/html",
        "<script>parent.show('frame')</script>",
    ),
    ("fetch", RequestKind::Data, "text/plain", "fetch"),
    ("xhr", RequestKind::Data, "text/plain", "xhr"),
    ("post", RequestKind::Data, "", ""),
    (
        "worker",
        RequestKind::Script,
        "text/javascript",
        "postMessage('worker');
        fetch('fetch-of-worker').then(answer => answer.text()).then(postMessage)",
    ),
    (
        "fetch-of-worker",
        RequestKind::Data,
        "text/plain",
        "fetch-of-worker",
    ),
    ("redirect", RequestKind::Data, "", ""),
    ("target", RequestKind::Data, "text/plain", "redirect"),
];

/// The network of the page.
struct TestNetwork;

#[async_trait]
impl PageNetwork for TestNetwork {
    async fn answer(&self, request: BrowserRequest) -> BrowserAnswer {
        let path = request.url.rsplit('/').next().unwrap_or_default();
        let mut requests = REQUESTS.iter();
        let found = requests.find(|(known, kind, ..)| *known == path && *kind == request.kind);
        let is_sent = request.method == Method::GET;
        let Some((_, _, content_type, body)) = found.filter(|_| is_sent) else {
            return BrowserAnswer::Refused("the test page does not need it".to_owned());
        };
        let (status, name, value) = match path {
            "redirect" => (302, LOCATION, "target"),
            "xhr" => (404, CONTENT_TYPE, *content_type),
            _ => (200, CONTENT_TYPE, *content_type),
        };
        BrowserAnswer::Response {
            status,
            headers: HeaderMap::from_iter([(name, HeaderValue::from_static(value))]),
            body: Bytes::from_static(body.as_bytes()),
        }
    }
}

/// Renders the page. Fails if the DOM lacks a word, and names it.
pub(crate) async fn run(renderer: &dyn Render) -> Result<(), RenderFailure> {
    let url = Url::parse("https://self-test.invalid/");
    let url = url.map_err(|fault| RenderFailure::Protocol(fault.to_string()))?;
    let page = PageSource {
        url,
        status: 200,
        headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("text/html"))]),
        body: Bytes::from_static(PAGE.as_bytes()),
        at: START,
    };
    let limits = RenderLimits::default();
    let rendering = renderer.render(&page, &TestNetwork, &limits).await?;
    let words = REQUESTS.iter().map(|(path, ..)| *path);
    let words = words.filter(|word| *word != "target").chain(["clock"]);
    let missing: Vec<&str> = words
        .filter(|word| !rendering.html.contains(&format!("[{word}]")))
        .collect();
    match missing[..] {
        [] => Ok(()),
        [..] => {
            let missing = missing.join(", ");
            Err(RenderFailure::Protocol(format!(
                "the test page lacks {missing}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::Rendering;

    /// A browser whose workers do not run.
    struct WithoutWorkers;

    #[async_trait]
    impl Render for WithoutWorkers {
        async fn render(
            &self,
            _page: &PageSource,
            _network: &dyn PageNetwork,
            _limits: &RenderLimits,
        ) -> Result<Rendering, RenderFailure> {
            let words = REQUESTS.iter().map(|(path, ..)| *path).chain(["clock"]);
            let shown = words.filter(|word| !word.contains("worker"));
            Ok(Rendering {
                html: shown.map(|word| format!("[{word}]")).collect(),
                final_url: String::new(),
                title: String::new(),
                console_errors: Vec::new(),
                refused: Vec::new(),
                navigations: Vec::new(),
                picture: None,
                cut_by: None,
            })
        }
    }

    #[tokio::test]
    async fn what_the_browser_cannot_do_is_named() {
        let failure = run(&WithoutWorkers).await.unwrap_err().to_string();
        assert!(
            failure.ends_with("lacks worker, fetch-of-worker"),
            "{failure}"
        );
    }
}
