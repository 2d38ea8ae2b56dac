//! The extent of a link graph in a text file that was cut anywhere.

use std::path::Path;

use disk::draft_of;
use export::{Differs, ExportFault, Form, LINKS, Link, Linked, TableWriter, Visit, linked_so_far};
use proptest::prelude::*;
use tempfile::tempdir;

use crate::read_back::{ABOUT, texts, visit};

/// The links of visits, by the number of the visit.
type Graph = Vec<(u32, Vec<(String, String)>)>;

fn written(form: Form, graph: &Graph, begun: bool) -> Vec<u8> {
    let mut writer = match begun {
        false => TableWriter::begin(form, LINKS, &ABOUT, Vec::new()).unwrap(),
        true => TableWriter::go_on(form, LINKS, &ABOUT, Vec::new()).unwrap(),
    };
    for (page, links) in graph {
        let visit = visit(*page);
        for (target, anchor) in links {
            let link = Link {
                source: visit.record.url.as_str(),
                target,
                anchor,
                rel: "nofollow ugc",
                kind: "page",
            };
            writer.write(&link.fields()).unwrap();
        }
    }
    writer.finish().unwrap()
}

fn so_far(path: &Path, form: Form, graph: &Graph) -> Result<Linked, ExportFault> {
    let visits: Vec<Visit> = graph.iter().map(|(page, _)| visit(*page)).collect();
    linked_so_far(path, form, visits.into_iter().map(Ok))
}

proptest! {
    #[test]
    fn the_kept_and_the_rewritten_links_of_a_cut_file_are_complete(
        pages in prop::collection::vec(prop::collection::vec((texts(), texts()), 0..4), 0..6),
        share in 0..=1000_usize,
        zeros in prop_oneof![Just(0), 1..9_usize],
        csv in any::<bool>(),
    ) {
        let form = if csv { Form::Csv } else { Form::Jsonl };
        let graph: Graph = (0..).zip(pages).collect();
        let whole = written(form, &graph, false);
        let mut there = whole[..whole.len() * share / 1000].to_vec();
        let zeros = if share < 1000 && form == Form::Jsonl { zeros } else { 0 };
        there.resize(there.len() + zeros, 0);
        let directory = tempdir().unwrap();
        let path = directory.path().join("links");
        std::fs::write(draft_of(&path), &there).unwrap();
        let linked = so_far(&path, form, &graph).unwrap();
        let rest: Graph = graph[linked.visits as usize..].to_vec();
        let mut made = whole[..linked.bytes as usize].to_vec();
        made.extend(written(form, &rest, linked.bytes > 0));
        prop_assert_eq!(made, whole);
    }
}

#[test]
fn no_page_but_the_last_is_read_again() {
    let links =
        |count: usize| vec![("http://site.test/x".to_owned(), "two\n\"lines\"".to_owned()); count];
    let graph: Graph = vec![
        (0, links(2)),
        (1, links(0)),
        (2, links(1)),
        (3, links(3)),
        (4, links(0)),
    ];
    for form in [Form::Jsonl, Form::Csv] {
        let directory = tempdir().unwrap();
        let path = directory.path().join("links");
        std::fs::write(&path, written(form, &graph, false)).unwrap();
        let bytes = written(form, &graph[..3].to_vec(), false).len() as u64;
        assert_eq!(
            so_far(&path, form, &graph).unwrap(),
            Linked { visits: 3, bytes }
        );
    }
}

#[test]
fn links_of_other_pages_are_refused() {
    let links = || vec![("http://site.test/x".to_owned(), String::new())];
    let graph: Graph = vec![(0, links()), (1, links()), (2, links())];
    for (there, line) in [
        (vec![(7, links()), (0, links())], 1),
        (vec![(0, links()), (7, links())], 2),
        (vec![(0, links()), (2, links()), (1, links())], 3),
    ] {
        for form in [Form::Jsonl, Form::Csv] {
            let directory = tempdir().unwrap();
            let path = directory.path().join("links");
            std::fs::write(&path, written(form, &there, false)).unwrap();
            let found = so_far(&path, form, &graph);
            let line = line + u64::from(form == Form::Csv);
            assert!(
                matches!(found, Err(ExportFault::Differs(Differs { line: at })) if at == line),
                "{found:?}"
            );
        }
    }
    for (form, text) in [
        (Form::Jsonl, "{\"url\":\"http://site.test/0\"}\n"),
        (Form::Csv, "url,final_url\nhttp://site.test/0,\n"),
    ] {
        let directory = tempdir().unwrap();
        let path = directory.path().join("links");
        std::fs::write(&path, text).unwrap();
        assert!(matches!(
            so_far(&path, form, &graph),
            Err(ExportFault::Differs(Differs { line: 1 }))
        ));
    }
}
