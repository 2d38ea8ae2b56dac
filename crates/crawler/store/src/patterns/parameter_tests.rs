//! Closing and reopening of parameters.

use journal::Fate;

use super::tests::{entry, record, settled};
use super::*;
use crate::fixtures::{link, url};
use crate::frontier::FrontierRules;

/// News of a page.
#[derive(Clone, Copy, PartialEq)]
enum Brings {
    Nothing,
    /// Text that is not on another page.
    Text,
    /// Such text, and a link to a page that was not known.
    Link,
}

use Brings::{Link, Nothing, Text};

/// A host that is crawled: its lists are `/listN?a=1&b=1`.
#[derive(Default)]
struct Site {
    patterns: Patterns,
    addresses: u64,
    fetched: u64,
}

impl Site {
    /// Visits the next list with these parameters, or leaves it out. Returns the reason for that.
    fn visit(&mut self, parameters: &str, brings: Brings) -> Option<Reason> {
        let query = parameters.replace('&', "=1&");
        let address = format!("http://a.test/list{}?{query}=1", self.addresses + 1);
        let finds = match brings {
            Link => vec![link(&format!("http://a.test/goods/{}", self.addresses), 1)],
            _ => Vec::new(),
        };
        self.visit_address(&address, brings != Nothing, &finds)
    }

    fn visit_address(
        &mut self,
        address: &str,
        is_new: bool,
        finds: &[DiscoveredUrl],
    ) -> Option<Reason> {
        self.addresses += 1;
        let rules = FrontierRules::default();
        let excluded = self.patterns.exclusion(&entry(address), &rules);
        let fate = match (&excluded, is_new) {
            (Some(_), _) => Fate::Excluded,
            (None, true) => Fate::Unique,
            (None, false) => Fate::NearDuplicate,
        };
        let mut record = record(address, fate, 200);
        if excluded.is_some() {
            (record.status, record.reason) = (None, excluded.clone());
            self.patterns.settled(&record, &[], 0, Some(self.addresses));
        } else {
            self.fetched += 1;
            self.patterns.settled(&record, finds, 0, None);
        }
        while let Some(change) = self.patterns.due(&FrontierRules::default()) {
            self.patterns.apply(&change);
        }
        excluded
    }

    /// Visits so many lists of each of these combinations in turn.
    fn visit_all(
        &mut self,
        combinations: &[&str],
        times: u64,
        brings: impl Fn(u64, &str) -> Brings,
    ) {
        for time in 0..times {
            for combination in combinations {
                self.visit(combination, brings(time, combination));
            }
        }
    }

    fn is_closed(&self, parameter: &str) -> bool {
        let name = format!("a.test/{{name}}?{parameter}&**");
        let known = self.patterns.get(&PatternName::from_text(&name).unwrap());
        known.is_some_and(|known| known.state() == PatternState::Closed)
    }
}

fn nothing(_: u64, _: &str) -> Brings {
    Nothing
}

/// The 15 combinations of four parameters.
fn combinations() -> Vec<String> {
    let names = ["look", "price", "show", "sort"];
    let combination = |chosen: u32| {
        let chosen = (0..4).filter(|place| chosen >> place & 1 == 1);
        let chosen: Vec<&str> = chosen.map(|place| names[place]).collect();
        chosen.join("&")
    };
    (1..16).map(combination).collect()
}

/// Half of the visits to a shop went to combinations of five parameters. One in eight showed
/// another selection of goods, so that none of them was closed; none led to goods that were not
/// known.
#[test]
fn a_parameter_whose_pages_repeat_and_lead_nowhere_is_closed_in_all_its_combinations() {
    let mut shop = Site::default();
    let combinations = combinations();
    let combinations: Vec<&str> = combinations.iter().map(String::as_str).collect();
    let selections = |time: u64, _: &str| if time % 8 == 7 { Text } else { Nothing };
    shop.visit_all(&combinations, 100, selections);
    let names = ["look", "price", "show", "sort"];
    assert!(names.iter().all(|name| shop.is_closed(name)));
    // Sixteen of each, and probes.
    assert!((240..340).contains(&shop.fetched), "{}", shop.fetched);
    let reason = shop.visit("look&sort", Nothing).unwrap();
    let reason = reason.to_string();
    assert!(
        reason.starts_with("pattern closed: a.test/{name}?look&**: ")
            && reason.ends_with(" pages said something new, and none led to an unknown one"),
        "{reason}"
    );
    let excluded: u64 = shop.patterns.reports().map(|report| report.excluded).sum();
    assert_eq!(excluded, shop.addresses - shop.fetched);
}

