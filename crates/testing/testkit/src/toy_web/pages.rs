//! The pages of the demonstration web, host by host.

use super::draft::{Draft, Fate, Reason};
use crate::http::Reply;
use crate::prose::{MONTHS, Prose};

const SEED: u64 = 0x70f;
/// Pages of `original.test` besides its first one.
const TOPICS: usize = 23;
/// Chapters of `manual.test`.
const CHAPTERS: usize = 30;
/// Words on a page whose copies differ a little: long, as articles are, so that a date is little.
const LONG: usize = 1_200;
/// Words on any other page that is not meant to be short.
const ORDINARY: usize = 200;

/// An HTML page in UTF-8.
fn html(title: &str, main: &str) -> Reply {
    framed(title, "", main, "")
}

fn framed(title: &str, before: &str, main: &str, after: &str) -> Reply {
    Reply::html(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\
         <meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body>\n{before}<main>\n<h1>{title}</h1>\n{main}</main>\n{after}</body>\n</html>\n"
    ))
}

/// A heading and paragraphs of about `words` words in all, the same for the same number.
fn article(number: u64, words: usize) -> (String, String) {
    let mut prose = Prose::new(SEED, number);
    let title = prose.title();
    let paragraphs = words.div_ceil(100);
    let text = (0..paragraphs)
        .map(|_| format!("<p>{}</p>\n", prose.paragraph(words / paragraphs)))
        .collect();
    (title, text)
}

/// `original.test`, and `mirror.test` with each second page a little different.
pub(super) fn original_and_mirror(draft: &mut Draft) {
    let path = |topic: usize| {
        if topic == 0 {
            "/".to_owned()
        } else {
            format!("/topics/{topic:02}.html")
        }
    };
    for topic in 0..=TOPICS {
        let path_here = path(topic);
        let (title, mut text) = article(1_000 + topic as u64, LONG);
        if topic == 0 {
            for other in 1..=TOPICS {
                let (title, _) = article(1_000 + other as u64, 0);
                text.push_str(&format!("<p><a href=\"{}\">{title}</a></p>\n", path(other)));
            }
        } else {
            let next = path(topic % TOPICS + 1);
            text.push_str(&format!(
                "<p><a href=\"/\">All topics</a> or <a href=\"{next}\">the next one</a></p>\n"
            ));
        }
        text.push_str(&format!(
            "<p>A copy of this page is kept \
             <a href=\"http://mirror.test:@PORT@{path_here}\">elsewhere</a>.</p>\n"
        ));
        let original = format!("original.test{path_here}");
        let mirror = format!("mirror.test{path_here}");
        // No number: where one differs, both pages are kept.
        let changed = |date: &str, how_often: &str| {
            html(
                &title,
                &format!("{text}<p>Last changed on {date}. Read {how_often}.</p>\n"),
            )
        };
        draft.add(
            &original,
            changed("a Tuesday in March", "very often"),
            Fate::Unique,
        );
        if topic % 2 == 0 {
            draft.add(
                mirror,
                changed("a Tuesday in March", "very often"),
                Fate::ExactCopy(original),
            );
        } else {
            let log = format!("/log/{topic:02}.html");
            let date = format!("<a href=\"{log}\">a Friday in April</a>");
            draft.add(
                mirror,
                changed(&date, "now and then"),
                Fate::NearCopy(original),
            );
            let (title, text) = article(1_500 + topic as u64, ORDINARY);
            draft.add(
                format!("mirror.test{log}"),
                html(&title, &text),
                Fate::Untouchable(Reason::BehindCopy),
            );
        }
    }
    let (title, text) = article(1_900, ORDINARY);
    draft.add("mirror.test/notice.html", html(&title, &text), Fate::Unique);
}

