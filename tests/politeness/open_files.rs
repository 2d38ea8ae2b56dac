//! More hosts than files that the crawler may have open.
//!
//! Each host that was asked in the last ten seconds kept a connection, without a bound over all
//! hosts. So a crawl of 1,100 hosts ended at the usual limit of 1,024 after five seconds, with a
//! fault and the advice to mend the disk, and so did the same command again.

use testkit::{Gate, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{number_of, page};

const HOSTS: usize = 300;

fn crawl_of_hosts(server: &Server, hosts: usize) -> Crawl {
    let names: Vec<String> = (0..hosts).map(|number| format!("h{number}.test")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let homes = names.iter().enumerate();
    let seeds: Vec<String> = homes
        .map(|(number, host)| server.url(host, &format!("/{number}")))
        .collect();
    Crawl::of(server, &names).seeds(&seeds)
}

fn home(target: &str) -> Reply {
    match target {
        "/robots.txt" => Reply::text(""),
        target => page(number_of(target), &[] as &[&str]),
    }
}

#[test]
fn more_hosts_than_open_files_are_all_visited() {
    let server = Server::spawn_thread(Site::new(|request| home(request.path())));
    let crawl = crawl_of_hosts(&server, HOSTS);
    let run = crawl.start_by(&["sh"], "ulimit -n 256; exec \"$0\" \"$@\"");
    let run = run.end();
    assert_eq!(run.code, Some(0), "{run:?}");
    let summary = run.summary();
    assert_eq!(summary["pages"], HOSTS as u64, "{run:?}");
    assert_eq!(summary["failed"], 0, "{run:?}");
    crawl.is_sound();
}

#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_open_files_is_raised_as_far_as_it_may_be() {
    let gate = Gate::new();
    let held = gate.clone();
    let site = Site::new(move |request| home(request.path()).hold(&held));
    let server = Server::spawn_thread(site);
    let crawl = crawl_of_hosts(&server, 1);
    let running = crawl.start_by(&["sh"], "ulimit -S -n 200; exec \"$0\" \"$@\"");
    gate.arrivals_blocking(1);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", running.id())).unwrap();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let numbers: Vec<&str> = line.unwrap().split_whitespace().skip(3).collect();
    let least = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX).min(1 << 20);
    assert_eq!(least(numbers[0]), least(numbers[1]), "{limits}");
    gate.open();
    assert_eq!(running.end().code, Some(0));
}
