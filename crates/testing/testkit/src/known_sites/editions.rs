//! Editions of one work: versions, languages, mirrors, and a copy by a thief.

use super::site::{KnownSite, html, link_list};
use crate::prose::Prose;

/// Chapters of a manual, and pages of a chapter.
const CHAPTERS: u64 = 10;
const PAGES: u64 = 15;

/// A manual in two versions, `/14/` and `/15/`, as Sphinx makes them: 338 pages.
///
/// The index pages and the chapter pages of both are equal to the byte. Of the pages, every other
/// one of `/15/` is equal to that of `/14/`; in the others half the paragraphs are new. Some of
/// these lead to pages that `/14/` does not have. Both index pages are seeds, or `/index.html`,
/// which leads to both.
#[must_use]
pub fn two_versions(both_are_seeds: bool) -> KnownSite {
    let mut known = KnownSite::default();
    if both_are_seeds {
        known.add_seed("manual.test/14/index.html");
        known.add_seed("manual.test/15/index.html");
    } else {
        let versions = [
            ("14/index.html", "Version 14"),
            ("15/index.html", "Version 15"),
        ];
        let main = format!("<main><h1>All versions</h1>{}</main>", link_list(&versions));
        known.add_seed("manual.test/index.html");
        known.add(
            "manual.test/index.html",
            "versions",
            html("All versions", "", &main, ""),
        );
    }
    for version in [14, 15] {
        add_version(&mut known, version);
    }
    known
}

fn add_version(known: &mut KnownSite, version: u64) {
    let folder = format!("manual.test/{version}");
    let mut chapters = Vec::new();
    for chapter in 0..CHAPTERS {
        let title = Prose::new(21, chapter).title();
        let mut links = Vec::new();
        for page in 0..PAGES {
            let number = chapter * PAGES + page;
            let is_changed = version == 15 && number % 2 == 1;
            let mut prose = Prose::new(22, number);
            let heading = prose.title();
            let mut paragraphs: Vec<String> = (0..6).map(|_| prose.paragraph(60)).collect();
            let mut more = String::new();
            if is_changed {
                let mut other = Prose::new(23, number);
                for paragraph in paragraphs.iter_mut().skip(1).step_by(2) {
                    *paragraph = other.paragraph(60);
                }
            }
            if is_changed && number % 10 == 1 {
                let name = format!("new-{number}.html");
                more =
                    format!("<p>New in this version: <a href=\"{name}\">a page of its own</a></p>");
                let mut prose = Prose::new(24, number);
                let heading = prose.title();
                let text = format!("<p>{}</p>", prose.paragraph(220));
                let page = manual_page(&heading, &text);
                known.add(
                    format!("{folder}/chapter-{chapter}/{name}"),
                    format!("new {number}"),
                    page,
                );
            }
            let text: String = paragraphs
                .iter()
                .map(|text| format!("<p>{text}</p>"))
                .collect();
            let edition = if is_changed { "changed" } else { "page" };
            known.add(
                format!("{folder}/chapter-{chapter}/page-{page}.html"),
                format!("{edition} {number}"),
                manual_page(&heading, &(text + &more)),
            );
            links.push((format!("page-{page}.html"), heading));
        }
        known.add(
            format!("{folder}/chapter-{chapter}/index.html"),
            format!("chapter {chapter}"),
            manual_page(&title, &link_list(&links)),
        );
        chapters.push((format!("chapter-{chapter}/index.html"), title));
    }
    let contents = format!(
        "<p>{}</p>{}",
        Prose::new(25, 0).paragraph(120),
        link_list(&chapters)
    );
    known.add(
        format!("{folder}/index.html"),
        "index",
        manual_page("The manual", &contents),
    );
}

/// A page as Sphinx frames it.
fn manual_page(title: &str, content: &str) -> String {
    let before = "<div class=\"related\" role=\"navigation\"><h3>Navigation</h3></div>";
    let main = format!(
        "<div class=\"document\"><div class=\"body\" \
         role=\"main\"><section><h1>{title}</h1>{content}</section></div></div>"
    );
    let after = "<div class=\"footer\">&copy; Copyright, The Project. Last updated on 2022-09-20. \
                 Created using Sphinx 4.5.0.</div>";
    html(
        &format!("{title} &#8212; The Project documentation"),
        before,
        &main,
        after,
    )
}