#[test]
fn a_parameter_with_one_page_in_five_that_says_something_new_stays_open() {
    let mut site = Site::default();
    let opinions = |time: u64, _: &str| {
        if time.is_multiple_of(5) {
            Text
        } else {
            Nothing
        }
    };
    site.visit_all(&["tab", "tab&unit"], 500, opinions);
    assert_eq!(site.fetched, 1_000);
}

#[test]
fn a_path_with_one_query_has_no_parameters() {
    let mut site = Site::default();
    site.visit_all(&["page"], 50, |_, _| Text);
    assert_eq!(site.patterns.count, 1);
    site.visit_all(&["page&sort", "page"], 1, |_, _| Text);
    assert_eq!(site.patterns.count, 4);
    assert_eq!(site.patterns.reports().count(), 2);
}

#[test]
fn pages_of_a_list_are_visited_though_their_sorted_views_repeat() {
    let mut shop = Site::default();
    shop.visit_all(&["page"], 20, |_, _| Link);
    shop.visit_all(&["page&sort", "sort", "look&page&sort"], 200, nothing);
    assert!(shop.is_closed("sort"));
    let excluded = (0..40).filter(|_| shop.visit("page&sort", Nothing).is_some());
    assert!(excluded.count() > 30, "all but probes");
    for _ in 0..90 {
        assert_eq!(shop.visit("page", Nothing), None);
    }
    assert_eq!(shop.visit("page&price", Link), None);
}

/// The views come first, so that the parameter is closed before its own list is seen.
#[test]
fn a_combination_with_a_closed_parameter_is_sampled_and_stays_open_if_it_brings_something() {
    for brings in [Text, Link] {
        let mut forum = Site::default();
        forum.visit_all(&["action&form", "action"], 100, nothing);
        assert!(forum.is_closed("action"));
        for time in 0..200_u64 {
            let brings = if time.is_multiple_of(5) {
                brings
            } else {
                Nothing
            };
            assert_eq!(forum.visit("action&thread", brings), None, "{time}");
        }
        assert!(forum.visit("action", Nothing).is_some());
    }
}

#[test]
fn a_filter_that_leads_to_new_contents_stays_open() {
    let mut shop = Site::default();
    let combinations = [
        "sort",
        "colour",
        "colour&sort",
        "colour&page&sort",
        "colour&page",
    ];
    shop.visit_all(&combinations, 150, |time, combination| {
        let is_filter = matches!(combination, "colour" | "colour&page");
        if is_filter && time % 10 == 0 {
            Link
        } else {
            Nothing
        }
    });
    assert!(shop.is_closed("sort") && !shop.is_closed("colour") && !shop.is_closed("page"));
    for combination in ["colour&page", "colour&size"] {
        assert_eq!(shop.visit(combination, Nothing), None, "{combination}");
    }
}

#[test]
fn a_link_to_one_more_view_with_the_parameter_leads_nowhere() {
    for (found, is_closed) in [
        ("/list?look=1&page=9&sort=1", true),
        ("/list?page=9", false),
        ("/goods/1?sort=1", false),
        ("http://b.test/list?sort=1", false),
    ] {
        let mut shop = Site::default();
        let base = url("http://a.test/");
        let found = base.join(found, &web::CanonicalForm::default()).unwrap();
        for number in 0..240 {
            let look = if number % 2 == 0 { "" } else { "look=1&" };
            let address = format!("http://a.test/list{number}?{look}sort=1");
            shop.visit_address(&address, number % 8 == 0, &[link(found.as_str(), 1)]);
        }
        assert_eq!(shop.is_closed("sort"), is_closed, "{found}");
    }
}

