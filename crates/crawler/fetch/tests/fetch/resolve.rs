//! `HOST:PORT:ADDR` rules.

use fetch::{ResolveRule, ResolveRuleError};
use proptest::prelude::*;

#[test]
fn rules_are_read_as_curl_reads_them() {
    let cases = [
        (
            "example.org:443:127.0.0.1",
            "example.org",
            443,
            &["127.0.0.1"][..],
        ),
        ("EXAMPLE.org:80:10.0.0.1", "example.org", 80, &["10.0.0.1"]),
        (
            "bücher.example:80:10.0.0.1",
            "xn--bcher-kva.example",
            80,
            &["10.0.0.1"],
        ),
        ("a.test:8080:[::1]", "a.test", 8080, &["::1"]),
        ("a.test:8080:::1", "a.test", 8080, &["::1"]),
        (
            "a.test:65535:10.0.0.1,[fd00::2],fd00::3",
            "a.test",
            65535,
            &["10.0.0.1", "fd00::2", "fd00::3"],
        ),
    ];
    for (text, host, port, addresses) in cases {
        let addresses = addresses
            .iter()
            .map(|address| address.parse().unwrap())
            .collect();
        assert_eq!(
            text.parse(),
            Ok(ResolveRule {
                host: host.to_owned(),
                port,
                addresses
            }),
            "{text}"
        );
    }
}

#[test]
fn the_error_of_a_bad_rule_names_the_defect() {
    use ResolveRuleError::{Address, Form, Host, Port};
    let cases = [
        ("", Form(String::new())),
        ("example.org", Form("example.org".into())),
        ("example.org:80", Form("example.org:80".into())),
        (":80:10.0.0.1", Host(String::new())),
        ("127.0.0.1:80:10.0.0.1", Host("127.0.0.1".into())),
        ("a/b:80:10.0.0.1", Host("a/b".into())),
        ("u@a.test:80:10.0.0.1", Host("u@a.test".into())),
        ("a.test:0:10.0.0.1", Port("0".into())),
        ("a.test:65536:10.0.0.1", Port("65536".into())),
        ("a.test:http:10.0.0.1", Port("http".into())),
        ("a.test:80:", Address(String::new())),
        ("a.test:80:b.test", Address("b.test".into())),
        ("a.test:80:10.0.0.1,", Address(String::new())),
        ("a.test:80:[10.0.0.1", Address("[10.0.0.1".into())),
    ];
    for (text, expected) in cases {
        assert_eq!(text.parse::<ResolveRule>(), Err(expected), "{text}");
    }
}

proptest! {
    #[test]
    fn any_resolve_rule_is_parsed_from_its_text(
        host in "[a-z]{1,8}(\\.[a-z]{1,8}){0,2}",
        port in 1_u16..,
        addresses in prop::collection::vec(any::<std::net::IpAddr>(), 1..4),
    ) {
        let written = addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let rule: ResolveRule = format!("{host}:{port}:{written}").parse().unwrap();
        prop_assert_eq!(rule, ResolveRule { host, port, addresses });
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*") {
        drop(text.parse::<ResolveRule>());
    }
}
