//! A wiki: articles with revisions, each in several views, in a frame that changes with every page.
//!
//! The source of a revision is its content, so a revert has the content of the revision that it
//! restores. Page, source, form and printed page of the current revision are views of one content;
//! a history and a comparison that is not empty are contents of their own. A comparison is empty
//! if a revert made both equal; all empty ones say the same: nothing. Links to forms have
//! `rel=nofollow`, as in most wikis; no other page or link says that it is a view.

use super::site::{KnownSite, html, link_list};
use crate::prose::Prose;
use crate::random::Random;

const HOST: &str = "wiki.test";
/// Articles per page of the index.
const ARTICLES_PER_INDEX: u64 = 20;
/// Every so many articles one has a talk page.
const TALKING: u64 = 3;
/// Numbers of revisions that an article may use for its prose.
const REVISIONS: u64 = 8;

/// A wiki with so many articles, each of which has up to `max_old` old revisions.
#[must_use]
pub fn wiki(articles: u64, max_old: u64) -> KnownSite {
    let mut known = KnownSite::default();
    known.add_seed("wiki.test/");
    let indexes: Vec<(String, String)> = (0..articles.div_ceil(ARTICLES_PER_INDEX))
        .map(|index| (format!("/index/{index}"), format!("Index {}", index + 1)))
        .collect();
    let front = format!("<h1>The wiki</h1>{}", link_list(&indexes));
    let page = dressed(&known, "The wiki", &front, "");
    known.add("wiki.test/", "front", page);
    for (index, (address, title)) in (0..).zip(&indexes) {
        let first = index * ARTICLES_PER_INDEX;
        let links: Vec<(String, String)> = (first..articles.min(first + ARTICLES_PER_INDEX))
            .map(|article| (address_of(article), title_of(article)))
            .collect();
        let list = format!("<h1>{title}</h1>{}", link_list(&links));
        let page = dressed(&known, title, &list, "");
        known.add(format!("{HOST}{address}"), format!("index {index}"), page);
    }
    for article in 0..articles {
        let article = Article::new(article, articles, max_old);
        article.add_views(&mut known);
        article.add_revisions(&mut known);
        article.add_history(&mut known);
        if article.is_talked_of() {
            article.add_talk(&mut known);
        }
    }
    known
}

/// An article with its revisions, the oldest first; the last one is current.
struct Article {
    number: u64,
    title: String,
    address: String,
    revisions: Vec<Revision>,
    /// Other articles that it links to.
    linked: Vec<u64>,
}

/// A revision of an article.
struct Revision {
    paragraphs: Vec<String>,
    day: String,
    writer: String,
    summary: String,
}

impl Article {
    fn new(number: u64, articles: u64, max_old: u64) -> Self {
        let mut random = Random::of(104, number);
        let revisions = (0..=number % (max_old + 1)).map(|revision| {
            let mut prose = Prose::new(105, number * REVISIONS + revision);
            let (month, day) = (1 + random.below(12), 1 + random.below(28));
            Revision {
                paragraphs: paragraphs(number, revision),
                day: format!("{}-{month:02}-{day:02}", 2018 + revision),
                writer: prose.title(),
                summary: prose.sentence(),
            }
        });
        let revisions = revisions.collect();
        let linked = (0..3).map(|_| random.below(articles as usize) as u64);
        Self {
            number,
            title: title_of(number),
            address: address_of(number),
            revisions,
            linked: linked.collect(),
        }
    }

    fn is_talked_of(&self) -> bool {
        self.number.is_multiple_of(TALKING)
    }

    fn current(&self) -> &Revision {
        self.revisions.last().expect("an article has a revision")
    }

    /// Adds a page of the article; `query` follows its address.
    fn add(&self, known: &mut KnownSite, query: &str, text: String, content: &str) {
        let page = dressed(known, &self.title, content, &self.tools());
        known.add(format!("{HOST}{}{query}", self.address), text, page);
    }