/// Pages of a language edition.
const ARTICLES: u64 = 100;

/// A handbook in three languages, `/en/`, `/de/` and `/fr/`, of 101 pages each.
///
/// The index pages are equal to the byte, because they are not translated. Three of four pages of
/// `/de/` and `/fr/` are translated, the others are copies of the English ones.
#[must_use]
pub fn language_editions() -> KnownSite {
    let mut known = KnownSite::default();
    known.add_seed("handbook.test/en/index.html");
    known.add_seed("handbook.test/de/index.html");
    known.add_seed("handbook.test/fr/index.html");
    for (shift, language) in (0..).zip(["en", "de", "fr"]) {
        let pages = (0..ARTICLES).map(|number| {
            let is_translated = shift > 0 && number % 4 != 3;
            let written_in = if is_translated { language } else { "en" };
            HandbookPage {
                number,
                name: format!("article-{number}.html"),
                text: format!("{written_in} {number}"),
                language: if is_translated { shift } else { 0 },
            }
        });
        add_handbook(&mut known, language, "index.html", pages);
    }
    known
}

/// Pages of a language of which most are not translated, and those of them that are.
const ENTRIES: u64 = 200;
const TRANSLATED: u64 = 60;

/// A handbook in English and in German, of which most pages of `/de/` are not translated.
///
/// The names tell the language: `/de/entry-7.en.html` is a copy of `/en/entry-7.en.html`, and
/// `/de/entry-150.de.html` a translation. The index lists all copies before the translations, which
/// a rule that closes the folder for its copies takes with it.
#[must_use]
pub fn half_translated() -> KnownSite {
    let mut known = KnownSite::default();
    known.add_seed("handbook.test/en/index.en.html");
    known.add_seed("handbook.test/de/index.de.html");
    for (language, translated) in [("en", 0), ("de", TRANSLATED)] {
        let pages = (0..ENTRIES).map(|number| {
            let is_translated = number >= ENTRIES - translated;
            let written_in = if is_translated { "de" } else { "en" };
            HandbookPage {
                number,
                name: format!("entry-{number}.{written_in}.html"),
                text: format!("{written_in} {number}"),
                language: u64::from(is_translated),
            }
        });
        let index = format!("index.{language}.html");
        add_handbook(&mut known, language, &index, pages);
    }
    known
}

struct HandbookPage {
    number: u64,
    name: String,
    /// The name of its text.
    text: String,
    /// The number of its language; 0 is English.
    language: u64,
}

/// Adds the pages of a folder of the handbook, and an index page that links to them.
fn add_handbook(
    known: &mut KnownSite,
    folder: &str,
    index: &str,
    pages: impl Iterator<Item = HandbookPage>,
) {
    let mut links = Vec::new();
    for page in pages {
        let address = format!("handbook.test/{folder}/{}", page.name);
        known.add(address, page.text, article(page.number, page.language));
        links.push((page.name, Prose::new(31, page.number).title()));
    }
    let main = format!("<main><h1>Handbook</h1>{}</main>", link_list(&links));
    let address = format!("handbook.test/{folder}/{index}");
    known.add(address, "index", html("Handbook", "", &main, ""));
}

/// An article of the handbook in the language of this number; 0 is English.
fn article(number: u64, language: u64) -> String {
    let mut prose = Prose::new(31, number);
    let title = translate(&prose.title(), language);
    let text = translate(&prose.paragraph(160), language);
    let lang = ["en", "de", "fr"][language as usize % 3];
    let main = format!("<main lang=\"{lang}\"><h1>{title}</h1><p>{text}</p></main>");
    html(&title, "", &main, "<footer>The Handbook Project</footer>")
}