/// `manual.test`: more navigation than text, and every text another.
pub(super) fn manual(draft: &mut Draft) {
    let mut navigation = String::from("<nav>\n<ul>\n<li><a href=\"/\">Introduction</a></li>\n");
    for chapter in 1..=CHAPTERS {
        let mut prose = Prose::new(SEED, 2_500 + chapter as u64);
        let (title, summary) = (prose.title(), prose.paragraph(20));
        navigation.push_str(&format!(
            "<li><a href=\"/reference/{chapter:02}.html\">{chapter}. {title}</a> {summary}</li>\n"
        ));
    }
    navigation.push_str("</ul>\n</nav>\n");
    let (_, terms) = article(2_999, 900);
    let terms = format!("<footer>\n{terms}</footer>\n");
    for chapter in 0..=CHAPTERS {
        let page = match chapter {
            0 => "manual.test/".to_owned(),
            _ => format!("manual.test/reference/{chapter:02}.html"),
        };
        let (title, text) = article(2_000 + chapter as u64, 140);
        draft.add(
            page,
            framed(&title, &navigation, &text, &terms),
            Fate::Unique,
        );
    }
}

/// `library.test`: one of everything.
pub(super) fn library(draft: &mut Draft) {
    draft.add_aside(
        "library.test/robots.txt",
        Reply::text(
            "# The reading room is open, the archive is not.\nUser-agent: *\nDisallow: /private/\n",
        ),
    );
    let (title, text) = article(3_000, ORDINARY);
    draft.add(
        "library.test/",
        html(&title, &format!("{text}{INDEX}")),
        Fate::Unique,
    );

    let ordinary = |number: u64| {
        let (title, text) = article(number, ORDINARY);
        html(&title, &text)
    };
    let linking = |number: u64, more: &str| {
        let (title, text) = article(number, ORDINARY);
        html(&title, &format!("{text}{more}"))
    };
    let library = |path: &str| format!("library.test{path}");

    for (number, path) in [
        (3_001, "/new.html"),
        (3_002, "/chain/end.html"),
        (3_003, "/privately.html"),
        (3_004, "/shelf/book.html"),
    ] {
        draft.add(library(path), ordinary(number), Fate::Unique);
    }
    for (number, path, reason) in [
        (3_100, "/private/index.html", Reason::Robots),
        (3_101, "/private/secret.html", Reason::Robots),
        (3_102, "/behind/the-link.html", Reason::Nofollow),
        (3_103, "/behind/the-meta.html", Reason::Nofollow),
        (3_104, "/behind/the-header.html", Reason::Nofollow),
        (3_105, "/base/book.html", Reason::WrongBase),
    ] {
        draft.add(library(path), ordinary(number), Fate::Untouchable(reason));
    }
    for (status, path, to) in [
        (301, "/old.html", "/new.html"),
        (302, "/chain/1", "/chain/2"),
        (307, "/chain/2", "/chain/end.html"),
        (302, "/short-cut", "/private/secret.html"),
    ] {
        draft.add(
            library(path),
            Reply::redirect(status, to),
            Fate::Redirect(library(to)),
        );
    }
    draft.add(library("/missing.html"), Reply::status(404), Fate::Missing);

    let quiet = linking(
        3_200,
        "<p><a href=\"/behind/the-header.html\">Behind the header</a></p>\n",
    );
    draft.add(
        library("/quiet.html"),
        quiet.header("X-Robots-Tag", "nofollow"),
        Fate::Unique,
    );
    let hushed = "<p><a href=\"/behind/the-meta.html\">Behind the meta element</a></p>\n";
    draft.add(
        library("/hushed.html"),
        with_head(3_201, "<meta name=\"robots\" content=\"nofollow\">", hushed),
        Fate::Unique,
    );
    let based = "<p><a href=\"book.html\">The book on the shelf</a></p>\n";
    draft.add(
        library("/base/page.html"),
        with_head(3_202, "<base href=\"/shelf/\">", based),
        Fate::Unique,
    );

    // Too short to be judged by similarity: different, though nearly the same.
    draft.add(
        library("/notes/monday.html"),
        html("Notice", "<p>The room is closed on Mondays.</p>\n"),
        Fate::Unique,
    );
    draft.add(
        library("/notes/friday.html"),
        html("Notice", "<p>The room is closed on Fridays.</p>\n"),
        Fate::Unique,
    );

    draft.add(
        library("/images/map.png"),
        Reply::document("image/png", PNG),
        Fate::File,
    );
    draft.add(
        library("/leaflet.pdf"),
        Reply::document("application/pdf", PDF),
        Fate::File,
    );

    // The months beside the first are left out, so their links are not followed.
    let first = library("/calendar?month=2024-05");
    for (month, fate) in [
        ("2024-05", Fate::Unique),
        ("2024-04", Fate::NearCopy(first.clone())),
        ("2024-06", Fate::NearCopy(first)),
        ("2024-03", Fate::Untouchable(Reason::BehindCopy)),
        ("2024-07", Fate::Untouchable(Reason::BehindCopy)),
    ] {
        let page = library(&format!("/calendar?month={month}"));
        if let Some(reply) = calendar(&page) {
            draft.add(page, reply, fate);
        }
    }
}

