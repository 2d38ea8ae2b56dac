//! A shop: products of one template, whose own words are few beside the shared ones.

use super::site::{KnownSite, html, link_list};
use crate::prose::Prose;
use crate::random::Random;

/// Products that a page of the catalogue lists.
const PRODUCTS_A_PAGE: u64 = 100;

/// A shop of `count` products, each with its own title, heading, price and order number.
///
/// About `shared` words are the same on every product's page; of its own each has none to about
/// `max_own` words more.
#[must_use]
pub fn products(count: u64, shared: usize, max_own: u64) -> KnownSite {
    let mut known = KnownSite::default();
    known.add_seed("shop.test/");
    let catalogue: Vec<(String, String)> = (0..count.div_ceil(PRODUCTS_A_PAGE))
        .map(|page| {
            (
                format!("/catalogue/{page}"),
                format!("Catalogue, page {}", page + 1),
            )
        })
        .collect();
    let front = format!("<main><h1>The shop</h1>{}</main>", link_list(&catalogue));
    known.add("shop.test/", "front", html("The shop", "", &front, ""));
    let terms = Terms::new(shared);
    for (page, (address, title)) in (0..).zip(&catalogue) {
        let first = page * PRODUCTS_A_PAGE;
        let listed = first..count.min(first + PRODUCTS_A_PAGE);
        let tiles: Vec<(String, String)> = listed
            .clone()
            .map(|number| {
                (
                    address_of(number),
                    format!("{} {}", title_of(number), price_of(number)),
                )
            })
            .collect();
        let main = format!("<main><h1>{title}</h1>{}</main>", link_list(&tiles));
        known.add(
            format!("shop.test{address}"),
            format!("catalogue {page}"),
            html(title, "", &main, ""),
        );
        for number in listed {
            known.add(
                format!("shop.test{}", address_of(number)),
                format!("product {number}"),
                product(number, &terms, max_own),
            );
        }
    }
    known
}

/// The text on every product's page: delivery, returns, the warranty.
struct Terms(String);

impl Terms {
    fn new(words: usize) -> Self {
        let mut prose = Prose::new(81, 0);
        let paragraphs = (words / 100).max(1);
        let text =
            (0..paragraphs).map(|_| format!("<p>{}</p>", prose.paragraph(words / paragraphs)));
        Self(text.collect())
    }
}

fn address_of(number: u64) -> String {
    format!("/product/{}", 10_000 + number)
}

fn title_of(number: u64) -> String {
    Prose::new(82, number).title()
}

fn price_of(number: u64) -> String {
    let mut random = Random::of(83, number);
    format!("{}.{:02} EUR", 5 + random.below(900), random.below(100))
}

fn product(number: u64, terms: &Terms, max_own: u64) -> String {
    let (title, price) = (title_of(number), price_of(number));
    let mut random = Random::of(84, number);
    let order = format!("{}-{:05}", 100 + random.below(900), number * 7 + 11);
    let own = number % (max_own + 1);
    let description = match own {
        0 => String::new(),
        own => {
            let text = Prose::new(85, number).paragraph(own as usize);
            let words: Vec<&str> = text.split(' ').take(own as usize).collect();
            format!("<p>{}.</p>", words.join(" "))
        }
    };
    let main = format!(
        "<main><h1>{title}</h1><p class=\"price\">{price}</p><p>Order number \
         {order}</p>{description}{}</main>",
        terms.0
    );
    html(
        &format!("{title} | The shop"),
        "<header>The shop</header>",
        &main,
        "<footer>The shop</footer>",
    )
}
