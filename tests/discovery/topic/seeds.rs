//! `--topic-of-seeds`: the topic is learned from the pages of the seeds.

use serde_json::Value;
use testkit::{Gate, Reply, Server, Site};

use super::{LAND, LEAF, SEA, number_in, off_topic, on_topic};
use crate::support::pages::{html, prose};
use crate::support::{CommandOutput, Crawl, KEY};

/// The seed that waits for the gate.
const HELD: &str = "/seed/3";

/// Seeds about tidal power. Each names two recipes before two plants, and the links to recipes have
/// words of their own.
fn site(gate: &Gate) -> Site {
    let gate = gate.clone();
    Site::new(move |request| {
        let path = request.path();
        let number = number_in(path);
        match path {
            "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n"),
            path if path.starts_with("/seed/") => {
                let pages = [2 * number, 2 * number + 1];
                let poor = pages.map(|page| (format!("/recipe/{page}"), prose(900 + page, 1)));
                let good = pages.map(|page| (format!("/plant/{page}"), "Tidal power".to_owned()));
                let seed = on_topic(10_000 + number, &[poor, good].concat());
                if path == HELD { seed.hold(&gate) } else { seed }
            }
            path if path.starts_with("/plant/") => on_topic(number, LEAF),
            path if path.starts_with("/recipe/") => off_topic(number, LEAF),
            "/bread" => text_page(&format!("{} Bread and butter.", prose(77, 80))),
            "/violin" => text_page(&format!("{} A violin sonata.", prose(78, 80))),
            "/chess" => text_page(&format!("{} The endgame.", prose(79, 80))),
            "/empty" => text_page(""),
            "/list.txt" => Reply::text("tidal power, and nothing that is a page"),
            "/map.xml" => {
                let port = request.port.unwrap();
                let entries: String = (0..3)
                    .map(|page| {
                        let loc = format!("http://{}:{port}/recipe/{page}", request.host);
                        format!("<url><loc>{loc}</loc></url>")
                    })
                    .collect();
                Reply::document("application/xml", format!("<urlset>{entries}</urlset>"))
            }
            "/moved" => Reply::redirect(301, "/seed/0"),
            _ => Reply::status(404),
        }
    })
}

fn text_page(text: &str) -> Reply {
    Reply::html(html("", &format!("<p>{text}</p>")))
}

fn open() -> Gate {
    let gate = Gate::new();
    gate.open();
    gate
}

/// Returns a crawl of these paths by the topic that they say.
fn of_seeds(server: &Server, paths: &[&str]) -> Crawl {
    let seeds: Vec<String> = paths.iter().map(|path| server.url(SEA, path)).collect();
    Crawl::of(server, &[SEA, LAND]).seeds(&seeds).with(&[
        "--concurrency",
        "1",
        "--tries",
        "1",
        "--topic-of-seeds",
    ])
}

const FOUR: [&str; 4] = ["/seed/0", "/seed/1", "/seed/2", "/seed/3"];

