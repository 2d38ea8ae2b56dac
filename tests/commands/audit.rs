//! `crawler export --audit` on a site with one of each defect: every table names it, and nothing
//! else; the workbook has the same rows as the CSV files.

use std::collections::BTreeMap;

use calamine::{Reader, Xlsx};
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{anchor, html, prose};

const HOST: &str = "site.test";

/// The pages that the home page links to.
const LINKS: [&str; 14] = [
    "/self",
    "/other",
    "/chain",
    "/gone-canonical",
    "/hidden",
    "/old",
    "/loop-a",
    "/gone",
    "/twin-1",
    "/twin-2",
    "/secret",
    "/en",
    "/two-headings",
    "http://elsewhere.test/",
];

/// A page with this in its head, and before its text.
fn page(head: &str, body: &str) -> Reply {
    let seed = head.bytes().chain(body.bytes());
    let number = seed.fold(7_u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte));
    Reply::html(html(head, &format!("{body}<p>{}</p>", prose(number, 200))))
}

fn canonical(path: &str) -> Reply {
    let head = format!("<title>To {path}</title><link rel=canonical href=\"{path}\">");
    page(&head, "")
}

fn translation(language: &str, links: &[(&str, &str)]) -> Reply {
    let links: String = links
        .iter()
        .map(|(language, path)| format!("<link rel=alternate hreflang={language} href={path}>"))
        .collect();
    let also = anchor("/de");
    page(&format!("<title>In {language}</title>{links}"), &also)
}

fn sitemap(port: u16) -> Reply {
    let paths = [
        "/", "/self", "/orphan", "/renamed", "/old", "/gone", "/hidden", "/secret",
    ];
    let entries = paths.map(|path| format!("<url><loc>http://{HOST}:{port}{path}</loc></url>"));
    let far = "<url><loc>http://elsewhere.test/far</loc></url>";
    let body = format!("<urlset>{}{far}</urlset>", entries.concat());
    Reply::document("application/xml", body)
}

fn site() -> Site {
    Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text(format!(
            "User-agent: *\nDisallow: /secret\nSitemap: http://{HOST}:{}/sitemap.xml\n",
            request.port.unwrap()
        )),
        "/sitemap.xml" => sitemap(request.port.unwrap()),
        "/" => page(
            "<title>Home</title><meta name=description content=\"All of it\">\
             <link rel=canonical href=/>",
            &format!("<h1>Welcome</h1>{}", LINKS.map(anchor).concat()),
        ),
        "/self" => canonical("/self"),
        "/other" => canonical("/self"),
        "/chain" => canonical("/other"),
        "/gone-canonical" => canonical("/gone"),
        "/hidden" => page("<title>=1+1</title><meta name=robots content=noindex>", ""),
        "/old" => Reply::redirect(301, "/older"),
        "/older" => Reply::redirect(302, "/renamed"),
        "/renamed" => page("<title>New name</title>", ""),
        "/loop-a" => Reply::redirect(302, "/loop-b"),
        "/loop-b" => Reply::redirect(302, "/loop-a"),
        "/twin-1" | "/twin-2" => page(
            "<title>Twins</title><meta name=description content=\"One of two\">",
            request.path(),
        ),
        "/two-headings" => page("", "<h1>One</h1><h1>Two</h1>"),
        "/en" => translation("en", &[("en", "/en"), ("de", "/de"), ("fr", "/fr")]),
        "/de" => translation("de", &[("de", "/de"), ("en", "/en")]),
        "/fr" => translation("fr", &[("fr", "/fr")]),
        "/orphan" => page("<title>Orphan</title>", &anchor("/fr")),
        _ => Reply::status(404),
    })
}

fn crawled() -> (Server, Crawl) {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries=1", "--concurrency=1"]);
    crawl.complete();
    (server, crawl)
}

/// A table: its columns, and a map from column to value per row.
struct Table {
    columns: Vec<String>,
    rows: Vec<BTreeMap<String, String>>,
}

impl Table {
    fn of(rows: Vec<Vec<String>>) -> Self {
        let mut rows = rows.into_iter();
        let columns = rows.next().unwrap();
        let rows = rows.map(|row| columns.iter().cloned().zip(row).collect());
        Self {
            rows: rows.collect(),
            columns,
        }
    }

    /// Returns these columns of each row in alphabetical order, separated by spaces. URLs of the
    /// site are their paths, and an empty field is `-`.
    fn values(&self, server: &Server, columns: &[&str]) -> Vec<String> {
        let origin = server.url(HOST, "");
        let field = |row: &BTreeMap<String, String>, column: &str| {
            assert!(self.columns.iter().any(|known| known == column), "{column}");
            let text = row.get(column).map_or("", String::as_str);
            match text.replace(&origin, "") {
                empty if empty.is_empty() => "-".to_owned(),
                text => text,
            }
        };
        let rows = self.rows.iter();
        let lines = rows.map(|row| {
            let fields = columns.iter().map(|column| field(row, column));
            fields.collect::<Vec<String>>().join(" ")
        });
        let mut lines: Vec<String> = lines.collect();
        lines.sort();
        lines
    }
}

