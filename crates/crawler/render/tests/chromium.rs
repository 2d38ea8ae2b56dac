//! Pages in a real Chromium: what its scripts see, what leaves it, and how it ends.
//!
//! Without a Chromium on PATH these tests are reported as ignored.

use std::collections::{HashMap, HashSet};
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use render::{
    BrowserAnswer, BrowserRequest, Chromium, ChromiumOptions, Cut, PageNetwork, PageSource, Render,
    RenderFailure, RenderLimits, Rendering, RequestKind, Sandbox,
};

/// A table of bodies by URL. Everything else is refused.
#[derive(Default)]
struct Table {
    files: HashMap<&'static str, (&'static str, String)>,
    /// Time that each answer takes.
    delay: Duration,
    asked: Mutex<Vec<(String, RequestKind)>>,
}

impl Table {
    fn new(files: &[(&'static str, &'static str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(url, kind, body)| (*url, (*kind, (*body).to_owned())));
        Self {
            files: files.collect(),
            ..Self::default()
        }
    }

    fn asked(&self) -> Vec<(String, RequestKind)> {
        self.asked.lock().expect("set up by the test").clone()
    }
}

fn typed(kind: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(http::header::CONTENT_TYPE, HeaderValue::from_static(kind))])
}

#[async_trait]
impl PageNetwork for Table {
    async fn answer(&self, request: BrowserRequest) -> BrowserAnswer {
        self.asked
            .lock()
            .expect("set up by the test")
            .push((request.url.clone(), request.kind));
        tokio::time::sleep(self.delay).await;
        match self.files.get(request.url.as_str()) {
            Some((kind, body)) => BrowserAnswer::Response {
                status: 200,
                headers: typed(kind),
                body: Bytes::copy_from_slice(body.as_bytes()),
            },
            None => BrowserAnswer::Refused("not in the table".to_owned()),
        }
    }
}

fn page(body: &str) -> PageSource {
    PageSource {
        url: "https://shell.test/page#part"
            .parse()
            .expect("set up by the test"),
        status: 200,
        headers: typed("text/html"),
        body: Bytes::copy_from_slice(body.as_bytes()),
        at: 1_700_000_000,
    }
}

async fn start(sandbox: Sandbox) -> Chromium {
    Chromium::start(ChromiumOptions {
        sandbox,
        ..ChromiumOptions::default()
    })
    .await
    .expect("set up by the test")
}

async fn rendered(body: &str, network: &Table) -> Rendering {
    let chromium = start(Sandbox::Namespaces).await;
    chromium
        .render(&page(body), network, &RenderLimits::default())
        .await
        .expect("set up by the test")
}

fn short() -> RenderLimits {
    RenderLimits {
        wall: Duration::from_secs(4),
        ..RenderLimits::default()
    }
}

/// Checks that a browser renders a page after one that failed.
async fn renders_the_next_page(chromium: &Chromium) {
    let (network, limits) = (Table::default(), RenderLimits::default());
    let next = chromium.render(&page("<p>next"), &network, &limits).await;
    let html = next.expect("the page is harmless").html;
    assert!(html.contains("<p>next</p>"), "{html}");
}

/// Returns the processes whose command line contains `text`.
fn processes(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc")
        .expect("set up by the test")
        .flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    numbers.filter(has).collect()
}

/// Returns the directories of the browsers with this user agent.
fn profiles(agent: &str) -> HashSet<String> {
    let lines = processes(agent).into_iter().filter_map(|id| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let flag = line
            .split('\0')
            .find_map(|flag| flag.strip_prefix("--user-data-dir="))?;
        Some(flag.to_owned())
    });
    lines.collect()
}