/// Returns the same text in other words: each consonant is replaced by the one 7 × `by` places
/// further on.
fn translate(text: &str, by: u64) -> String {
    const CONSONANTS: &str = "bcdfghjklmnpqrstvwxz";
    let replace = |letter: char| {
        let at = CONSONANTS.find(letter.to_ascii_lowercase())?;
        let to = CONSONANTS.as_bytes()[(at + 7 * by as usize) % CONSONANTS.len()] as char;
        Some(if letter.is_ascii_uppercase() {
            to.to_ascii_uppercase()
        } else {
            to
        })
    };
    text.chars()
        .map(|letter| replace(letter).unwrap_or(letter))
        .collect()
}

/// Pages of a section of the mirrored site.
const SECTION: u64 = 100;

/// A site of `articles` articles, and a full mirror of it under another host name; both front pages
/// are seeds.
#[must_use]
pub fn mirror(articles: u64) -> KnownSite {
    let mut known = KnownSite::default();
    for host in ["original.test", "mirror.test"] {
        known.add_seed(format!("{host}/index.html"));
        let mut sections = Vec::new();
        for section in 0..articles.div_ceil(SECTION) {
            let first = section * SECTION;
            let mut links = Vec::new();
            for number in first..articles.min(first + SECTION) {
                let mut prose = Prose::new(41, number);
                let title = prose.title();
                let main = format!(
                    "<main><h1>{title}</h1><p>{}</p></main>",
                    prose.paragraph(120)
                );
                let name = format!("article-{number}.html");
                known.add(
                    format!("{host}/section-{section}/{name}"),
                    format!("article {number}"),
                    html(&title, "", &main, ""),
                );
                links.push((name, title));
            }
            let title = Prose::new(42, section).title();
            let main = format!("<main><h1>{title}</h1>{}</main>", link_list(&links));
            known.add(
                format!("{host}/section-{section}/index.html"),
                format!("section {section}"),
                html(&title, "", &main, ""),
            );
            sections.push((format!("section-{section}/index.html"), title));
        }
        let text = Prose::new(43, 0).paragraph(100);
        let main = format!(
            "<main><h1>All sections</h1><p>{text}</p>{}</main>",
            link_list(&sections)
        );
        known.add(
            format!("{host}/index.html"),
            "front",
            html("All sections", "", &main, ""),
        );
    }
    known
}

/// Pages that the thief copies.
const STOLEN: u64 = 6;

/// A victim of `pages` pages, and a site on another domain that copied the text of six of them,
/// without links.
///
/// All pages of the thief are seeds, before the front page of the victim, which is among the stolen
/// ones.
#[must_use]
pub fn thief(pages: u64) -> KnownSite {
    let mut known = KnownSite::default();
    for number in 0..STOLEN {
        let address = format!("thief.test/{}", name_of(number));
        known.add_seed(address.as_str());
        let (title, text) = article_of_the_victim(number);
        let frame = "<div class=\"site-title\">The best of the web</div>";
        let main = format!("<main><h1>{title}</h1>{text}</main>");
        known.add(
            address,
            format!("article {number}"),
            html(&title, frame, &main, ""),
        );
    }
    known.add_seed("victim.test/");
    for number in 0..pages {
        let below = (4 * number + 1..=4 * number + 4).filter(|child| *child < pages);
        let links: Vec<(String, String)> = below
            .map(|child| {
                (
                    format!("/{}", name_of(child)),
                    article_of_the_victim(child).0,
                )
            })
            .collect();
        let (title, text) = article_of_the_victim(number);
        let main = format!("<main><h1>{title}</h1>{text}</main>");
        let after = format!("<nav>{}</nav>", link_list(&links));
        known.add(
            format!("victim.test/{}", name_of(number)),
            format!("article {number}"),
            html(
                &title,
                "<header>The original journal</header>",
                &main,
                &after,
            ),
        );
    }
    known
}

fn name_of(number: u64) -> String {
    match number {
        0 => String::new(),
        number => format!("article-{number}.html"),
    }
}

fn article_of_the_victim(number: u64) -> (String, String) {
    let mut prose = Prose::new(51, number);
    let title = prose.title();
    (
        title,
        format!(
            "<p>{}</p><p>{}</p>",
            prose.paragraph(110),
            prose.paragraph(110)
        ),
    )
}