/// Writes the audit as CSV files, and returns its tables by name.
fn audit(crawl: &Crawl) -> BTreeMap<String, Table> {
    let run = crawl.run_command(&["export", "crawl", "--audit", "--raw", "-o", "audit/"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let files = std::fs::read_dir(crawl.directory().join("audit")).unwrap();
    let tables = files.map(|file| {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.has_headers(false).from_path(&path).unwrap();
        let rows = reader.records().map(|record| {
            let record = record.unwrap();
            record.iter().map(str::to_owned).collect()
        });
        (name, Table::of(rows.collect()))
    });
    tables.collect()
}

#[test]
fn pages_have_their_content_their_canonical_page_and_what_keeps_them_out_of_an_index() {
    let (server, crawl) = crawled();
    let pages = &audit(&crawl)["pages"];
    assert_eq!(
        pages.values(
            &server,
            &["url", "status", "not_indexable_because", "canonical_kind"]
        ),
        [
            "/ 200 - self",
            "/chain 200 canonical chain",
            "/de 200 - missing",
            "/en 200 - missing",
            "/fr 200 - missing",
            "/gone 404 failed -",
            "/gone-canonical 200 canonical broken",
            "/hidden 200 noindex missing",
            "/loop-b 302 redirect -",
            "/older 302 redirect -",
            "/orphan 200 - missing",
            "/other 200 canonical other",
            "/renamed 200 - missing",
            "/secret - robots.txt -",
            "/self 200 - self",
            "/twin-1 200 - missing",
            "/twin-2 200 - missing",
            "/two-headings 200 - missing",
        ]
    );
    let content = [
        "url",
        "title",
        "title_length",
        "description",
        "description_length",
        "h1_count",
    ];
    let content = pages.values(&server, &content);
    for expected in [
        "/ Home 4 All of it 9 1",
        "/hidden =1+1 4 - - 0",
        "/two-headings - - - - 2",
        "/gone - - - - -",
    ] {
        assert!(content.iter().any(|row| row == expected), "{content:#?}");
    }
    let links = pages.values(
        &server,
        &["url", "depth", "inlinks", "outlinks", "in_sitemap"],
    );
    for expected in [
        "/ 0 0 14 true",
        "/de 2 2 0 false",
        "/fr 2 1 1 false",
        "/orphan 1 0 1 true",
        "/renamed 1 0 0 true",
        "/gone 1 1 - true",
    ] {
        assert!(links.iter().any(|row| row == expected), "{links:#?}");
    }
}

#[test]
fn redirects_are_listed_hop_by_hop_with_their_chains_and_loops() {
    let (server, crawl) = crawled();
    let columns = [
        "url",
        "status",
        "target",
        "redirects",
        "is_loop",
        "final_url",
        "final_status",
    ];
    assert_eq!(
        audit(&crawl)["redirects"].values(&server, &columns),
        [
            "/loop-a 302 /loop-b 2 true - -",
            "/loop-b 302 /loop-a 2 true - -",
            "/old 301 /older 2 false /renamed 200",
            "/older 302 /renamed 1 false /renamed 200",
        ]
    );
}

#[test]
fn defects_of_links_titles_translations_and_sitemaps_have_tables() {
    let (server, crawl) = crawled();
    let tables = audit(&crawl);
    let values = |table: &str, columns: &[&str]| tables[table].values(&server, columns);
    assert_eq!(
        values("broken", &["source", "target", "anchor", "status"]),
        ["/ /gone /gone 404", "/gone-canonical /gone - 404"]
    );
    assert_eq!(
        values("titles", &["field", "text", "pages", "url"]),
        [
            "description One of two 2 /twin-1",
            "description One of two 2 /twin-2",
            "title To /self 2 /other",
            "title To /self 2 /self",
            "title Twins 2 /twin-1",
            "title Twins 2 /twin-2",
        ]
    );
    assert_eq!(
        values(
            "canonicals",
            &["url", "canonical", "canonical_kind", "canonical_status"]
        ),
        [
            "/chain /other chain 200",
            "/gone-canonical /gone broken 404",
            "/other /self other 200",
        ]
    );
    assert_eq!(
        values("hreflang", &["url", "hreflang", "translation", "issue"]),
        [
            "/de de /de -",
            "/de en /en -",
            "/en de /de -",
            "/en en /en -",
            "/en fr /fr no return link",
            "/fr fr /fr -",
        ]
    );
    assert_eq!(
        values("orphans", &["url", "sitemap", "status"]),
        ["/orphan /sitemap.xml 200"]
    );
    assert_eq!(
        values("sitemap", &["url", "sitemap", "issue"]),
        [
            "/de - not in a sitemap",
            "/en - not in a sitemap",
            "/fr - not in a sitemap",
            "/gone /sitemap.xml failed",
            "/hidden /sitemap.xml noindex",
            "/old /sitemap.xml redirect",
            "/secret /sitemap.xml robots.txt",
            "/twin-1 - not in a sitemap",
            "/twin-2 - not in a sitemap",
            "/two-headings - not in a sitemap",
            "http://elsewhere.test/far /sitemap.xml not visited",
        ]
    );
}

#[test]
fn the_workbook_has_the_rows_of_the_csv_files() {
    let (_server, crawl) = crawled();
    let tables = audit(&crawl);
    let run = crawl.run_command(&["export", "crawl", "--audit", "--output", "audit.xlsx"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.errors
            .contains("wrote audit.xlsx: pages 18, redirects 4"),
        "{run:?}"
    );
    let path = crawl.directory().join("audit.xlsx");
    let mut book: Xlsx<_> = calamine::open_workbook(path).unwrap();
    let mut names = book.sheet_names();
    assert_eq!(names[0], "pages");
    names.sort();
    assert_eq!(names, tables.keys().cloned().collect::<Vec<String>>());
    for (name, table) in &tables {
        let range = book.worksheet_range(name).unwrap();
        let rows = range
            .rows()
            .map(|row| row.iter().map(ToString::to_string).collect());
        let sheet = Table::of(rows.collect());
        assert_eq!(sheet.columns, table.columns, "{name}");
        assert_eq!(sheet.rows, table.rows, "{name}");
    }
}

#[test]
fn other_tables_can_be_workbooks_too() {
    let (_server, crawl) = crawled();
    let run = crawl.run_command(&["export", "crawl", "--links", "-o", "links.xlsx"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let links = crawl.json_lines(&["export", "crawl", "--links"]);
    let mut book: Xlsx<_> = calamine::open_workbook(crawl.directory().join("links.xlsx")).unwrap();
    let rows = book.worksheet_range("links").unwrap();
    assert_eq!(rows.rows().count(), 1 + links.len());
    assert_eq!(
        rows.rows().nth(1).unwrap()[0].to_string(),
        links[0]["source"]
    );
}

#[test]
fn an_audit_needs_a_place_for_its_tables() {
    let (_server, crawl) = crawled();
    crawl.write("file", "");
    for (arguments, culprit) in [
        (vec!["--audit"], "several tables"),
        (vec!["--audit", "--output", "-"], "several tables"),
        (vec!["--audit", "--output", "file"], "file is a file"),
        (
            vec!["--audit", "--format=xlsx", "--output", "crawl"],
            "crawl is a directory",
        ),
        (vec!["--audit", "--links", "-o", "audit/"], "--links"),
        (vec!["--audit", "--format=wet", "-o", "audit/"], "WET"),
        (vec!["--audit", "--bom", "-o", "audit.xlsx"], "--bom"),
        (vec!["-o", "visits.xlsx", "--resume"], "workbook"),
        (
            vec!["--format=xlsx", "-o", "visits.xlsx.gz"],
            "already compressed",
        ),
    ] {
        let run = crawl.run_command(&[&["export", "crawl"], &arguments[..]].concat());
        run.assert_error(2, culprit);
    }
    assert!(!crawl.directory().join("audit").exists());
}

/// The content of an unarchived page is unknown, so its fields are empty, not zero.
#[test]
fn a_page_that_is_not_archived_has_a_row_without_content() {
    // The same text in other bytes: equal bytes are never archived twice.
    let body = format!("{}<p>{}</p>", anchor("/copy"), prose(7, 200));
    let home = |head: &str| Reply::html(html(&format!("<title>Home</title>{head}"), &body));
    let site = Site::pages([("/", home("")), ("/copy", home("<!-- copy -->"))]);
    let server = Server::spawn_thread(site);
    let columns = [
        "url",
        "verdict",
        "title",
        "h1_count",
        "outlinks",
        "canonical_kind",
    ];
    for (on_duplicate, copy) in [
        ("drop", "/copy exact-duplicate Home - - -"),
        ("keep", "/copy exact-duplicate Home 0 0 missing"),
    ] {
        let crawl = Crawl::of(&server, &[HOST])
            .seeds(&[server.url(HOST, "/")])
            .with(&["--on-duplicate", on_duplicate]);
        crawl.complete();
        let tables = audit(&crawl);
        let pages = tables["pages"].values(&server, &columns);
        assert_eq!(pages, ["/ unique Home 0 1 missing", copy], "{on_duplicate}");
        let links = tables["pages"].values(&server, &["url", "inlinks", "in_sitemap"]);
        assert_eq!(links, ["/ 0 -", "/copy 1 -"], "{on_duplicate}");
    }
}
