//! Six traps, of a billion pages each and more, and an honest site beside them.
//!
//! Every page is a function of its address, so nothing is stored and no trap ends. What makes them
//! traps for a crawler that leaves out duplicates, and does not follow their links: one page in
//! [`NEW_ONE_IN`] says something new (of the names: every other one), and each has [`LINKS`] links
//! (of the names: eight new ones), so a crawl that visits whatever it finds finds ever more.
//!
//! | trap | its addresses |
//! |---|---|
//! | [`Trap::Calendar`] | months without end, and the days of a hundred years around each |
//! | [`Trap::Sessions`] | a few pages under any number of session ids: a new `sid` in every link |
//! | [`Trap::Folders`] | relative links that repeat their own folders |
//! | [`Trap::Facets`] | a list that can be narrowed by any choice of forty features |
//! | [`Trap::Names`] | host names below one domain, by the number |
//! | [`Trap::Copies`] | one page behind random identifiers |

use std::fmt::Write as _;

use crate::http::{Reply, Request, Site};
use crate::prose::Prose;
use crate::random::{Random, fnv};

/// Links on a page of a trap.
pub const LINKS: usize = 60;
/// One page in this many says something new.
pub const NEW_ONE_IN: u64 = 40;
/// The host of the site that is no trap.
pub const HONEST: &str = "honest.test";
/// New names that a page of the trap of names links to.
const NAMES_A_PAGE: u64 = 8;
/// Features that a list can be narrowed by.
const FACETS: u64 = 40;
/// Words of a page.
const WORDS: usize = 220;
/// Links from an honest page to others.
const BRANCHES: u64 = 3;

/// A kind of trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trap {
    /// A calendar without end.
    Calendar,
    /// Sessions in the links.
    Sessions,
    /// Folders in themselves.
    Folders,
    /// A query that grows.
    Facets,
    /// Names without end.
    Names,
    /// The same page behind random identifiers.
    Copies,
}

impl Trap {
    /// All six.
    pub const ALL: [Self; 6] = [
        Self::Calendar,
        Self::Sessions,
        Self::Folders,
        Self::Facets,
        Self::Names,
        Self::Copies,
    ];

    /// The host that it begins at; that of the names has others below it.
    #[must_use]
    pub const fn host(self) -> &'static str {
        match self {
            Self::Calendar => "calendar-trap.test",
            Self::Sessions => "session-trap.test",
            Self::Folders => "folder-trap.test",
            Self::Facets => "facet-trap.test",
            Self::Names => "name-trap.test",
            Self::Copies => "copy-trap.test",
        }
    }

    /// Returns the target of its first page.
    #[must_use]
    pub const fn entrance(self) -> &'static str {
        match self {
            Self::Calendar => "/calendar/2024/5/",
            Self::Sessions => "/page/1",
            Self::Folders => "/images/",
            Self::Facets => "/list",
            Self::Names => "/",
            Self::Copies => "/item/start",
        }
    }

    /// The names that this trap has before `limit`; those of [`Trap::Names`] go on without end.
    #[must_use]
    pub fn names(self, limit: u64) -> Vec<String> {
        let first = std::iter::once(self.host().to_owned());
        match self {
            Self::Names => first
                .chain((1..limit).map(|number| format!("n{number}.{}", self.host())))
                .collect(),
            _ => first.collect(),
        }
    }

    fn of(host: &str) -> Option<Self> {
        let names = host.ends_with(Self::Names.host()).then_some(Self::Names);
        Self::ALL
            .into_iter()
            .find(|trap| trap.host() == host)
            .or(names)
    }

    /// Returns the answer to `request`.
    #[must_use]
    pub fn answer(self, request: &Request) -> Reply {
        if request.path() == "/robots.txt" {
            return Reply::status(404);
        }
        let mut random = Random::of(fnv(&request.host), fnv(&request.target));
        let links = match self {
            Self::Calendar => calendar(request.path(), &mut random),
            Self::Sessions => sessions(&mut random),
            Self::Folders => folders(&mut random),
            Self::Facets => facets(request.query(), &mut random),
            Self::Names => names(request),
            Self::Copies => copies(&mut random),
        };
        let begins = request.host == self.host() && request.target == self.entrance();
        let is_new = match self {
            // With eight links a page the names would soon come to an end.
            Self::Names => begins || random.next().is_multiple_of(2),
            _ => begins || random.next().is_multiple_of(NEW_ONE_IN),
        };
        let (address, trap) = (fnv(&request.host) ^ fnv(&request.target), fnv(self.host()));
        let text = match self {
            // There are ten pages, whatever stands behind them.
            Self::Sessions => fnv(request.path()),
            _ if is_new => address,
            _ => trap,
        };
        page(text, address, &links)
    }
}

/// Returns the six traps and an honest site of `pages` pages, by their host names.
#[must_use]
pub fn traps_and_honest(pages: u64) -> Site {
    Site::new(move |request| match Trap::of(&request.host) {
        Some(trap) => trap.answer(request),
        None if request.host == HONEST => honest(request, pages),
        None => Reply::status(404),
    })
}

/// The pages of the honest site: `/0` leads to all of them.
fn honest(request: &Request, pages: u64) -> Reply {
    let number = request
        .path()
        .strip_prefix("/guide/")
        .and_then(|number| number.parse::<u64>().ok());
    let Some(number) = number.filter(|number| *number < pages) else {
        return Reply::status(404);
    };
    let children = (1..=BRANCHES)
        .map(|child| number * BRANCHES + child)
        .filter(|child| *child < pages);
    let links: Vec<String> = children.map(|child| format!("/guide/{child}")).collect();
    page(number + 1, number, &links)
}

