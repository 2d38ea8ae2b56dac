//! Lines that a site has on many pages, and the kinds of pages.

use web::{
    CanonicalForm, Document, PageKind, PageUrl, ReadLimits, ResponseMetadata, SharedLines, read,
};

/// A site whose pages share these lines.
#[derive(Debug)]
struct Site(&'static [&'static str]);

impl SharedLines for Site {
    fn has(&self, url: &PageUrl, line: &str) -> bool {
        url.as_str().starts_with("http://site.test/") && self.0.contains(&line)
    }
}

fn read_of(site: Option<&Site>, url: &str, html: &str) -> Document {
    let form = CanonicalForm::default();
    let url = PageUrl::parse(url, &form).expect("a URL");
    let metadata = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        shared: site.map(|site| site as &dyn SharedLines),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        markdown: true,
        fields: true,
        ..ReadLimits::default()
    };
    read(html.as_bytes(), &metadata, &form, &limits)
}

fn kind_of(html: &str) -> Option<PageKind> {
    read_of(None, "http://site.test/", html).kind
}

fn prose(words: usize) -> String {
    let word = |number: usize| format!("word{number} ");
    (0..words).map(word).collect()
}

const SITE: Site = Site(&["Small. Fast. Reliable.", "Choose any three.", "The end"]);

#[test]
fn shared_lines_are_left_out_at_both_ends_of_text_and_markdown_and_stay_between() {
    let html = "<p>Small. Fast. Reliable.<p>Choose any three.<h1>About</h1>\
        <p>It says:<p>Choose any three.<p>That is all.<p>The end";
    let page = read_of(Some(&SITE), "http://site.test/a", html);
    assert_eq!(
        page.text,
        "About\nIt says:\nChoose any three.\nThat is all."
    );
    assert_eq!(
        page.markdown().unwrap().trim_end(),
        "# About\n\nIt says:\n\nChoose any three.\n\nThat is all."
    );
    assert!(page.full_text().starts_with("Small. Fast."));
    let elsewhere = read_of(Some(&SITE), "http://other.test/a", html);
    assert!(elsewhere.text.starts_with("Small. Fast."));
}

#[test]
fn a_page_of_shared_lines_alone_keeps_them() {
    let html = "<p>Choose any three.<p>The end";
    let page = read_of(Some(&SITE), "http://site.test/a", html);
    assert_eq!(page.text, "Choose any three.\nThe end");
}

#[test]
fn an_article_with_a_menu_is_an_article() {
    let links = "<li><a href=/x>A chapter of the manual</a></li>".repeat(9);
    let html = format!("<nav><ul>{links}</ul></nav><h1>Lamps</h1><p>{}", prose(200));
    assert_eq!(kind_of(&html), Some(PageKind::Article));
    assert_eq!(kind_of("<p>Short."), Some(PageKind::Article));
    assert_eq!(kind_of(""), Some(PageKind::Article));
}

#[test]
fn a_page_of_links_to_posts_is_a_list() {
    let post = |number: usize| {
        format!(
            "<div class=post><h2><a href=/{number}>What we saw in town {number}</a></h2>\
             <p class=date>Monday, {number} May</p></div>"
        )
    };
    let posts: String = (1..12).map(post).collect();
    let html = format!("<h1>Posts about towns</h1>{posts}");
    assert_eq!(kind_of(&html), Some(PageKind::List));
}

#[test]
fn a_page_to_log_in_is_a_form_and_an_article_within_a_form_is_none() {
    let fields = "<label>Name of the user <input name=u></label>\
        <label>Password of the user <input name=p type=password></label><button>Log in</button>";
    let login = format!("<h1>Log in</h1><form method=post>{fields}</form>");
    assert_eq!(kind_of(&login), Some(PageKind::Form));
    let wrapped = format!("<form><h1>Lamps</h1><p>{}</form>", prose(200));
    assert_eq!(kind_of(&wrapped), Some(PageKind::Article));
}

#[test]
fn a_plain_text_has_no_kind() {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://site.test/a.txt", &form).unwrap();
    let metadata = ResponseMetadata {
        content_type: Some("text/plain"),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        fields: true,
        ..ReadLimits::default()
    };
    assert_eq!(read(b"Lamps.", &metadata, &form, &limits).kind, None);
}
