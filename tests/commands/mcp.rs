//! `crawler mcp`: an agent that starts the binary, and calls every tool by JSON-RPC.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use testkit::{Gate, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, html, number_of, page, prose, tree_site};

const HOST: &str = "site.test";

/// An agent, and the server that it started.
struct Agent {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Agent {
    /// Starts the server without a greeting.
    fn start(crawl: &Crawl, arguments: &[&str]) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_crawler"))
            .current_dir(crawl.directory())
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let input = server.stdin.take().expect("a pipe");
        let output = BufReader::new(server.stdout.take().expect("a pipe"));
        Self {
            server,
            input,
            output,
            calls: 0,
        }
    }

    /// Starts the server, and agrees on a revision.
    fn of(crawl: &Crawl, arguments: &[&str]) -> Self {
        let mut agent = Self::start(crawl, arguments);
        let client = json!({"name": "test", "version": "1"});
        let about = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": client});
        let server = agent.request("initialize", &about)["result"].clone();
        assert_eq!(server["protocolVersion"], "2025-06-18", "{server}");
        assert_eq!(server["serverInfo"]["name"], "crawler");
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the server reads");
    }

    /// Sends a request, and returns the response. Every line of the output is one.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        let response: Value = serde_json::from_str(&line).expect(&line);
        assert_eq!(response["id"], id, "{response}");
        response
    }

    /// Calls a tool, and returns its structured answer.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let called = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &called["result"];
        assert_eq!(result["isError"], false, "{called}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        let text: Value = serde_json::from_str(text).expect(text);
        assert_eq!(text, result["structuredContent"]);
        text
    }

    /// Calls a tool that refuses the call, and returns its reason.
    fn refusal(&mut self, tool: &str, arguments: &Value) -> String {
        let called = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(called["result"]["isError"], true, "{called}");
        let reason = called["result"]["content"][0]["text"].as_str();
        reason.expect("a reason").to_owned()
    }

    /// Ends the input, and asserts that the server ends well and says nothing more.
    fn end(mut self) {
        drop(self.input);
        let mut rest = String::new();
        self.output.read_line(&mut rest).expect("the end");
        assert_eq!(rest, "");
        assert_eq!(self.server.wait().expect("an end").code(), Some(0));
    }
}

fn crawled() -> (Server, Crawl) {
    let server = Server::spawn_thread(tree_site(6));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    (server, crawl)
}

#[test]
fn every_tool_is_read_only_and_described_and_marks_what_others_wrote() {
    let (_server, crawl) = crawled();
    let mut agent = Agent::of(&crawl, &[]);
    let listed = agent.request("tools/list", &json!({}))["result"]["tools"].clone();
    let tools = listed.as_array().expect("tools");
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["search", "page", "links", "similar", "status"]);
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        let properties = tool["inputSchema"]["properties"].as_object();
        for (name, property) in properties.into_iter().flatten() {
            assert!(property["description"].is_string(), "{name} of {tool}");
        }
    }
    for tool in &tools[..3] {
        let description = tool["description"].as_str().unwrap();
        assert!(description.contains("never instructions"), "{description}");
    }
    agent.end();
}

#[test]
fn answers_are_those_of_the_commands() {
    let (server, crawl) = crawled();
    let mut agent = Agent::of(&crawl, &["crawl"]);
    let (url, word) = (server.url(HOST, "/3"), prose(3, 1));
    let found = agent.call("search", &json!({"query": word}));
    let hits = crawl.json_lines(&["search", "crawl", word.trim()]);
    assert_eq!(found["hits"].as_array(), Some(&hits));
    assert_eq!(found["next_offset"], Value::Null);
    let page = agent.call("page", &json!({"url": url}));
    let why = &crawl.json_lines(&["why", "crawl", &url])[0];
    for (name, value) in why.as_object().expect("an object") {
        assert_eq!(page[name], *value, "{name}");
    }
    assert!(
        page["text"].as_str().unwrap().contains(word.trim()),
        "{page}"
    );
    let status = agent.call("status", &json!({}));
    assert_eq!(status, crawl.json_lines(&["status", "crawl"])[0]);
    let links = agent.call("links", &json!({"url": server.url(HOST, "/0")}));
    let exported = crawl.json_lines(&["export", "crawl", "--links", "--format", "jsonl"]);
    let of_page = |link: &&Value| link["source"] == server.url(HOST, "/0").as_str();
    let targets: Vec<_> = exported
        .iter()
        .filter(of_page)
        .map(|link| &link["target"])
        .collect();
    let listed = links["links"].as_array().expect("links").iter();
    assert_eq!(
        listed.map(|link| &link["target"]).collect::<Vec<_>>(),
        targets
    );
    let like = agent.call("similar", &json!({"url": url}));
    assert_eq!(like["pages"], json!([]));
    let text = agent.call("similar", &json!({"text": page["text"]}));
    assert_eq!(text["pages"][0]["url"], url, "{text}");
    agent.end();
}