    /// Adds the views of the current revision.
    fn add_views(&self, known: &mut KnownSite) {
        let current = self.current();
        let (source, shown) = (self.source(current), self.shown(current));
        let form = format!(
            "<h1>Edit {}</h1><form><textarea rows=\"20\">{source}</textarea><p>Say what was \
             changed, and why.</p></form>",
            self.title
        );
        self.add(known, "", source.clone(), &shown);
        self.add(known, "?do=edit", source.clone(), &form);
        let printed = format!("{shown}<div>Printed from {HOST}{}</div>", self.address);
        known.add(
            format!("{HOST}{}?do=print", self.address),
            source.clone(),
            html(&self.title, "", &printed, ""),
        );
        let address = format!("{HOST}{}?do=raw", self.address);
        known.add_plain(address, source.clone(), source);
    }

    /// Adds each revision under its number, and the comparison of an old one with the current one.
    fn add_revisions(&self, known: &mut KnownSite) {
        let current = self.current();
        for (number, revision) in self.revisions.iter().enumerate() {
            let source = self.source(revision);
            let shown = format!(
                "<div>This is the version of {}, kept for reference.</div>{}",
                revision.day,
                self.shown(revision)
            );
            let query = format!("?rev={number}");
            self.add(known, &query, source.clone(), &shown);
            if number + 1 == self.revisions.len() {
                continue;
            }
            let changes = changes(revision, current);
            let (text, changes) = match changes.is_empty() {
                true => ("no changes".to_owned(), "<p>Both are equal.</p>".to_owned()),
                false => (
                    format!("changes from {source} to {}", self.source(current)),
                    changes,
                ),
            };
            let content = format!(
                "<h1>{}</h1><h2>Changes</h2><p>From the version of {} to that of {}.</p>{changes}",
                self.title, revision.day, current.day
            );
            self.add(known, &format!("?do=diff&rev={number}"), text, &content);
        }
    }

    fn add_history(&self, known: &mut KnownSite) {
        let revisions = self.revisions.iter().enumerate().rev();
        let items: String = revisions
            .map(|(number, revision)| {
                let at = &self.address;
                let Revision {
                    day,
                    writer,
                    summary,
                    ..
                } = revision;
                let comparison = match number + 1 == self.revisions.len() {
                    true => "current".to_owned(),
                    false => format!("<a href=\"{at}?do=diff&amp;rev={number}\">changes</a>"),
                };
                format!(
                    "<li><a href=\"{at}?rev={number}\">{day}</a> {comparison} {writer}: \
                     {summary}</li>"
                )
            })
            .collect();
        let content = format!("<h1>{}</h1><h2>History</h2><ul>{items}</ul>", self.title);
        let text = format!("history {}", self.number);
        self.add(known, "?do=history", text, &content);
    }

    fn add_talk(&self, known: &mut KnownSite) {
        let mut prose = Prose::new(106, self.number);
        let posts: String = (0..2 + self.number % 3)
            .map(|_| {
                format!(
                    "<div><b>{}</b><p>{}</p></div>",
                    prose.title(),
                    prose.paragraph(30)
                )
            })
            .collect();
        let content = format!("<h1>Talk about {}</h1>{posts}", self.title);
        let page = dressed(known, &format!("Talk: {}", self.title), &content, "");
        let text = format!("talk {}", self.number);
        known.add(format!("{HOST}{}", self.talk_address()), text, page);
    }

    fn talk_address(&self) -> String {
        self.address.replace("/page/", "/talk/")
    }

    /// Returns the links to its views, which stand beside each page of it.
    fn tools(&self) -> String {
        let mut links = vec![(self.address.clone(), "Read".to_owned())];
        for view in ["history", "print", "raw"] {
            links.push((format!("{}?do={view}", self.address), view.to_owned()));
        }
        if self.is_talked_of() {
            links.push((self.talk_address(), "Talk".to_owned()));
        }
        format!(
            "{}<a rel=\"nofollow\" href=\"{}?do=edit\">Edit</a>",
            link_list(&links),
            self.address
        )
    }