fn with_head(number: u64, head: &str, more: &str) -> Reply {
    let (title, text) = article(number, ORDINARY);
    Reply::html(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\
         <meta charset=\"utf-8\">{head}<title>{title}</title></head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n{text}{more}</main>\n</body>\n</html>\n"
    ))
}

/// Any month from the year 1 on, with links to the one before and the one after.
pub(super) fn calendar(page: &str) -> Option<Reply> {
    let (year, month) = page
        .strip_prefix("library.test/calendar?month=")?
        .split_once('-')?;
    let (year, month): (usize, usize) = (year.parse().ok()?, month.parse().ok()?);
    let name = MONTHS.get(month.checked_sub(1)?)?;
    if !(1..=9_999).contains(&year) {
        return None;
    }
    let other = |months: usize| format!("{:04}-{:02}", months / 12, months % 12 + 1);
    let months = year * 12 + month - 1;
    let (before, after) = (other(months - 1), other(months + 1));
    let days: String = (1..=30).map(|day| format!("<td>{day}</td>")).collect();
    let (_, text) = article(3_300, LONG);
    Some(html(
        "Calendar of the reading room",
        &format!(
            "<p>{name} {year}</p>\n<table><tr>{days}</tr></table>\n{text}\
             <p><a href=\"/calendar?month={before}\">Previous month</a> \
             <a href=\"/calendar?month={after}\">Next month</a></p>\n"
        ),
    ))
}

const INDEX: &str = r#"<ul>
<li><a href="/calendar?month=2024-05">Calendar</a></li>
<li><a href="/charsets/windows-1252.html">A page in French</a></li>
<li><a href="/charsets/shift_jis.html">A page in Japanese</a></li>
<li><a href="/charsets/utf-8.html">A page in Czech</a></li>
<li><a href="/charsets/koi8-r.html">A page in Russian</a></li>
<li><a href="/old.html">Moved for good</a></li>
<li><a href="/chain/1">Moved and moved again</a></li>
<li><a href="/short-cut">A way into the archive</a></li>
<li><a href="/private/index.html">The archive</a></li>
<li><a href="/privately.html">Not of the archive</a></li>
<li><a href="/missing.html">Gone</a></li>
<li><a href="/quiet.html">Says in its header that its links are not to be followed</a></li>
<li><a href="/hushed.html">Says so in its head</a></li>
<li><a href="/behind/the-link.html" rel="noopener nofollow">Not to be followed</a></li>
<li><a href="/base/page.html">On another shelf</a></li>
<li><a href="/notes/monday.html">Notice for Mondays</a></li>
<li><a href="/notes/friday.html">Notice for Fridays</a></li>
<li><a href="/images/map.png"><img src="/images/map.png" alt="Map"></a></li>
<li><a href="/leaflet.pdf">Leaflet</a></li>
</ul>
"#;

/// One pixel.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
    \0\0\0\rIDATx\xdacd\xf8\xcfP\x0f\0\x03\x86\x01\x80Z4}k\0\0\0\0IEND\xaeB`\x82";

/// One empty page.
const PDF: &[u8] = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n\
    1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n\
    2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj\n\
    3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>> endobj\n\
    trailer <</Root 1 0 R>>\n%%EOF\n";