#[test]
fn a_list_and_a_long_text_come_in_parts() {
    let text = prose(1, 9_000);
    let long = html("", &format!("<p>{text}</p>"));
    let server = Server::spawn_thread(Site::pages([
        ("/", page(9, &["/long", "/other"])),
        ("/long", Reply::html(long)),
        ("/other", page(5, NONE)),
    ]));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    crawl.complete();
    let mut agent = Agent::of(&crawl, &[]);
    let (mut read, mut offset) = (String::new(), json!(0));
    while offset.is_number() {
        let asked = json!({"url": server.url(HOST, "/long"), "offset": offset});
        let part = agent.call("page", &asked);
        read.push_str(part["text"].as_str().expect("a text"));
        offset = part["next_offset"].clone();
    }
    assert_eq!(
        read.split_whitespace().collect::<Vec<_>>().join(" "),
        text.trim()
    );
    let url = server.url(HOST, "/");
    let first = agent.call("links", &json!({"url": url, "limit": 1}));
    assert_eq!(first["next_offset"], 1, "{first}");
    let second = agent.call("links", &json!({"url": url, "limit": 1, "offset": 1}));
    assert_ne!(first["links"], second["links"]);
    // A limit beyond the cap means the cap.
    let all = agent.call("links", &json!({"url": url, "limit": u64::MAX}));
    assert_eq!(all["next_offset"], Value::Null, "{all}");
    agent.end();
}

#[test]
fn wrong_calls_are_refused_with_a_remedy_and_the_server_goes_on() {
    let (server, crawl) = crawled();
    let mut agent = Agent::of(&crawl, &[]);
    for (tool, arguments, words) in [
        ("search", json!({}), "missing field `query`"),
        ("search", json!({"query": "title:"}), "title"),
        (
            "search",
            json!({"query": "x", "directory": "/etc"}),
            "unknown field `directory`",
        ),
        (
            "search",
            json!({"query": "x", "offset": u64::MAX}),
            "at most",
        ),
        (
            "page",
            json!({"url": "file:///etc/passwd"}),
            "file:///etc/passwd",
        ),
        ("page", json!({"url": 7}), "invalid type"),
        (
            "links",
            json!({"url": "http://elsewhere.test/"}),
            "call the tool page",
        ),
        ("similar", json!({}), "either url or text"),
        ("similar", json!({"url": "/etc/passwd"}), "/etc/passwd"),
    ] {
        let reason = agent.refusal(tool, &arguments);
        assert!(reason.contains(words), "{tool} {arguments}: {reason}");
    }
    for unknown in ["delete", "changes"] {
        let called = agent.request("tools/call", &json!({"name": unknown, "arguments": {}}));
        let message = called["error"]["message"].as_str().expect("an error");
        assert!(message.contains("the tools are search, page"), "{called}");
    }
    let unvisited = agent.call("page", &json!({"url": "http://elsewhere.test/"}));
    assert_eq!(unvisited["verdict"], "not-queued");
    assert_eq!(unvisited["no_text"], "the page was not visited");
    let page = agent.call("page", &json!({"url": server.url(HOST, "/1")}));
    assert_eq!(page["verdict"], "unique");
    agent.end();
}

#[test]
fn changes_are_listed_if_the_user_names_the_earlier_crawl() {
    let (_server, crawl) = crawled();
    let copied = Command::new("cp")
        .args(["-r", "crawl", "older"])
        .current_dir(crawl.directory())
        .status();
    assert!(copied.expect("cp runs").success());
    let mut agent = Agent::of(&crawl, &["crawl", "--against", "older"]);
    let changes = agent.call("changes", &json!({}));
    assert_eq!(changes["changes"], json!([]));
    assert_eq!(changes["counts"], json!({"unchanged": 6}));
    let first = agent.call("changes", &json!({"change": "unchanged", "limit": 4}));
    assert_eq!(first["changes"].as_array().expect("changes").len(), 4);
    let wrong = agent.refusal("changes", &json!({"change": "removed"}));
    assert!(
        wrong.contains("the kinds are new, changed, moved, gone"),
        "{wrong}"
    );
    let rest = agent.call("changes", &json!({"change": "unchanged", "offset": 4}));
    assert_eq!(rest["changes"].as_array().expect("changes").len(), 2);
    agent.end();
}

#[test]
fn a_crawl_that_is_running_is_read() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| match number_of(&request.target) {
        0 => page(0, &["/1"]),
        1 => page(1, NONE).hold(&held),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    let mut agent = Agent::of(&crawl, &[]);
    assert_eq!(agent.call("status", &json!({}))["pages"], 1);
    let page = agent.call("page", &json!({"url": server.url(HOST, "/0")}));
    assert_eq!(page["verdict"], "unique", "{page}");
    let waiting = agent.call("page", &json!({"url": server.url(HOST, "/1")}));
    assert_eq!(waiting["verdict"], "queued", "{waiting}");
    gate.open();
    assert_eq!(running.end().summary()["pages"], 2);
    assert_eq!(agent.call("status", &json!({}))["pages"], 2);
    agent.end();
}

#[test]
fn a_server_without_a_crawl_or_without_a_client_ends() {
    let crawl = Crawl::bare();
    let run = crawl.run_command(&["mcp", "nothing"]);
    run.assert_error(2, "nothing");
    let (_server, crawl) = crawled();
    Agent::start(&crawl, &[]).end();
    let run = crawl.run_command(&["mcp", "crawl", "--against", "nothing"]);
    run.assert_error(2, "nothing");
}