#[test]
fn a_probe_of_a_closed_parameter_that_leads_on_opens_it_and_its_urls_wait_again() {
    let mut shop = Site::default();
    let selections = |time: u64, _: &str| {
        if time.is_multiple_of(8) {
            Text
        } else {
            Nothing
        }
    };
    shop.visit_all(&["look", "look&sort", "sort"], 100, selections);
    assert!(shop.is_closed("look"));
    let excluded = (0..2_000).take_while(|_| {
        shop.visit("look&sort", Link);
        shop.is_closed("look")
    });
    let excluded = excluded.count();
    assert!(excluded <= 128, "{excluded}");
    let records = shop.patterns.to_requeue().unwrap();
    assert!(records.iter().count() >= excluded);
}

#[test]
fn a_page_that_a_later_one_contains_speaks_against_its_parameters() {
    let mut shop = Site::default();
    shop.visit_all(&["look", "look&sort"], 60, |_, _| Text);
    for number in 1..=120 {
        let query = match number % 2 {
            1 => "look=1",
            _ => "look=1&sort=1",
        };
        let mut whole = record(&format!("http://a.test/whole/{number}"), Fate::Unique, 200);
        whole.details.contains = vec![url(&format!("http://a.test/list{number}?{query}"))];
        settled(&mut shop.patterns, &whole);
    }
    while let Some(change) = shop.patterns.due(&FrontierRules::default()) {
        shop.patterns.apply(&change);
    }
    assert!(shop.is_closed("look"));
}

#[test]
fn a_pattern_that_is_opened_by_hand_is_visited_though_its_parameter_is_closed() {
    let mut shop = Site::default();
    let selections = |time: u64, _: &str| {
        if time.is_multiple_of(8) {
            Text
        } else {
            Nothing
        }
    };
    shop.visit_all(&["look", "look&sort", "sort"], 100, selections);
    assert!(shop.visit("sort", Nothing).is_some());
    let name = PatternName::from_text("a.test/{name}?sort").unwrap();
    shop.patterns.apply(&Record::PatternReopened(name));
    assert_eq!(shop.visit("sort", Nothing), None);
}

/// Of a forum whose first 300 threads were deleted, 500 of the 2,700 others were lost: their
/// pattern was opened, and its parameter was closed until the end.
#[test]
fn urls_that_a_parameter_excluded_of_a_pattern_that_is_fruitful_now_get_a_last_look() {
    let mut forum = Site::default();
    forum.visit_all(&["page"], 2, |_, _| Link);
    forum.visit_all(&["t"], 130, |time, _| {
        if time.is_multiple_of(40) {
            Text
        } else {
            Nothing
        }
    });
    assert!(forum.is_closed("t"));
    let excluded = (0..400).filter(|_| forum.visit("t", Nothing).is_some());
    assert!(excluded.count() > 300);
    // Visits that were in flight when the parameter was closed.
    for number in 0..100 {
        let address = format!("http://a.test/list{number}?t=2");
        settled(
            &mut forum.patterns,
            &record(&address, Fate::NearDuplicate, 200),
        );
    }
    while let Some(change) = forum.patterns.due(&FrontierRules::default()) {
        forum.patterns.apply(&change);
    }
    forum.visit_all(&["t"], 2_000, |_, _| Text);
    assert!(forum.is_closed("t"));
    let parameter = PatternName::from_text("a.test/{name}?t&**").unwrap();
    let reopened = forum.patterns.last_look(&FrontierRules::default());
    assert_eq!(reopened, Some(Record::PatternReopened(parameter.clone())));
    forum.patterns.apply(&reopened.unwrap());
    let waiting = forum.patterns.get(&parameter).unwrap().to_requeue();
    assert!(waiting.unwrap().iter().count() > 300);
}

#[test]
fn the_parameters_of_a_host_are_bounded() {
    let mut site = Site::default();
    for number in 0..500 {
        let digits = format!("{number:03}");
        let key: String = digits.bytes().map(|digit| char::from(digit + 50)).collect();
        for address in [
            format!("http://a.test/list?a=1&{key}=1"),
            format!("http://a.test/{key}/list?{key}=1"),
            format!("http://a.test/{key}/list?b=1&{key}=1"),
        ] {
            site.visit_address(&address, true, &[]);
        }
    }
    let known = site.patterns.all();
    assert_eq!(known.filter(|(.., known)| known.is_parameter()).count(), 64);
    assert!(site.patterns.count <= MAX_OF_A_HOST.iter().sum::<usize>() + 64);
}
