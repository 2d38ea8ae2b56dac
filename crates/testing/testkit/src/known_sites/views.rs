//! A blog and a shop that show each content in several views, in a frame that changes with every
//! page: a saying, offers, a counter.
//!
//! Pages of one text are views of it: its page, the printed one, that of the mobile host, a list in
//! another order. No element says by its name that it is a frame.

use super::site::{KnownSite, html, link_list};
use crate::prose::Prose;
use crate::random::Random;

/// Posts that a list of a month has.
const POSTS_A_MONTH: u64 = 12;
/// Products of a category.
const PRODUCTS_A_CATEGORY: u64 = 15;
/// The orders in which a category is listed.
const ORDERS: [&str; 4] = [
    "name&amp;way=down",
    "name&amp;way=up",
    "price&amp;way=down",
    "price&amp;way=up",
];

/// A blog with so many posts, each of which has a page, a printed view and a page of the mobile
/// host. One post in four is short.
#[must_use]
pub fn blog(posts: u64) -> KnownSite {
    let mut known = KnownSite::default();
    let hosts = ["journal.test", "m.journal.test"];
    known.add_seed("journal.test/");
    known.add_seed("m.journal.test/");
    let months: Vec<(String, String)> = (0..posts.div_ceil(POSTS_A_MONTH))
        .map(|month| (format!("/month/{month}"), month_of(month)))
        .collect();
    for host in hosts {
        let front = format!("<h1>The journal</h1>{}", link_list(&months));
        let page = dressed(&known, host, "The journal", &front, "");
        known.add(format!("{host}/"), "front", page);
        for (month, (address, title)) in (0..).zip(&months) {
            let listed = month * POSTS_A_MONTH..posts.min((month + 1) * POSTS_A_MONTH);
            let links: Vec<(String, String)> = listed
                .map(|post| (format!("/post/{post}"), title_of(post)))
                .collect();
            let list = format!("<h1>{title}</h1>{}", link_list(&links));
            let page = dressed(&known, host, title, &list, "");
            known.add(format!("{host}{address}"), format!("month {month}"), page);
        }
        for post in 0..posts {
            let page = dressed(
                &known,
                host,
                &title_of(post),
                &article(post),
                &comments(post, host),
            );
            known.add(format!("{host}/post/{post}"), format!("post {post}"), page);
        }
    }
    for post in 0..posts {
        let printed = format!(
            "{}<div>Printed from http://journal.test/post/{post}</div>",
            article(post)
        );
        let page = html(&title_of(post), "", &printed, "");
        known.add(
            format!("journal.test/print/{post}"),
            format!("post {post}"),
            page,
        );
    }
    known
}

/// A shop with so many products. Each has a page, another one under its category, and a printed
/// view; a category has a page and four orders.
#[must_use]
pub fn shop(products: u64) -> KnownSite {
    let host = "store.test";
    let mut known = KnownSite::default();
    known.add_seed("store.test/");
    let categories: Vec<(String, String)> = (0..products.div_ceil(PRODUCTS_A_CATEGORY))
        .map(|category| (format!("/c/{category}"), category_of(category)))
        .collect();
    let front = format!("<h1>The store</h1>{}", link_list(&categories));
    let page = dressed(&known, host, "The store", &front, "");
    known.add("store.test/", "front", page);
    for (category, (address, title)) in (0..).zip(&categories) {
        let first = category * PRODUCTS_A_CATEGORY;
        let mut listed: Vec<u64> = (first..products.min(first + PRODUCTS_A_CATEGORY)).collect();
        let text = format!("category {category}");
        let page = list_page(&known, title, address, &listed);
        known.add(format!("{host}{address}"), text.clone(), page);
        for order in ORDERS {
            match order.starts_with("name") {
                true => listed.sort_by_key(|product| name_of(*product)),
                false => listed.sort_by_key(|product| price_of(*product)),
            }
            if order.ends_with("down") {
                listed.reverse();
            }
            let page = list_page(&known, title, address, &listed);
            let query = order.replace("&amp;", "&");
            known.add(format!("{host}{address}?sort={query}"), text.clone(), page);
        }
        for product in listed {
            let (name, text) = (name_of(product), format!("product {product}"));
            for path in [format!("/p/{product}"), format!("{address}/p/{product}")] {
                let page = dressed(&known, host, &name, &description(product), &form(product));
                known.add(format!("{host}{path}"), text.clone(), page);
            }
            let page = html(&name, "", &description(product), "");
            known.add(format!("{host}/printable/{product}"), text, page);
        }
    }
    known
}