fn calendar(path: &str, random: &mut Random) -> Vec<String> {
    let mut parts = path
        .split('/')
        .skip(2)
        .map_while(|part| part.parse::<u64>().ok());
    let (year, month) = (parts.next().unwrap_or(2024), parts.next().unwrap_or(1));
    let month_of = |offset: i64| {
        let months = (year * 12 + month - 1).saturating_add_signed(offset);
        format!("/calendar/{}/{}/", months / 12, months % 12 + 1)
    };
    let mut links = vec![month_of(1), month_of(-1), month_of(12), month_of(-12)];
    links.resize_with(LINKS, || {
        let offset = random.below(2_400) as i64 - 1_200;
        format!("{}{}/", month_of(offset), random.below(28) + 1)
    });
    links
}

fn sessions(random: &mut Random) -> Vec<String> {
    let link = |_| {
        let page = random.below(10) + 1;
        let session = format!("{:016x}{:016x}", random.next(), random.next());
        format!(
            "/page/{page}?visitor={}&sid={session}",
            random.below(100_000_000)
        )
    };
    (0..LINKS).map(link).collect()
}

fn folders(random: &mut Random) -> Vec<String> {
    const FOLDERS: [&str; 4] = ["images", "shared", "files", "docs"];
    let link = |_| {
        let down: String = (0..random.below(3) + 1)
            .map(|_| random.pick(&FOLDERS).to_owned() + "/")
            .collect();
        format!("{down}{}.html", random.below(1_000))
    };
    let mut links: Vec<String> = (4..LINKS).map(link).collect();
    links.extend(FOLDERS.map(|folder| format!("{folder}/")));
    links
}

fn facets(query: &str, random: &mut Random) -> Vec<String> {
    let link = |_| {
        let chosen = query.split('&').filter(|facet| !facet.is_empty());
        let mut chosen: Vec<String> = chosen.map(str::to_owned).collect();
        chosen.push(format!(
            "f{}={}",
            random.below(FACETS as usize),
            random.below(4)
        ));
        format!("/list?{}", chosen.join("&"))
    };
    (0..LINKS).map(link).collect()
}

fn names(request: &Request) -> Vec<String> {
    let number = request
        .host
        .strip_prefix('n')
        .and_then(|rest| rest.split('.').next()?.parse::<u64>().ok());
    let number = number.unwrap_or_default();
    let port = request
        .port
        .map_or(String::new(), |port| format!(":{port}"));
    let name = |next| format!("http://n{next}.{}{port}/", Trap::Names.host());
    (number + 1..=number + NAMES_A_PAGE).map(name).collect()
}

fn copies(random: &mut Random) -> Vec<String> {
    (0..LINKS)
        .map(|_| format!("/item/{:016x}", random.next()))
        .collect()
}

/// A page whose text is that of `text`, but for a number.
fn page(text: u64, number: u64, links: &[String]) -> Reply {
    let mut prose = Prose::new(7, text);
    let (title, body) = (prose.title(), prose.paragraph(WORDS));
    let mut html = format!(
        "<!DOCTYPE html>\n<html><head><title>{title}</title></head>\
         <body><main><h1>{title}</h1><p>{body}</p><p>No. {number}</p></main><nav>"
    );
    for link in links {
        let _infallible = write!(html, "<a href=\"{}\">more</a> ", link.replace('&', "&amp;"));
    }
    html.push_str("</nav></body></html>\n");
    Reply::html(html)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn links(site: &Site, url: &str) -> Vec<String> {
        let body = String::from_utf8(site.answer(&Request::get(url)).body().to_vec()).unwrap();
        let links = body.split("<a href=\"").skip(1);
        links
            .map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"))
            .collect()
    }

    #[test]
    fn pages_of_traps_are_deterministic_and_always_lead_on() {
        let site = traps_and_honest(10);
        for trap in Trap::ALL {
            let mut url = format!("http://{}:81{}", trap.host(), trap.entrance());
            let mut known = HashSet::new();
            for step in 0..200 {
                let found = links(&site, &url);
                assert_eq!(found, links(&site, &url));
                let new: Vec<&String> =
                    found.iter().filter(|link| !known.contains(*link)).collect();
                let next = new
                    .first()
                    .unwrap_or_else(|| panic!("{trap:?} ends after {step} steps"));
                let next = next.to_string();
                known.insert(next.clone());
                let base = url.rsplit_once('/').unwrap().0;
                url = match next.as_bytes() {
                    [b'h', ..] => next,
                    [b'/', ..] => format!("http://{}:81{next}", trap.host()),
                    _ => format!("{base}/{next}"),
                };
            }
        }
    }

    #[test]
    fn the_honest_site_ends() {
        let site = traps_and_honest(40);
        let mut queue = vec!["/guide/0".to_owned()];
        let mut seen: HashSet<String> = queue.iter().cloned().collect();
        while let Some(path) = queue.pop() {
            for link in links(&site, &format!("http://{HONEST}{path}")) {
                if seen.insert(link.clone()) {
                    queue.push(link);
                }
            }
        }
        assert_eq!(seen.len(), 40);
    }
}