/// Returns what the crawl has stored of its topic.
fn stored(crawl: &Crawl) -> Value {
    let text = std::fs::read(crawl.out().join("state/topic-seeds.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Returns the seeds that are examples.
fn examples(crawl: &Crawl) -> Vec<String> {
    let stored = stored(crawl);
    let examples = stored["examples"].as_array().unwrap().iter();
    let seeds = examples.map(|example| example["seed"].as_str().unwrap_or("a file").to_owned());
    seeds.collect()
}

/// Returns the warnings about the topic of the seeds.
fn warnings(run: &CommandOutput) -> Vec<&str> {
    let lines = run.errors.lines();
    // A line of progress has the share of pages on topic.
    let lines = lines.filter(|line| !line.contains(" pages · "));
    lines.filter(|line| line.contains("topic")).collect()
}

#[test]
fn what_is_like_the_seeds_is_visited_first_and_other_pages_are_not_archived() {
    let server = Server::spawn_thread(site(&open()));
    let crawl = of_seeds(&server, &FOUR);
    let run = crawl.run();
    assert_eq!((run.code, warnings(&run)), (Some(0), vec![]), "{run:?}");
    let paths = server.log().visits();
    let (seeds, links) = paths.split_at(4);
    assert_eq!(seeds, FOUR);
    let (first, last) = links.split_at(8);
    let all = |paths: &[String], start: &str| paths.iter().all(|path| path.starts_with(start));
    assert!(all(first, "/plant/") && all(last, "/recipe/"), "{paths:?}");
    let summary = run.summary();
    assert_eq!(
        (
            &summary["unique"],
            &summary["off_topic"],
            &summary["harvest"]
        ),
        (&12.into(), &8.into(), &0.6.into())
    );
    assert_eq!(crawl.archived().len(), 12);
    let status = crawl.run_command(&["status", "crawl", "--format", "json"]);
    assert_eq!(status.json()["harvest"], 0.6);
    crawl.is_sound();
}

#[test]
fn the_words_that_the_seeds_share_are_named_for_pages_and_for_links_that_wait() {
    let server = Server::spawn_thread(site(&open()));
    let crawl = of_seeds(&server, &FOUR);
    crawl.run_with(&["--max-pages", "5"]);
    let why = |path: &str| {
        let url = server.url(SEA, path);
        let answer = crawl.run_command(&["why", "crawl", &url, "--format", "json"]);
        answer.json()["topic"].clone()
    };
    for path in ["/seed/0", "/seed/3", "/plant/0", "/plant/1"] {
        let words = why(path)["words"].clone();
        let has = |word: &str| words.as_array().unwrap().contains(&word.into());
        assert!(has("tidal") && has("power"), "{path}: {words}");
    }
    assert!(why("/plant/1")["level"].as_u64() < why("/recipe/1")["level"].as_u64());
    let notes = crawl.notes_about(&server.url(SEA, "/seed/2"));
    assert!(notes["topic-words"].contains("tidal"), "{notes:?}");
    assert!(notes.contains_key("relevance"), "{notes:?}");
}

#[test]
fn a_seed_is_on_topic_whatever_it_says_and_wherever_it_has_moved() {
    let server = Server::spawn_thread(site(&open()));
    let crawl = of_seeds(&server, &["/moved", "/seed/1", "/seed/2", "/bread"]);
    crawl.complete();
    let bread = crawl.visit(&server.url(SEA, "/bread"));
    assert_eq!(bread["verdict"], "unique");
    assert!(bread["relevance"].as_f64() < Some(0.3), "{bread}");
    assert_eq!(
        examples(&crawl)[0],
        server.url(SEA, "/seed/0"),
        "the page is the example, not the address that leads there"
    );
    // The topic is what most seeds share.
    let plant = crawl.visit(&server.url(SEA, "/plant/2"));
    let recipe = crawl.visit(&server.url(SEA, "/recipe/2"));
    assert_eq!(
        (&plant["verdict"], &recipe["verdict"]),
        (&"unique".into(), &"off-topic".into())
    );
}

/// A crawl that is killed and continued would have the topic of its last seeds only, if the words
/// of the first were not kept before these are settled.
#[test]
fn a_crawl_that_is_killed_between_its_seeds_has_the_topic_and_the_order_of_one_that_is_not() {
    let seeds: Vec<String> = (0..8).map(|number| format!("/seed/{number}")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let whole = Server::spawn_thread(site(&open()));
    let undisturbed = of_seeds(&whole, &seeds);
    undisturbed.complete();

    let gate = Gate::new();
    let server = Server::spawn_thread(site(&gate));
    let crawl = of_seeds(&server, &seeds);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    running.kill();
    assert_eq!(examples(&crawl).len(), 3, "{:?}", examples(&crawl));
    assert_eq!(stored(&crawl)["complete"], false);
    gate.open();
    crawl.complete();

    assert_eq!(examples(&crawl).len(), 8);
    assert_eq!(stored(&crawl)["complete"], true);
    assert_eq!(stored(&crawl)["topic"], stored(&undisturbed)["topic"]);
    let mut continued = server.log().visits();
    // The seed that was in flight is asked for twice.
    let again = continued.iter().rposition(|path| path == HELD).unwrap();
    continued.remove(again);
    assert_eq!(continued, whole.log().visits());
    crawl.is_sound();
}

#[test]
fn a_continued_crawl_does_not_need_the_pages_of_its_seeds_again() {
    let server = Server::spawn_thread(site(&open()));
    let crawl = of_seeds(&server, &FOUR);
    crawl.run_with(&["--max-pages", "6"]);
    let topic = stored(&crawl);
    let rest = crawl.run_with(&["--max-pages", "100"]);
    assert_eq!(rest.summary()["off_topic"], 8, "{rest:?}");
    assert_eq!(stored(&crawl), topic);
    assert!(FOUR.iter().all(|seed| server.log().count(SEA, seed) == 1));
    // A seed that is added later is on topic, and changes nothing about what others are judged by.
    let more = crawl.run_command(&[
        "--out",
        "crawl",
        "--summary=json",
        "--max-pages=100",
        &server.url(SEA, "/seed/0"),
        &server.url(SEA, "/bread"),
    ]);
    assert_eq!(more.code, Some(0), "{more:?}");
    assert_eq!(stored(&crawl), topic);
    assert_eq!(crawl.visit(&server.url(SEA, "/bread"))["verdict"], "unique");
}

/// A crawl whose state was lost would have no topic, because its seeds are not visited again.
#[test]
fn a_crawl_that_is_rebuilt_from_its_archive_has_the_topic_of_its_seeds() {
    let server = Server::spawn_thread(site(&open()));
    let crawl = of_seeds(&server, &FOUR);
    crawl.run_with(&["--max-pages", "6"]);
    let topic = stored(&crawl);
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let rebuilt = crawl.run_command(&["rebuild", "crawl", "--hash-key", KEY]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    let rest = crawl.run_with(&["--max-pages", "100"]);
    assert_eq!(rest.code, Some(0), "{rest:?}");
    let summary = rest.summary();
    assert_eq!(
        (&summary["unique"], &summary["off_topic"]),
        (&12.into(), &8.into())
    );
    assert_eq!(stored(&crawl)["topic"], topic["topic"]);
    assert_eq!(examples(&crawl).len(), 4);
    assert!(FOUR.iter().all(|seed| server.log().count(SEA, seed) == 1));
    crawl.is_sound();
}

#[test]
fn seeds_without_a_text_leave_a_crawl_without_a_topic_in_which_every_page_is_wanted() {
    let server = Server::spawn_thread(site(&open()));
    let crawl = of_seeds(&server, &["/map.xml", "/missing", "/list.txt", "/empty"]);
    let run = crawl.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let told = warnings(&run);
    assert_eq!(told.len(), 1, "{run:?}");
    for words in [
        "no seed has a text: the crawl has no topic",
        "every page counts as on topic",
        "start over with other seeds, or define the topic with --topic",
    ] {
        assert!(told[0].contains(words), "{run:?}");
    }
    let recipe = crawl.visit(&server.url(SEA, "/recipe/1"));
    assert_eq!(
        (&recipe["verdict"], &recipe["relevance"]),
        (&"unique".into(), &Value::Null)
    );
    let why = crawl.run_command(&["why", "crawl", &server.url(SEA, "/recipe/1")]);
    assert_eq!(why.code, Some(0), "{why:?}");
    assert_eq!(run.summary()["off_topic"], 0);
}

#[test]
fn few_seeds_seeds_with_nothing_in_common_and_too_many_are_warned_of_once_they_were_read() {
    let server = Server::spawn_thread(Site::new(|request| {
        match (request.path(), number_in(request.path())) {
            ("/robots.txt", _) => Reply::status(404),
            (path, number) if path.starts_with("/of-many/") => on_topic(number, LEAF),
            ("/one", _) => text_page(&prose(1, 80)),
            ("/two", _) => text_page(&prose(2, 80)),
            ("/three", _) => text_page(&prose(3, 80)),
            _ => Reply::status(404),
        }
    }));
    let many: Vec<String> = (0..101).map(|seed| format!("/of-many/{seed}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (seeds, expected) in [
        (
            &["/of-many/1", "/gone"][..],
            "should have at least 3 examples, got 1",
        ),
        (
            &["/one", "/two", "/three"],
            "the examples have no word in common",
        ),
        (&many, "a topic has at most 100 examples"),
    ] {
        let run = of_seeds(&server, seeds).run();
        let told = warnings(&run);
        assert_eq!((run.code, told.len()), (Some(0), 1), "{run:?}");
        assert!(told[0].contains(expected), "{run:?}");
    }
}

#[test]
fn words_and_files_that_are_given_count_beside_the_seeds() {
    let server = Server::spawn_thread(site(&open()));
    let crawl =
        of_seeds(&server, &FOUR).with(&["--topic", "barrage", "--topic-file", "lagoon.txt"]);
    let lagoon = "A tidal lagoon gives power by turbines. ".repeat(3);
    crawl.write("lagoon.txt", lagoon);
    crawl.complete();
    let topic = &stored(&crawl)["topic"];
    let words: Vec<&str> = topic["words"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word["word"].as_str().unwrap())
        .collect();
    // One that the user gave, and those of several examples.
    assert!(
        words.contains(&"barrage") && words.contains(&"plants"),
        "{words:?}"
    );
    assert!(!words.contains(&"lagoon"), "{words:?}");
    assert_eq!(examples(&crawl)[0], "a file");
    assert_eq!(examples(&crawl).len(), 5);
    // Without a seed that has a text, what was given is the topic.
    let failed = of_seeds(&server, &["/missing"]).with(&["--topic", "barrage"]);
    let run = failed.run();
    let told = warnings(&run);
    assert_eq!(told.len(), 1, "{run:?}");
    assert!(
        told[0].contains("the topic is defined only by --topic and --topic-file"),
        "{run:?}"
    );
}

#[test]
fn the_key_of_the_configuration_file_says_the_same_as_the_flag() {
    let server = Server::spawn_thread(site(&open()));
    let seeds: Vec<String> = FOUR.iter().map(|path| server.url(SEA, path)).collect();
    let crawl = Crawl::of(&server, &[SEA])
        .seeds(&seeds)
        .with(&["--config", "my.toml"]);
    crawl.write("my.toml", "topic-of-seeds = true\nmax-pages = 6\n");
    crawl.complete();
    assert_eq!(examples(&crawl).len(), 4);
    let as_run = std::fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    assert!(as_run.contains("topic-of-seeds = true"), "{as_run}");
}

#[test]
fn a_threshold_of_the_user_holds_for_all_pages_but_the_seeds() {
    let server = Server::spawn_thread(site(&open()));
    let crawl = of_seeds(&server, &FOUR).with(&["--topic-threshold", "1"]);
    let summary = crawl.complete();
    let seeds = FOUR.map(|seed| crawl.visit(&server.url(SEA, seed)));
    assert!(seeds.iter().all(|visit| visit["verdict"] == "unique"));
    assert!(summary["off_topic"].as_u64() >= Some(8), "{summary}");
    let none = of_seeds(&server, &FOUR).with(&["--topic-threshold", "0"]);
    assert_eq!(none.complete()["off_topic"], 0);
}
