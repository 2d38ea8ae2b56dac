//! The API: answers in JSON, compared with their description.

use std::collections::BTreeSet;

use journal::Fate;
use serde_json::Value;

use crate::client::{Served, TOKEN};
use crate::crawl::{CrawlFixture, DUPLICATE, EXCLUDED, FAILED, UNIQUE};

const DESCRIPTION: &str = include_str!("../../src/api/openapi.json");

/// Schemas and fields that this crawl lacks: it has no search index, no topic, no limit that cut a
/// visit and no pattern. `tests/commands/api.rs` compares hits with those of `crawler search`.
const ELSEWHERE: [&str; 9] = [
    "CutVisits",
    "Difference.compared_bytes",
    "Error",
    "Hit",
    "Hits",
    "Pattern",
    "PatternExample",
    "Status.judged",
    "Status.off_topic",
];

/// Questions to every route but two. Their answers have every field, except [`ELSEWHERE`].
fn questions() -> Vec<String> {
    let of = |path: &str, url: &str| format!("/api/{path}?url={url}");
    let mut all: Vec<String> = [
        "status",
        "hosts?q=site",
        "duplicates",
        "skipped?from=0",
        "changes?change=new",
    ]
    .map(|path| format!("/api/{path}"))
    .into();
    all.extend(
        [
            "failures",
            "broken-links",
            "redirects",
            "exclusions",
            "pages",
        ]
        .map(|kind| format!("/api/problems?kind={kind}&sort=url&status=2&host=site")),
    );
    all.extend([UNIQUE, DUPLICATE, FAILED, EXCLUDED, "http://no.test/"].map(|url| of("page", url)));
    all.extend([
        of("cluster", UNIQUE),
        of("similar", UNIQUE),
        of("difference", DUPLICATE),
    ]);
    all
}

/// A comparison of answers with the description.
struct Description {
    whole: Value,
    /// Names of the fields that were answered, each after the name of its schema.
    answered: BTreeSet<String>,
}

impl Description {
    fn read() -> Self {
        Self {
            whole: serde_json::from_str(DESCRIPTION).expect("JSON"),
            answered: BTreeSet::new(),
        }
    }

    /// Asserts that a value is described.
    fn check(&mut self, value: &Value, schema: &Value, name: &str) {
        if let Some(target) = schema["$ref"].as_str() {
            let name = target.rsplit('/').next().expect("a name");
            let schema = self.whole["components"]["schemas"][name].clone();
            assert!(schema.is_object(), "{target} is not described");
            return self.check(value, &schema, name);
        }
        if let Some(kinds) = schema["oneOf"].as_array() {
            let kind = kinds
                .iter()
                .find(|kind| (kind["type"] == "null") == value.is_null());
            return self.check(value, kind.expect("a kind"), name);
        }
        let given = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let types = &schema["type"];
        let has = |kind: &str| {
            types == kind
                || types
                    .as_array()
                    .is_some_and(|all| all.contains(&kind.into()))
        };
        assert!(
            has(given) || given == "integer" && has("number"),
            "{name}: {value}, not {types}"
        );
        for entry in value.as_array().into_iter().flatten() {
            self.check(entry, &schema["items"], name);
        }
        for (field, value) in value.as_object().into_iter().flatten() {
            let known = &schema["properties"][field];
            let schema = match known.is_null() {
                true => &schema["additionalProperties"],
                false => known,
            };
            let named = format!("{name}.{field}");
            assert!(schema.is_object(), "{named} is not described");
            self.answered.insert(named.clone());
            self.check(value, schema, &named);
        }
        for field in schema["required"].as_array().into_iter().flatten() {
            let field = field.as_str().expect("a name");
            assert!(value.get(field).is_some(), "{name} lacks {field}");
        }
    }

    /// Returns the schema of the answer of a route.
    fn schema_of(&self, target: &str) -> Value {
        let path = target.split('?').next().expect("a path");
        let answer = &self.whole["paths"][path]["get"]["responses"]["200"];
        answer["content"]["application/json"]["schema"].clone()
    }
}