const FETCHES: &str = "<!doctype html><html lang=en><title>Shell</title><div id=root></div><script>
    fetch('/api').then(r => r.json()).then(all => { root.innerHTML =
        all.map(x => `<p>${x}</p><a href=/p/${x}>more</a>`).join('') })</script>";

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn a_page_whose_script_fetches_data_shows_its_text_and_links() {
    let network = Table::new(&[("https://shell.test/api", "application/json", "[\"alpha\"]")]);
    let rendering = rendered(FETCHES, &network).await;
    assert!(
        rendering
            .html
            .starts_with("<!DOCTYPE html><html lang=\"en\">"),
        "{}",
        rendering.html
    );
    assert!(
        rendering.html.contains("<p>alpha</p><a href=\"/p/alpha\">"),
        "{}",
        rendering.html
    );
    assert!(rendering.html.ends_with("</html>"));
    assert_eq!(rendering.title, "Shell");
    assert_eq!(rendering.final_url, "https://shell.test/page#part");
    assert_eq!(rendering.cut_by, None);
    assert!(
        network
            .asked()
            .contains(&("https://shell.test/api".into(), RequestKind::Data))
    );
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn the_page_itself_is_never_asked_of_the_network() {
    let network = Table::new(&[("https://shell.test/api", "application/json", "[]")]);
    rendered(FETCHES, &network).await;
    assert!(
        network
            .asked()
            .iter()
            .all(|(url, _)| !url.contains("/page"))
    );
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn open_shadow_roots_are_in_the_dom() {
    let body = "<div id=a></div><script>const inner = document.createElement('div');
        inner.attachShadow({mode:'open'}).innerHTML = '<p>deep in the shadow</p>';
        a.attachShadow({mode:'open'}).append(inner)</script>";
    let rendering = rendered(body, &Table::default()).await;
    assert!(
        rendering.html.contains("<p>deep in the shadow</p>"),
        "{}",
        rendering.html
    );
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn requests_of_frames_and_workers_go_through_the_network() {
    let network = Table::new(&[
        (
            "https://other.test/frame",
            "text/html",
            "<script>fetch('/of-frame')</script>",
        ),
        (
            "https://shell.test/worker.js",
            "text/javascript",
            "fetch('/of-worker')",
        ),
    ]);
    let body = "<iframe src=https://other.test/frame></iframe>
        <script>new Worker('/worker.js'); navigator.serviceWorker.register('/service.js')</script>";
    let rendering = rendered(body, &network).await;
    let asked = network.asked();
    for (url, kind) in [
        ("https://other.test/frame", RequestKind::Frame),
        ("https://other.test/of-frame", RequestKind::Data),
        ("https://shell.test/worker.js", RequestKind::Script),
        ("https://shell.test/of-worker", RequestKind::Data),
        ("https://shell.test/service.js", RequestKind::Other),
    ] {
        assert!(asked.contains(&(url.to_owned(), kind)), "{url}: {asked:?}");
    }
    assert!(
        rendering
            .refused
            .iter()
            .any(|refused| refused.reason == "not in the table")
    );
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn a_slow_network_does_not_time_out_for_the_page_and_the_dom_is_the_same_twice() {
    let body = "<p id=clock></p><div id=root></div><script>(async () => {
        for (let i = 0; i < 6; i++) {
            const stop = AbortSignal.timeout(3000);
            let timer = 'in time'; setTimeout(() => { timer = 'too late' }, 3000);
            try { await (await fetch('/api?' + i, { signal: stop })).text();
                  root.append('got ' + i + ' ' + timer + ' ') }
            catch (e) { root.append(e.name) }
        } clock.append(new Date().getUTCFullYear()) })()</script>";
    let urls = [
        "https://shell.test/api?0",
        "https://shell.test/api?1",
        "https://shell.test/api?2",
        "https://shell.test/api?3",
        "https://shell.test/api?4",
        "https://shell.test/api?5",
    ];
    let urls = urls.map(|url| (url, "text/plain", "x"));
    let network = Table {
        delay: Duration::from_millis(700),
        ..Table::new(&urls)
    };
    let first = rendered(body, &network).await;
    assert!(
        first.html.contains("got 4 in time got 5 in time </div>"),
        "{}",
        first.html
    );
    assert!(
        first.html.contains("<p id=\"clock\">2023</p>"),
        "{}",
        first.html
    );
    assert_eq!(rendered(body, &network).await.html, first.html);
}

/// 58 of 60 pages read our clock, because theirs was set when they were already on view.
#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn the_first_script_of_a_page_reads_the_time_of_its_response() {
    let chromium = start(Sandbox::Namespaces).await;
    let page = page("<p id=clock></p><script>clock.append(Date.now())</script>");
    for _ in 0..3 {
        let (network, limits) = (Table::default(), RenderLimits::default());
        let rendering = chromium.render(&page, &network, &limits).await;
        let html = rendering.expect("the page is harmless").html;
        assert!(html.contains("<p id=\"clock\">1700000000000</p>"), "{html}");
    }
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn an_endless_loop_ends_by_its_limit_and_the_next_page_is_rendered() {
    let chromium = start(Sandbox::Namespaces).await;
    let network = Table::default();
    let quick = RenderLimits {
        wall: Duration::from_secs(3600),
        unresponsive: Duration::from_secs(1),
        ..RenderLimits::default()
    };
    for limits in [short(), quick] {
        let looped = chromium
            .render(&page("<script>for(;;);</script>"), &network, &limits)
            .await;
        assert_eq!(looped, Err(RenderFailure::OutOfTime));
        renders_the_next_page(&chromium).await;
    }
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn dialogs_do_not_hang_and_a_ticking_page_is_cut_by_its_own_time() {
    let body = "<p id=n></p><script>alert(1); confirm(2); n.append('after ');
        setInterval(() => n.append('tick '), 100)</script>";
    let rendering = rendered(body, &Table::default()).await;
    assert!(rendering.html.contains("after"), "{}", rendering.html);
    assert_eq!(rendering.cut_by, Some(Cut::PageTime));
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn a_navigation_is_refused_and_reported() {
    let body = "<p>still here</p><script>onload = () => setTimeout(() => {
        location.href = '/elsewhere'; open('https://popup.test/') }, 10);
        console.error('told'); undefined_function()</script>";
    let rendering = rendered(body, &Table::default()).await;
    assert!(rendering.html.contains("still here"), "{}", rendering.html);
    let mut opened = rendering.navigations.clone();
    opened.sort();
    assert_eq!(
        opened,
        ["https://popup.test/", "https://shell.test/elsewhere"]
    );
    assert_eq!(rendering.cut_by, None);
    assert!(
        rendering.console_errors.contains(&"told".to_owned()),
        "{rendering:?}"
    );
    assert!(
        rendering
            .console_errors
            .iter()
            .any(|text| text.contains("undefined_function"))
    );
}

async fn no_canary_sings(sandbox: Sandbox) {
    let canary = TcpListener::bind("127.0.0.1:0").expect("set up by the test");
    canary.set_nonblocking(true).expect("set up by the test");
    let port = canary.local_addr().expect("set up by the test").port();
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("set up by the test");
    datagrams.set_nonblocking(true).expect("set up by the test");
    let stun = datagrams.local_addr().expect("set up by the test");
    let body = format!(
        "<link rel=preconnect href=http://127.0.0.1:{port}>
        <link rel=prefetch href=http://127.0.0.1:{port}/a>
        <script type=speculationrules>{{\"prefetch\":[{{\"source\":\"list\",\"urls\":
            [\"http://127.0.0.1:{port}/b\"],\"eagerness\":\"immediate\"}}]}}</script>
        <iframe src=http://127.0.0.1:{port}/c></iframe><p id=p></p>
        <script>new WebSocket('ws://127.0.0.1:{port}/d').onerror = () => p.append('no socket');
        fetch('http://127.0.0.1:{port}/e').catch(() => 0);
        navigator.sendBeacon('http://127.0.0.1:{port}/f', 'x');
        const peer = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:{stun}' }}] }});
        peer.createDataChannel('x');
        peer.createOffer().then(offer => peer.setLocalDescription(offer))
        </script>"
    );
    let chromium = start(sandbox).await;
    // Real time, in which a datagram would be sent.
    let network = Table {
        delay: Duration::from_millis(500),
        ..Table::default()
    };
    let page = page(&body);
    let rendering = chromium
        .render(&page, &network, &RenderLimits::default())
        .await
        .expect("set up by the test");
    assert!(rendering.html.contains("no socket"), "{}", rendering.html);
    drop(chromium);
    let heard = canary.accept();
    assert!(heard.is_err(), "{heard:?}");
    let heard = datagrams.recv(&mut [0; 8]);
    assert!(heard.is_err(), "{heard:?}");
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn nothing_reaches_the_machine_with_namespaces() {
    no_canary_sings(Sandbox::Namespaces).await;
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn nothing_reaches_the_machine_with_flags() {
    no_canary_sings(Sandbox::Flags).await;
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn a_dom_beyond_its_limit_is_too_large() {
    let chromium = start(Sandbox::Namespaces).await;
    let limits = RenderLimits {
        dom_bytes: 1 << 20,
        ..RenderLimits::default()
    };
    let body = "<script>document.write('<p>' + 'x'.repeat(2 << 20))</script>";
    let rendering = chromium
        .render(&page(body), &Table::default(), &limits)
        .await;
    assert_eq!(rendering, Err(RenderFailure::TooLarge(1 << 20)));
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn a_picture_shows_the_window_after_the_scripts_ran() {
    let chromium = start(Sandbox::Namespaces).await;
    let picture = async |body: &str, most: usize| {
        let limits = RenderLimits {
            picture_bytes: Some(most),
            ..RenderLimits::default()
        };
        let network = Table::default();
        let rendering = chromium.render(&page(body), &network, &limits).await;
        rendering.expect("the page is harmless").picture
    };
    let blank = picture("", 16 << 20).await.expect("it is taken");
    let body = "<script>setTimeout(() => document.body.style.background = 'red', 200)</script>";
    let red = picture(body, 16 << 20).await.expect("it is taken");
    // The signature, and the width in the first chunk (PNG, sections 5.2 and 11.2.1).
    assert_eq!(red[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(red[16..20], 1280_u32.to_be_bytes());
    assert_ne!(red, blank);
    assert_eq!(picture(body, red.len() - 1).await, None, "it is too large");
    let rendering = rendered(body, &Table::default()).await;
    assert_eq!(rendering.picture, None, "none is wanted");
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn a_page_that_fills_memory_ends_alone() {
    let chromium = start(Sandbox::Namespaces).await;
    let body = "<script>const a = []; for (;;) a.push(new Array(100000).fill(Math.random()))
        </script>";
    let limits = RenderLimits::default();
    let bomb = chromium
        .render(&page(body), &Table::default(), &limits)
        .await;
    assert_eq!(bomb, Err(RenderFailure::TabCrashed));
    renders_the_next_page(&chromium).await;
}

/// Ends the browsers of this process when the page makes its request.
struct Killer(String);

#[async_trait]
impl PageNetwork for Killer {
    async fn answer(&self, _request: BrowserRequest) -> BrowserAnswer {
        for id in processes(&self.0) {
            let kill = std::process::Command::new("kill")
                .args(["-KILL", &id.to_string()])
                .output();
            drop(kill.expect("set up by the test"));
        }
        BrowserAnswer::Failed("killed".to_owned())
    }
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn a_killed_browser_is_replaced_and_none_is_left_after_the_end() {
    for (sandbox, agent) in [
        (Sandbox::Namespaces, "test-of-namespaces/1"),
        (Sandbox::Flags, "test-of-flags/1"),
    ] {
        let user_agent = Some(agent.to_owned());
        let options = ChromiumOptions {
            sandbox,
            user_agent,
            ..ChromiumOptions::default()
        };
        let chromium = Chromium::start(options).await.expect("set up by the test");
        let mut started = profiles(agent);
        let limits = RenderLimits::default();
        let killer = Killer(agent.to_owned());
        let killed = chromium
            .render(&page("<script src=/x></script>"), &killer, &limits)
            .await;
        assert_eq!(killed, Err(RenderFailure::TabCrashed));
        renders_the_next_page(&chromium).await;
        started.extend(profiles(agent));
        drop(chromium);
        // The kernel takes a moment to end a namespace.
        let mut tries = 0..100;
        while !processes(agent).is_empty() && tries.next().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(processes(agent), [0_u32; 0], "{sandbox:?}");
        assert_eq!(started.len(), 2);
        assert!(
            started.iter().all(|profile| !Path::new(profile).exists()),
            "{started:?}"
        );
    }
}

/// Frameworks draw in animation frames, and lists load their next part once their end is in view.
/// On a loaded machine, 2 of 48 routes of an application were read before their first frame.
#[tokio::test]
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
async fn what_a_page_does_in_animation_frames_and_in_view_is_part_of_its_dom() {
    let body = "<div id=end></div><script>
        const show = text => document.body.append(text);
        requestAnimationFrame(() => requestAnimationFrame(() => show('drawn ')));
        new IntersectionObserver((entries, observer) => {
          if (!entries.some(entry => entry.isIntersecting)) return;
          observer.disconnect();
          fetch('/next').then(next => next.text()).then(show);
        }).observe(document.getElementById('end'));
        new ResizeObserver(() => show('measured ')).observe(document.body);
        </script>";
    let network = Table::new(&[("https://shell.test/next", "text/plain", "loaded")]);
    let chromium = start(Sandbox::Namespaces).await;
    let limits = RenderLimits::default();
    for number in 0..20 {
        let rendering = chromium.render(&page(body), &network, &limits).await;
        let html = rendering.expect("the page is harmless").html;
        for text in ["drawn", "loaded", "measured"] {
            assert!(html.contains(text), "{number}: {text} in {html}");
        }
    }
}

/// Answers the request for `/x` once it may.
#[derive(Default)]
struct Held(tokio::sync::Notify);

#[async_trait]
impl PageNetwork for Held {
    async fn answer(&self, request: BrowserRequest) -> BrowserAnswer {
        if request.url.ends_with("/x") {
            self.0.notified().await;
        }
        BrowserAnswer::Failed("held".to_owned())
    }
}

#[cfg_attr(not(has_chromium), ignore = "no Chromium on PATH")]
#[tokio::test]
async fn a_browser_above_its_memory_is_replaced_between_pages_and_loses_none() {
    let usual = ChromiumOptions::default().max_memory;
    for (agent, sandbox, max_memory, browsers) in [
        ("small-in-namespaces/1", Sandbox::Namespaces, 50 << 20, 2),
        ("small-with-flags/1", Sandbox::Flags, 50 << 20, 2),
        ("large/1", Sandbox::Namespaces, usual, 1),
    ] {
        let options = ChromiumOptions {
            sandbox,
            tabs: 2,
            max_memory,
            user_agent: Some(agent.to_owned()),
            ..ChromiumOptions::default()
        };
        let chromium = Chromium::start(options).await.expect("set up by the test");
        let (held, limits) = (Held::default(), RenderLimits::default());
        let page = page("<p>kept</p><script src=/x></script>");
        let first = chromium.render(&page, &held, &limits);
        let others = async {
            for _ in 0..4 {
                renders_the_next_page(&chromium).await;
            }
            assert_eq!(profiles(agent).len(), browsers, "{agent}");
            held.0.notify_one();
        };
        let (first, ()) = tokio::join!(first, others);
        let html = first.expect("its browser lives as long as it").html;
        assert!(html.contains("<p>kept</p>"), "{html}");
        assert_eq!(profiles(agent).len(), 1, "{agent}");
    }
}
