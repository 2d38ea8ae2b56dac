//! `crawler serve`, and `--serve` with a crawl: the dashboard.
//!
//! Both work in the same way: the server reads the directory of a crawl, and does not use the state
//! of a crawl in this process.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use inspect::changes::ChangeList;
use inspect::{csv, pair, report, similar, why};
use messages::{CommandError, fault, say, usage};
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory, input, machine};
use setup::shared::OpenCrawl;
use tokio::signal::unix::{SignalKind, signal};
use web::Clock;
use web_ui::{
    CrawlQueries, DashboardServer, Explanation, JudgedPair, ListChanges, ListedChanges, ServeError,
    ServeOptions, Token, WatchedCrawl,
};

use crate::args::ServeArgs;
use crate::signals;

/// Maximum size of a token file, in bytes.
const MAX_TOKEN_FILE: u64 = 4_096;

pub(crate) fn run(args: &ServeArgs) -> Result<(), CommandError> {
    let opened = OpenCrawl::open_until(
        args.directory.as_deref(),
        args.store.store.as_ref(),
        ended(),
    )?;
    let Some(crawl) = opened else { return Ok(()) };
    crawl_directory::state_of(crawl.directory())?;
    let settings = Settings::of_crawl(crawl.directory())?;
    let is_replica = crawl.is_replica();
    // The replica exists as long as the dashboard runs.
    let _followed = crawl.follow()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| fault(&error))?;
    let served = runtime.block_on(serve(&settings, args, is_replica));
    // Does not wait for a view that still reads a large journal.
    runtime.shutdown_background();
    served
}

/// Serves the dashboard until a signal ends it.
async fn serve(
    settings: &Settings,
    args: &ServeArgs,
    is_replica: bool,
) -> Result<(), CommandError> {
    let register = |kind| signal(kind).map_err(|error| fault(&error));
    let mut interrupt = register(SignalKind::interrupt())?;
    let mut terminate = register(SignalKind::terminate())?;
    let token = token(args.token_file.as_deref())?;
    let mut crawl = watched(settings, report::title(settings), is_replica)?;
    crawl.queries.changes = args.against.clone().map(|old| since(old, &settings.out));
    let server = open_dashboard(crawl, args.listen.0, token, machine::clock()).await?;
    announce(&server);
    tokio::select! {
        () = server.run() => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// Opens the dashboard of the crawl in `settings.out`, which need not exist yet. `title` names it.
pub(super) async fn open(
    settings: &Settings,
    title: String,
    listen: SocketAddr,
    token_file: Option<&Path>,
    clock: Clock,
) -> Result<DashboardServer, CommandError> {
    let crawl = watched(settings, title, false)?;
    open_dashboard(crawl, listen, token(token_file)?, clock).await
}

async fn open_dashboard(
    crawl: WatchedCrawl,
    listen: SocketAddr,
    token: Token,
    clock: Clock,
) -> Result<DashboardServer, CommandError> {
    let options = ServeOptions { listen, token };
    let server = DashboardServer::open(&options, crawl, clock).await;
    server.map_err(|error| {
        let remedy = match &error {
            ServeError::BeyondLoopback(_) => {
                "give a token with --token-file FILE, or listen on 127.0.0.1".to_owned()
            }
            ServeError::Listen { address, .. } => format!(
                "choose another port, or {} for any free port",
                SocketAddr::new(address.ip(), 0)
            ),
        };
        CommandError::of_usage(&error).with_remedy(remedy)
    })
}

/// Prints the URL of the dashboard, with its token.
pub(super) fn announce(server: &DashboardServer) {
    say(&format!("dashboard: {}", server.url()));
}

/// Reads the token from a file, or generates one.
fn token(file: Option<&Path>) -> Result<Token, CommandError> {
    let Some(path) = file else {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&machine::random()?.to_be_bytes());
        bytes[8..].copy_from_slice(&machine::random()?.to_be_bytes());
        return Ok(Token::of_random(bytes));
    };
    let shown = path.display();
    let bytes = input::read(path, MAX_TOKEN_FILE);
    let bytes = bytes.map_err(|error| usage(format!("cannot read {shown}: {error}")))?;
    let token = Token::parse(&String::from_utf8_lossy(&bytes));
    token.map_err(|error| usage(format!("{shown}: {error}")))
}

/// Waits for a signal that ends the command.
pub(super) async fn ended() {
    let mut interrupt = signals::unless_ignored(SignalKind::interrupt());
    let mut terminate = signals::unless_ignored(SignalKind::terminate());
    tokio::select! {
        () = signals::received(&mut interrupt) => {}
        () = signals::received(&mut terminate) => {}
    }
}

/// Returns the crawl as the dashboard sees it. A replica of a shared crawl does not accept actions.
fn watched(
    settings: &Settings,
    title: String,
    is_replica: bool,
) -> Result<WatchedCrawl, CommandError> {
    let directory = settings.out.clone();
    let archive = crawl_directory::archive(&directory);
    Ok(WatchedCrawl {
        state: crawl_directory::state(&directory),
        search: crawl_directory::search_index(&directory),
        title,
        settings: report::shown_settings(settings)?,
        min_delays: report::min_delays(settings),
        form: settings.canonical_form(),
        queries: queries(settings, &directory),
        archive,
        directory,
        takes_actions: !is_replica,
    })
}

/// Returns the queries, which give the same results as the commands with the same names.
fn queries(settings: &Settings, directory: &Path) -> CrawlQueries {
    let archive = ArchivedPages::of(settings).archive;
    let [of_why, of_similar, of_pair] = [(); 3].map(|()| directory.to_owned());
    let (state, of_hosts) = (crawl_directory::state(directory), settings.clone());
    CrawlQueries {
        explain: Box::new(move |url| {
            let explained = why::explain(&of_why, url);
            let (verdict, reason) = explained.map_err(|error| error.in_one_line())?;
            Ok(Explanation {
                verdict: verdict.to_owned(),
                reason,
            })
        }),
        similar: Box::new(move |url| {
            similar::to_page(&of_similar, url).map_err(|error| error.in_one_line())
        }),
        pair: Box::new(move |url| {
            let judged = pair::judged(&of_pair, url).map_err(|error| error.in_one_line())?;
            Ok(JudgedPair {
                pair: judged.pair,
                visit: judged.visit,
                blocks: judged.blocks.unwrap_or_default(),
            })
        }),
        text: Box::new(move |file, offset| archive.indexed_text_at(file, offset)),
        visits_csv: Box::new(move |takes, most| csv::of_visits(&state, takes, most)),
        hosts_csv: Box::new(move |statistics, letters, most| {
            csv::of_hosts(statistics, &of_hosts, letters, most)
        }),
        changes: None,
    }
}

/// Returns the lister of changes since an earlier crawl.
fn since(old: PathBuf, directory: &Path) -> ListChanges {
    let new = directory.to_owned();
    Box::new(move |kind, from, most| {
        let list = ChangeList::between(&old, &new, kind, from, most);
        let list = list.map_err(|error| error.in_one_line())?;
        Ok(ListedChanges {
            counts: list.counts,
            total: list.total,
            listed: list.listed,
        })
    })
}
