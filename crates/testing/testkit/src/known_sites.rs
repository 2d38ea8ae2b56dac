//! Sites of which every page is known: the pages that say the same, and so the pages that a crawl
//! lost.
//!
//! Each is a small model of a real site on which leaving out duplicates cost pages: editions behind
//! equal index pages, templates with more words than their pages have of their own, links that
//! stand on copies only. A text is lost where a crawl archived none of the pages that have it
//! ([`KnownSite::lost`]); pages of one text are copies, and it does not matter which of them is
//! archived.
//!
//! No link names a host, so copies are equal to the byte wherever they are served.

mod editions;
mod forums;
mod reference;
mod shops;
mod site;
mod views;
mod wiki;

pub use editions::{half_translated, language_editions, mirror, thief, two_versions};
pub use forums::{deleted_threads, tag_twins, two_threads};
pub use reference::api_reference;
pub use shops::products;
pub use site::KnownSite;
pub use views::{blog, shop};
pub use wiki::wiki;

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use bytes::Bytes;

    use super::*;
    use crate::http::Request;

    /// Every generated site.
    fn all() -> Vec<(&'static str, KnownSite)> {
        vec![
            ("api_reference", api_reference()),
            ("two_versions", two_versions(false)),
            ("two_versions, both seeds", two_versions(true)),
            ("language_editions", language_editions()),
            ("half_translated", half_translated()),
            ("mirror", mirror(400)),
            ("thief", thief(200)),
            ("two_threads", two_threads()),
            ("tag_twins", tag_twins()),
            ("deleted_threads", deleted_threads(300, 900)),
            ("products", products(200, 800, 120)),
            ("blog", blog(40)),
            ("shop", shop(45)),
            ("wiki", wiki(24, 3)),
        ]
    }

    /// Resolves a relative link without `..` or a scheme.
    fn resolve(address: &str, href: &str) -> String {
        let (host, path) = address.split_once('/').unwrap();
        let base = path.rsplit_once('/').map_or("", |(base, _)| base);
        let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
        if let Some(rooted) = href.strip_prefix('/') {
            return format!("{host}/{rooted}");
        }
        let mut rest = href;
        while let Some(up) = rest.strip_prefix("../") {
            parts.pop();
            rest = up;
        }
        parts.push(rest);
        format!("{host}/{}", parts.join("/"))
    }

    #[test]
    fn every_page_can_be_reached_from_the_seeds_and_no_link_is_broken() {
        for (name, known) in all() {
            let site = known.site();
            let mut queue: Vec<String> = known.seeds().to_vec();
            let mut seen: HashSet<String> = queue.iter().cloned().collect();
            while let Some(address) = queue.pop() {
                let reply = site.answer(&Request::get(&format!("http://{address}")));
                assert_eq!(reply.code(), 200, "{name}: {address}");
                let body = String::from_utf8(reply.body().to_vec()).unwrap();
                for rest in body.split(" href=\"").skip(1) {
                    let href = rest.split('"').next().unwrap().replace("&amp;", "&");
                    let target = resolve(&address, &href);
                    if seen.insert(target.clone()) {
                        queue.push(target);
                    }
                }
            }
            assert_eq!(seen.len(), known.len(), "{name}");
        }
    }

    #[test]
    fn a_site_is_deterministic_and_pages_of_equal_bytes_have_one_text() {
        for ((name, one), (_, other)) in all().into_iter().zip(all()) {
            let mut text_of: HashMap<Bytes, usize> = HashMap::new();
            for (address, page) in &one.pages {
                assert_eq!(page.body, other.pages[address].body, "{name}: {address}");
                let text = *text_of.entry(page.body.clone()).or_insert(page.text);
                assert_eq!(text, page.text, "{name}: {address}");
            }
        }
    }

    #[test]
    fn a_view_is_an_address_without_numbers_and_titles() {
        for (address, view) in [
            ("m.journal.test/post/12", "m.journal.test/post/"),
            ("store.test/c/3/p/45", "store.test/c//p/"),
            (
                "store.test/c/3?sort=name&way=up",
                "store.test/c/?sort=name&way=up",
            ),
            (
                "wiki.test/page/the_old_mill?do=edit",
                "wiki.test/page/do=edit",
            ),
            ("wiki.test/talk/the_old_mill", "wiki.test/talk/"),
        ] {
            assert_eq!(KnownSite::view_of(address), view);
        }
    }

    #[test]
    fn a_text_is_lost_if_none_of_its_pages_was_archived() {
        let mut known = KnownSite::default();
        known.add("a.test/1", "one", "1");
        known.add("a.test/2", "one", "1");
        known.add("b.test/3", "three", "3");
        assert_eq!(known.lost(["a.test/2", "a.test/404"]), ["b.test/3"]);
        assert_eq!(known.lost([]), ["a.test/1", "b.test/3"]);
        let archived = ["a.test/1", "a.test/2", "b.test/3", "a.test/404"];
        assert_eq!(known.repeats(archived).len(), 1);
        assert!(known.say_the_same("a.test/1", "a.test/2"));
        assert!(!known.say_the_same("a.test/1", "b.test/3"));
        assert_eq!(
            (known.len(), known.texts(), known.hosts()),
            (3, 2, vec!["a.test", "b.test"])
        );
    }
}