/// Returns a page in the frame of its site, in which a saying and a counter change with each page.
fn dressed(known: &KnownSite, host: &str, title: &str, content: &str, below: &str) -> String {
    let number = known.len() as u64;
    let menu = [("/", "Front page"), ("/", "Our letter"), ("/", "Contact")];
    let before = format!(
        "<div class=\"top\"><a href=\"/\">{host}</a>{}</div>",
        link_list(&menu)
    );
    let saying = Prose::new(93, number).sentence();
    let after = format!(
        "{below}<div class=\"box\"><h4>A saying</h4><p>{saying}</p><p>Seen {} times</p></div>\
         <div class=\"box\"><p>All that is written here may be copied by everybody who names its \
         source, whatever the purpose.</p></div>",
        number * 7 + 3
    );
    html(
        title,
        &before,
        &format!("<div class=\"w\">{content}</div>"),
        &after,
    )
}

fn month_of(month: u64) -> String {
    format!("Month {}", month + 1)
}

fn title_of(post: u64) -> String {
    Prose::new(91, post).title()
}

fn article(post: u64) -> String {
    let mut prose = Prose::new(92, post);
    let lengths: &[usize] = match post % 4 {
        0 => &[35],
        _ => &[90, 120, 60],
    };
    let text: String = lengths
        .iter()
        .map(|words| format!("<p>{}</p>", prose.paragraph(*words)))
        .collect();
    format!("<h1>{}</h1>{text}", title_of(post))
}

/// Returns what the page of a post has, and no other view: comments, and links to the others.
fn comments(post: u64, host: &str) -> String {
    let mut random = Random::of(94, post);
    let mut prose = Prose::new(95, post);
    let comments: String = match host.starts_with("m.") {
        true => String::new(),
        false => (0..random.below(4))
            .map(|_| format!("<div><b>A reader</b><p>{}</p></div>", prose.paragraph(25)))
            .collect(),
    };
    let links = match host.starts_with("m.") {
        true => String::new(),
        false => link_list(&[(format!("/print/{post}"), "Print".to_owned())]),
    };
    format!("<div>{comments}{links}</div>")
}

fn category_of(category: u64) -> String {
    format!("{} goods", Prose::new(96, category).title())
}

fn name_of(product: u64) -> String {
    Prose::new(97, product).title()
}

fn price_of(product: u64) -> usize {
    500 + Random::of(98, product).below(90_000)
}

fn shown_price(product: u64) -> String {
    let price = price_of(product);
    format!("{}.{:02}", price / 100, price % 100)
}

fn list_page(known: &KnownSite, title: &str, address: &str, listed: &[u64]) -> String {
    let orders = ORDERS.map(|order| {
        (
            format!("{address}?sort={order}"),
            order.replace("&amp;", " "),
        )
    });
    let goods: String = listed
        .iter()
        .map(|product| {
            let (name, price) = (name_of(*product), shown_price(*product));
            format!("<div><a href=\"{address}/p/{product}\">{name}</a><b>{price}</b></div>")
        })
        .collect();
    let content = format!("<h1>{title}</h1>{}{goods}", link_list(&orders));
    dressed(known, "store.test", title, &content, "")
}

fn description(product: u64) -> String {
    let text = Prose::new(99, product).paragraph(40 + (product % 5) as usize * 20);
    format!(
        "<h1>{}</h1><p>{}</p><p>{text}</p>",
        name_of(product),
        shown_price(product)
    )
}

/// Returns what stands below a product, with links to its other views.
fn form(product: u64) -> String {
    let links = [
        (format!("/printable/{product}"), "Print"),
        (format!("/p/{product}"), "Link to this page"),
    ];
    format!("<div>Into the basket{}</div>", link_list(&links))
}