    fn shown(&self, revision: &Revision) -> String {
        let text: String = revision
            .paragraphs
            .iter()
            .map(|paragraph| format!("<p>{paragraph}</p>"))
            .collect();
        let links: Vec<(String, String)> = self
            .linked
            .iter()
            .map(|article| (address_of(*article), title_of(*article)))
            .collect();
        format!(
            "<h1>{}</h1>{text}<h2>See also</h2>{}",
            self.title,
            link_list(&links)
        )
    }

    /// Returns the source of a revision in the wiki's markup: its content.
    fn source(&self, revision: &Revision) -> String {
        let mut source = format!("====== {} ======\n\n", self.title);
        for paragraph in &revision.paragraphs {
            source.push_str(&format!("{paragraph}\n\n"));
        }
        source.push_str("===== See also =====\n\n");
        for article in &self.linked {
            let (address, title) = (address_of(*article), title_of(*article));
            source.push_str(&format!("  * [[{address}|{title}]]\n"));
        }
        source
    }
}

/// Returns the text of a revision. Each one changes the number of its predecessor, writes a
/// paragraph again, adds one in the midst, or restores the revision before that.
fn paragraphs(article: u64, revision: u64) -> Vec<String> {
    let Some(earlier) = revision.checked_sub(1) else {
        let mut prose = Prose::new(102, article);
        let mut text: Vec<String> = [50, 70, 40].map(|words| prose.paragraph(words)).into();
        text.insert(1, count(article, revision));
        return text;
    };
    let mut text = paragraphs(article, earlier);
    let mut prose = Prose::new(103, article * REVISIONS + revision);
    match (article + revision) % 4 {
        0 => text[1] = count(article, revision),
        1 => text[2] = prose.paragraph(60),
        2 => text.insert(2, prose.paragraph(45)),
        _ => match earlier.checked_sub(1) {
            Some(restored) => return paragraphs(article, restored),
            None => text[0] = prose.paragraph(50),
        },
    }
    text
}

/// Returns a sentence with a number that one revision in four changes.
fn count(article: u64, revision: u64) -> String {
    let counted = 1_000 + 7 * Random::of(107, article).below(900) as u64 + 31 * revision;
    format!(
        "By the last count there are {counted} of them, all in the northern half of the country."
    )
}

/// Returns the paragraphs that only one of two revisions has; nothing if they are equal.
fn changes(old: &Revision, new: &Revision) -> String {
    let only = |these: &Revision, those: &Revision, sign: &str| -> String {
        let mut changed = these.paragraphs.clone();
        changed.retain(|paragraph| !those.paragraphs.contains(paragraph));
        let marked = changed.iter().map(|text| format!("<p>{sign} {text}</p>"));
        marked.collect()
    };
    only(old, new, "-") + &only(new, old, "+")
}

fn title_of(article: u64) -> String {
    Prose::new(101, article).title()
}

/// Returns the address of an article, which is its title.
fn address_of(article: u64) -> String {
    let title = title_of(article).to_lowercase();
    let words: Vec<&str> = title
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    format!("/page/{}", words.join("_"))
}

/// Returns a page in the frame of the wiki, in which a tip and two numbers change with each page.
fn dressed(known: &KnownSite, title: &str, content: &str, tools: &str) -> String {
    let number = known.len() as u64;
    let before = format!(
        "<div class=\"top\"><a href=\"/\">The wiki</a> <a \
         href=\"/index/0\">Articles</a>{tools}</div>"
    );
    let tip = Prose::new(108, number).sentence();
    let after = format!(
        "<div class=\"box\"><h4>Tip</h4><p>{tip}</p></div><div class=\"box\"><p>This page was seen \
         {} times, and made in 0.{:03} seconds.</p><p>What is written here may be copied under the \
         licence of the wiki.</p></div>",
        number * 5 + 2,
        number * 37 % 1_000
    );
    html(
        &format!("{title} [The wiki]"),
        &before,
        &format!("<div class=\"w\">{content}</div>"),
        &after,
    )
}