#[tokio::test]
async fn every_field_of_every_answer_is_described_and_every_described_field_is_answered() {
    let crawl = CrawlFixture::saying("x");
    crawl.visit("http://site.test/copy/2", Fate::ExactDuplicate);
    crawl.discover(&["http://site.test/waits"]);
    let served = Served::of(crawl).await;
    let mut description = Description::read();
    let mut paths = BTreeSet::from(["/api/openapi.json", "/api/search"].map(str::to_owned));
    for target in questions() {
        let response = served.get(&target).await;
        assert_eq!(response.status, 200, "{target}: {}", response.body);
        assert_eq!(response.header("content-type"), Some("application/json"));
        let answer: Value = serde_json::from_str(&response.body).expect("JSON");
        let schema = description.schema_of(&target);
        description.check(&answer, &schema, &target);
        paths.insert(target.split('?').next().expect("a path").to_owned());
    }
    let described = description.whole["paths"].as_object().expect("paths");
    assert_eq!(described.keys().cloned().collect::<BTreeSet<_>>(), paths);
    let schemas = description.whole["components"]["schemas"]
        .as_object()
        .expect("schemas");
    let mut missing = Vec::new();
    for (name, schema) in schemas {
        for field in schema["properties"].as_object().expect("properties").keys() {
            let named = format!("{name}.{field}");
            let elsewhere = [name, &named].map(|name| ELSEWHERE.contains(&&**name));
            if !description.answered.contains(&named) && elsewhere == [false, false] {
                missing.push(named);
            }
        }
    }
    assert_eq!(missing, [""; 0], "described, but in no answer");
    let served = served.get("/api/openapi.json").await;
    assert_eq!(served.body, DESCRIPTION);
}

#[tokio::test]
async fn a_refusal_is_json_with_a_reason() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    let host = served.host();
    let wrong = "Authorization: Bearer 00000000000000000000000000000000";
    for (first, fields, status, words) in [
        ("GET /api/nothing", &[&*host][..], 404, "no page"),
        ("GET /api/hosts?from=x", &[&host], 400, "openapi.json"),
        (
            "GET /api/problems?kind=all",
            &[&host],
            400,
            "unknown variant",
        ),
        ("GET /api/skipped?page=2", &[&host], 400, "unknown field"),
        ("GET /api/page", &[&host], 400, "missing field"),
        ("GET /api/page?url=nonsense", &[&host], 400, "nonsense"),
        (
            "GET /api/search?q=harbour",
            &[&host],
            400,
            "no search index",
        ),
        ("GET /api/changes?kind=new", &[&host], 400, "unknown field"),
        ("GET /api/status", &["Host: evil.test"], 421, "Host"),
        ("POST /api/status", &[&host], 401, "token"),
        ("POST /api/status", &[&host, wrong], 401, "wrong"),
    ] {
        let refused = served.send(first, fields, "").await;
        assert_eq!(refused.status, status, "{first}: {}", refused.body);
        assert_eq!(
            refused.header("content-type"),
            Some("application/json"),
            "{first}"
        );
        let answer: Value = serde_json::from_str(&refused.body).expect("JSON");
        let reason = answer["error"].as_str().expect("a reason");
        assert!(reason.contains(words), "{first}: {reason}");
        let scheme = (status == 401).then_some("Bearer");
        assert_eq!(refused.header("www-authenticate"), scheme, "{first}");
    }
}

#[tokio::test]
async fn a_program_needs_no_cookie_and_cannot_change_anything() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    let (host, token) = (served.host(), format!("Authorization: Bearer {TOKEN}"));
    let read = served.send("GET /api/status", &[&host, &token], "").await;
    assert_eq!(read.status, 200, "{}", read.body);
    assert_eq!(read.header("set-cookie"), None);
    let origin = served.origin();
    let changed = served
        .send("POST /api/status", &[&host, &token, &origin], "")
        .await;
    assert_eq!(changed.status, 405, "{}", changed.body);
}

#[tokio::test]
async fn a_text_comes_in_parts_that_end_between_characters() {
    let whole = "€".repeat(30_000);
    let served = Served::of(CrawlFixture::saying(&whole)).await;
    let (mut read, mut from) = (String::new(), Value::from(0));
    while from.is_number() {
        let target = format!("/api/page?url={UNIQUE}&from={from}");
        let part: Value = serde_json::from_str(&served.get(&target).await.body).expect("JSON");
        read.push_str(part["text"].as_str().expect("a text"));
        from = part["next_from"].clone();
    }
    assert_eq!(read, whole);
}
