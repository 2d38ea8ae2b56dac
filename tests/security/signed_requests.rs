//! `--sign-requests` and `crawler keys`: requests that prove who sends them (RFC 9421).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::Value;
use testkit::{Proxy, Reply, Request, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page, tree_site};

const OWN: &str = "own.test";
const OTHER: &str = "other.test";
const AGENT: &str = "https://bot.test/.well-known/http-message-signatures-directory";

/// Returns the public key of a crawl's key file, by `crawler keys`, and its thumbprint.
fn new_key(crawl: &Crawl) -> (Vec<u8>, String) {
    let made = crawl.run_command(&["keys", "new", "bot.pem"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let jwk = crawl.run_command(&["keys", "show", "bot.pem"]).json();
    let text = |name: &str| jwk[name].as_str().expect(name).to_owned();
    let public = BASE64URL_NOPAD.decode(text("x").as_bytes());
    (public.expect("base 64"), text("kid"))
}

/// Returns the fault of a request's signature, by RFC 9421, section 3.2.
fn fault_of(request: &Request, public: &[u8], key_id: &str) -> Result<(), String> {
    let field = |name: &str| request.header(name).ok_or(format!("no {name}"));
    let (agent, input, signature) = (
        field("signature-agent")?,
        field("signature-input")?,
        field("signature")?,
    );
    let agent = agent.strip_prefix("sig1=").ok_or("another label")?;
    let input = input.strip_prefix("sig1=").ok_or("another label")?;
    for part in [
        "(\"@authority\" \"signature-agent\";key=\"sig1\")",
        &format!(";keyid=\"{key_id}\""),
        ";tag=\"web-bot-auth\"",
    ] {
        input
            .find(part)
            .ok_or(format!("{part} is not in {input}"))?;
    }
    if agent != format!("\"{AGENT}\"") {
        return Err(format!("another agent: {agent}"));
    }
    let base = format!(
        "\"@authority\": {}\n\"signature-agent\";key=\"sig1\": {agent}\n\"@signature-params\": \
         {input}",
        field("host")?
    );
    let signature = signature.strip_prefix("sig1=:").ok_or("another label")?;
    let signature = BASE64.decode(signature.trim_end_matches(':').as_bytes());
    UnparsedPublicKey::new(&ED25519, public)
        .verify(base.as_bytes(), &signature.expect("base 64"))
        .map_err(|_wrong| format!("not a signature of {base}"))
}

/// Returns a site whose answers need a valid signature: robots.txt, a sitemap, redirects to both
/// hosts, and pages.
fn signed_site(directory: &Path) -> Site {
    let file = directory.join("public");
    Site::new(move |request| {
        let known = fs::read_to_string(&file).expect("the test writes it");
        let (key_id, public) = known.split_once(' ').expect("two words");
        let public = BASE64URL_NOPAD.decode(public.as_bytes()).expect("base 64");
        if let Err(fault) = fault_of(request, &public, key_id) {
            return Reply::text(fault).with_status(403);
        }
        let port = request.port.expect("the test's port");
        let origin = |host: &str| format!("http://{host}:{port}");
        match (request.host.as_str(), request.path()) {
            (_, "/robots.txt") => Reply::text(format!(
                "User-agent: *\nAllow: /\nSitemap: {}/map.xml\n",
                origin(&request.host)
            )),
            (_, "/map.xml") => Reply::document(
                "application/xml",
                format!(
                    "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{}\
                     /mapped</loc></url></urlset>",
                    origin(&request.host)
                ),
            ),
            (OWN, "/") => page(0, &["/moved", "/away"]),
            (OWN, "/moved") => Reply::redirect(302, "/1"),
            (OWN, "/away") => Reply::redirect(301, format!("{}/2", origin(OTHER))),
            (OWN, "/1") => page(1, NONE),
            (OWN, "/mapped") => page(3, NONE),
            (OTHER, "/2") => page(2, NONE),
            (OTHER, "/mapped") => page(4, NONE),
            _ => Reply::status(404),
        }
    })
}

#[test]
fn a_site_that_admits_signed_requests_only_is_crawled() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::spawn_thread(signed_site(directory.path()));
    let crawl = Crawl::of(&server, &[OWN, OTHER])
        .seeds(&[server.url(OWN, "/")])
        .with(&["--scope", "any", "--tries=1"]);
    let (public, key_id) = new_key(&crawl);
    let known = format!("{key_id} {}", BASE64URL_NOPAD.encode(&public));
    fs::write(directory.path().join("public"), known).expect("a file");

    let crawl = crawl.with(&["--sign-requests", "bot.pem", "--signature-agent", AGENT]);
    let summary = crawl.complete();
    assert_eq!(summary["failed"], 0, "{summary}");
    // Five pages and two sitemaps.
    assert_eq!(summary["unique"], 7, "{summary}");
    assert_eq!(crawl.visit(&server.url(OWN, "/mapped"))["status"], 200);
    crawl.is_sound();

    // The archive has the request as it was sent, and no file of the crawl has the key.
    let records = crawl.records_about(&server.url(OWN, "/1"));
    let requests = records.iter().filter(|record| record.kind() == "request");
    let requests: Vec<_> = requests
        .map(|record| String::from_utf8_lossy(&record.block).into_owned())
        .collect();
    assert!(
        requests[0].contains("\r\nsignature: sig1=:"),
        "{requests:?}"
    );
    let kept = fs::read_to_string(crawl.out().join("crawler.toml")).expect("the settings");
    assert!(kept.contains("sign-requests = \"bot.pem\""), "{kept}");
    let pem = fs::read_to_string(crawl.directory().join("bot.pem")).expect("the key");
    let secret = pem.lines().nth(1).expect("the second line of PEM");
    assert!(!kept.contains(secret));
    for record in crawl.records() {
        assert!(!String::from_utf8_lossy(&record.block).contains(secret));
    }
}

#[test]
fn an_http_proxy_that_reads_requests_gets_no_signature() {
    let server = Server::spawn_thread(tree_site(3));
    for (kind, is_signed) in [("http", false), ("socks5", true)] {
        let proxy = Proxy::before(server.address(), None);
        let crawl = Crawl::bare()
            .seeds(&["http://site.test/0"])
            .with(&["--contact=tests@example.org", "--summary=json"])
            .with(&["--delay=0", "--delay-factor=0", "--ignore-robots"])
            .with(&["--resolve=site.test:80:93.184.216.34"])
            .with(&["--proxy", &format!("{kind}://{}", proxy.address())])
            .with(&["--sign-requests=bot.pem", "--signature-agent", AGENT]);
        new_key(&crawl);
        assert_eq!(crawl.complete()["pages"], 3);
        let records = crawl.records_about("http://site.test/0");
        let mut requests = records.iter().filter(|record| record.kind() == "request");
        let request = requests.next().expect("a request");
        let text = String::from_utf8_lossy(&request.block).to_ascii_lowercase();
        assert_eq!(text.contains("signature"), is_signed, "{kind}: {text}");
    }
}

#[test]
fn a_key_that_others_can_read_and_other_files_are_refused() {
    let server = Server::spawn_thread(tree_site(1));
    for (arguments, words) in [
        (&["--sign-requests=bot.pem"][..], "needs --signature-agent"),
        (
            &["--signature-agent=https://bot.test"],
            "--signature-agent needs --sign-requests",
        ),
        (
            &[
                "--sign-requests=bot.pem",
                "--signature-agent=http://bot.test",
            ],
            "must be an https URL",
        ),
        (
            &[
                "--sign-requests=missing",
                "--signature-agent=https://bot.test",
            ],
            "cannot read missing",
        ),
        (
            &[
                "--sign-requests=open.pem",
                "--signature-agent=https://bot.test",
            ],
            "mode 0640",
        ),
        (
            &["--sign-requests=text", "--signature-agent=https://bot.test"],
            "does not contain an Ed25519 private key",
        ),
    ] {
        let crawl = Crawl::of(&server, &[OWN]).seeds(&[server.url(OWN, "/0")]);
        new_key(&crawl);
        let open = crawl.write("open.pem", "");
        fs::copy(crawl.directory().join("bot.pem"), &open).expect("a copy");
        let text = crawl.write("text", "hello");
        for (file, mode) in [(open, 0o640), (text, 0o600)] {
            fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("its own file");
        }
        crawl.run_with(arguments).assert_error(2, words);
        assert!(server.log().is_empty());
    }
}

#[test]
fn a_new_key_is_its_owners_alone_and_is_read_by_openssl() {
    let crawl = Crawl::bare();
    let (public, _) = new_key(&crawl);
    let file = crawl.directory().join("bot.pem");
    let mode = fs::metadata(&file).expect("the key").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = fs::read(&file).expect("the key");
    crawl
        .run_command(&["keys", "new", "bot.pem"])
        .assert_error(2, "bot.pem exists");
    assert_eq!(fs::read(&file).expect("the key"), before);

    let openssl = Command::new("openssl")
        .args(["pkey", "-pubout", "-outform", "DER", "-in"])
        .arg(&file)
        .output();
    match openssl {
        Ok(read) => assert!(read.stdout.ends_with(&public), "{read:?}"),
        Err(error) => eprintln!("openssl is missing ({error}): it is not asked"),
    }
}

#[test]
fn a_directory_has_the_public_keys_and_a_signature_of_each() {
    let crawl = Crawl::bare();
    let (_, first) = new_key(&crawl);
    let made = crawl.run_command(&["keys", "new", "next.pem"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let printed = crawl.run_command(&["keys", "directory", "bot.pem", "next.pem"]);
    let fields = crawl.run_command(&[
        "keys",
        "directory",
        "bot.pem",
        "next.pem",
        "--output=keys.json",
        "--signature-agent=https://bot.test",
    ]);
    let written = fs::read_to_string(crawl.directory().join("keys.json")).expect("the directory");
    assert_eq!(printed.output, written);
    let keys: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(keys["keys"].as_array().map(Vec::len), Some(2));
    assert_eq!(keys["keys"][0]["kid"], first);
    assert_eq!(keys["keys"][0]["d"], Value::Null);
    for part in [
        "Content-Type: application/http-message-signatures-directory+json\n",
        "Content-Digest: sha-256=:",
        "binding2=(\"@authority\";req \"content-digest\");created=",
        "tag=\"http-message-signatures-directory\"",
    ] {
        assert!(fields.output.contains(part), "{fields:?}");
    }
}
