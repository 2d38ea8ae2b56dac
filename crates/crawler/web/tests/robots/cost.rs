//! Section 3: no file can make a verdict cost much, and no honest file is refused for that.

use web::{Grounds, MAX_ROBOTS_BYTES, RobotsRules};

use crate::url;

/// As many lines of these as are read.
fn full(line: impl Fn(usize) -> String) -> RobotsRules {
    let mut file = "User-agent: *\n".to_owned();
    for number in 0.. {
        let line = line(number);
        if file.len() + line.len() > MAX_ROBOTS_BYTES {
            break;
        }
        file.push_str(&line);
    }
    RobotsRules::parse(file.as_bytes(), "x")
}

fn long_url() -> web::PageUrl {
    url(&format!("/{}", "a".repeat(8_000)))
}

#[test]
fn too_costly_star_rules_disallow_a_long_url() {
    for stars in [1, 2, 30, 100] {
        let rules = full(|number| format!("Allow: /{}b{number}\n", "*a".repeat(stars)));
        let verdict = rules.verdict(&long_url());
        assert_eq!(
            (verdict.allowed, verdict.grounds),
            (false, Grounds::TooCostly),
            "{stars}"
        );
        // A URL of usual length is compared with all rules.
        let verdict = rules.verdict(&url("/some/page.html?with=query"));
        assert_eq!(
            (verdict.allowed, verdict.grounds),
            (true, Grounds::NoRule),
            "{stars}"
        );
    }
}

#[test]
fn a_run_of_stars_equals_one_star() {
    let rules = full(|number| {
        if number == 0 {
            format!("Disallow: /{}a$\n", "*".repeat(400_000))
        } else {
            "#\n".repeat(9)
        }
    });
    assert_eq!(rules.verdict(&long_url()).rule().unwrap().pattern, "/*a$");
    assert!(rules.verdict(&url("/b")).allowed);
}

#[test]
fn any_number_of_rules_without_stars_is_compared_with_any_url() {
    let rules = full(|number| format!("Disallow: /{}b{number}.\n", "a".repeat(number % 50)));
    assert_eq!(rules.verdict(&long_url()).grounds, Grounds::NoRule);
    assert_eq!(rules.verdict(&url("/aab2000")).grounds, Grounds::NoRule);
    assert_eq!(
        rules.verdict(&url("/aab2002./x")).rule().unwrap().line,
        2_004
    );
}

#[test]
fn a_thousand_starred_rules_are_compared_with_a_url_of_two_thousand_octets() {
    let mut file = "User-agent: *\n".to_owned();
    for number in 0..1_000 {
        file.push_str(&format!("Disallow: /*/private-{number}/*?sid=\n"));
    }
    let rules = RobotsRules::parse(file.as_bytes(), "x");
    let long = "/path".repeat(400);
    assert_eq!(rules.verdict(&url(&long)).grounds, Grounds::NoRule);
    assert!(
        !rules
            .verdict(&url(&format!("{long}/private-999/x?sid=1")))
            .allowed
    );
}
