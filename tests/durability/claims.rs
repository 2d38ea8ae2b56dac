//! Links to the target of a redirect in flight.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use testkit::{Gate, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page};

const MOVER: &str = "mover.test";
const TARGET: &str = "target.test";
const LINKER: &str = "linker.test";

/// A page that a redirect had claimed was lost if the visit did not end well: a link to it was
/// dropped, and after a kill the redirect went elsewhere. One interrupt lost 27 of 60 pages, the
/// crawl ended as "exhausted", and `verify` agreed. A second redirect to the page lost it as well:
/// its visit ended as that to a page with a visit of its own.
#[test]
fn a_way_that_is_found_while_a_redirect_claims_its_target_outlasts_a_kill() {
    for (moves_on, is_redirect) in [(false, false), (true, false), (false, true), (true, true)] {
        let gates = [Gate::new(), Gate::new(), Gate::new()];
        let [asked, linking, linked] = gates.clone();
        let redirects = AtomicUsize::new(0);
        let site = Site::new(move |request| {
            let page_of_target = format!("http://{TARGET}:{}/page", request.port.unwrap());
            match (&*request.host, request.path()) {
                (MOVER, "/") => page(1, &["/moved"]),
                (MOVER, "/moved") => match redirects.fetch_add(1, Ordering::Relaxed) {
                    0 => Reply::redirect(302, page_of_target),
                    _ if moves_on => Reply::redirect(302, "/other"),
                    _ => Reply::status(404),
                },
                (MOVER, "/other") => page(2, NONE),
                (TARGET, "/") => page(3, NONE),
                (TARGET, "/page") => page(4, NONE).hold(&asked),
                (LINKER, "/") if is_redirect => page(5, &["/away", "/next"]).hold(&linking),
                (LINKER, "/") => page(5, &[&*page_of_target, "/next"]).hold(&linking),
                (LINKER, "/away") => Reply::redirect(302, page_of_target),
                (LINKER, "/next") => page(6, NONE).hold(&linked),
                _ => Reply::status(404),
            }
        });
        let hosts = [MOVER, TARGET, LINKER];
        let server = Server::spawn_thread(site);
        let crawl = Crawl::of(&server, &hosts).seeds(&hosts.map(|host| server.url(host, "/")));
        let running = crawl.start();
        let [asked, linking, linked] = &gates;
        // The redirect has claimed the page; then the visit of the page that links to it ends.
        asked.arrivals_blocking(1);
        linking.open();
        linked.arrivals_blocking(1);
        running.kill();
        gates.iter().for_each(Gate::open);
        crawl.complete();
        let visits = crawl.visits();
        let is_page = |visit: &&Value| visit["final_url"] == server.url(TARGET, "/page").as_str();
        let kept = visits
            .iter()
            .filter(is_page)
            .find(|visit| visit["verdict"] == "unique");
        assert!(kept.is_some(), "{moves_on}, {is_redirect}: {visits:?}");
        crawl.is_sound();
    }
}
