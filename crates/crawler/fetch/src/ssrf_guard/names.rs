//! Names: a host's addresses, looked up once, cached for a while, guarded always.
//!
//! Every connection takes its addresses from here, and so does a caller that asks beforehand where
//! a request will go: both get the same answer. A name that resolves differently the second time
//! (DNS rebinding) gains nothing, because it is looked up only once, and because every address
//! passes the guard.
//!
//! Bounds: [`MAX_NAMES`] names are cached, [`AT_A_TIME`] are looked up at a time, fewer if files
//! are short (the system's resolver blocks a thread and opens files for each), [`MAX_ADDRESSES`]
//! addresses count for each. Concurrent look-ups of one name are one look-up; it continues when its
//! callers have given up, and the next caller gets its answer. One lock, never held while anything
//! is awaited.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use disk::is_shortage_of_files;
use tokio::sync::{Semaphore, SetOnce};
use tokio::time::Instant;

use crate::failure::FetchFailure;
use crate::generational_cache::GenerationalCache;
use crate::ssrf_guard::address::literal;
use crate::ssrf_guard::guard::Guard;
use crate::ssrf_guard::resolve_rule::ResolveRule;

/// Maximum number of cached names.
const MAX_NAMES: usize = 10_000;
/// Maximum number of look-ups at a time: more than visits by default, so that one slow name server
/// does not hold up the names of others.
const AT_A_TIME: usize = 128;
/// Maximum number of addresses per name that are tried.
const MAX_ADDRESSES: usize = 8;
/// The time that a failed look-up is cached.
const UNKNOWN_FOR: Duration = Duration::from_secs(10);

/// A service that resolves names: the system's by default.
#[derive(Clone)]
pub struct NameService(Arc<dyn Fn(String) -> LookUp + Send + Sync>);

type LookUp = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

impl NameService {
    /// Returns a service that answers with `look_up`.
    pub fn new<F, Found>(look_up: F) -> Self
    where
        F: Fn(String) -> Found + Send + Sync + 'static,
        Found: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        Self(Arc::new(move |name| Box::pin(look_up(name))))
    }

    /// Returns the system's service: its hosts file and its name servers.
    #[must_use]
    pub fn system() -> Self {
        Self::new(|name: String| async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

impl fmt::Debug for NameService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NameService")
    }
}

/// The addresses of a host, at least one, the preferred first.
pub(crate) type Addresses = Arc<[IpAddr]>;

/// The cache of names and their addresses.
#[derive(Debug)]
pub(crate) struct Names {
    service: NameService,
    rules: HashMap<(String, u16), Vec<IpAddr>>,
    guard: Guard,
    kept: Duration,
    at_a_time: Arc<Semaphore>,
    known: Mutex<GenerationalCache<Arc<SetOnce<Resolution>>>>,
}

/// The result of a look-up.
#[derive(Debug)]
struct Resolution {
    addresses: Result<Addresses, FetchFailure>,
    until: Instant,
}

impl Names {
    pub(crate) fn new(
        service: NameService,
        resolve: &[ResolveRule],
        guard: Guard,
        kept: Duration,
        look_ups: usize,
    ) -> Self {
        let mut rules: HashMap<_, Vec<IpAddr>> = HashMap::new();
        for rule in resolve {
            let addresses = rules.entry((rule.host.clone(), rule.port)).or_default();
            addresses.extend(&rule.addresses);
        }
        Self {
            service,
            rules,
            guard,
            kept,
            at_a_time: Arc::new(Semaphore::new(AT_A_TIME.min(look_ups))),
            known: Mutex::new(GenerationalCache::new(MAX_NAMES, usize::MAX, |_look_up| 0)),
        }
    }

    /// Returns the addresses of `host` on this port. `host` is a name, or an address as in a URL
    /// (IPv6 in brackets).
    ///
    /// # Errors
    ///
    /// [`FetchFailure::Dns`] if it does not resolve, [`FetchFailure::PrivateAddress`] if it
    /// resolves only to addresses that may not be asked.
    pub(crate) async fn addresses(&self, host: &str, port: u16) -> Result<Addresses, FetchFailure> {
        if let Some(address) = literal(host) {
            return self.guard.filter(vec![address]).map(Addresses::from);
        }
        if let Some(ruled) = self.rules.get(&(host.to_owned(), port)) {
            return self.guard.filter(ruled.clone()).map(Addresses::from);
        }
        self.look_up(host).wait().await.addresses.clone()
    }

    /// Returns the addresses of the user's proxy: unguarded, and not cached (connections to it are
    /// kept).
    ///
    /// # Errors
    ///
    /// [`FetchFailure::Proxy`] if its name does not resolve.
    pub(crate) async fn addresses_of_proxy(&self, host: &str) -> Result<Addresses, FetchFailure> {
        if let Some(address) = literal(host) {
            return Ok(Addresses::from([address]));
        }
        match (self.service.0)(host.to_owned()).await {
            Ok(found) if !found.is_empty() => Ok(found.into()),
            _ => Err(FetchFailure::proxy("its name does not resolve")),
        }
    }

    /// Returns the look-up of this name: a recent or active one, or else a new one.
    fn look_up(&self, name: &str) -> Arc<SetOnce<Resolution>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = known.get(name);
        if let Some(look_up) =
            earlier.filter(|look_up| look_up.get().is_none_or(Resolution::counts))
        {
            return Arc::clone(look_up);
        }
        let look_up = Arc::new(SetOnce::new());
        known.insert(name.to_owned(), Arc::clone(&look_up));
        drop(known);

        let (answer, permit) = (
            (self.service.0)(name.to_owned()),
            Arc::clone(&self.at_a_time),
        );
        let (guard, kept, resolution) = (self.guard.clone(), self.kept, Arc::clone(&look_up));
        tokio::spawn(async move {
            let _permit = permit.acquire_owned().await.expect("it is never closed");
            let addresses = guarded(&guard, answer.await);
            let kept = match addresses {
                Err(FetchFailure::Dns) => UNKNOWN_FOR.min(kept),
                Err(FetchFailure::OpenFiles) => Duration::ZERO,
                _ => kept,
            };
            let until = Instant::now() + kept;
            resolution
                .set(Resolution { addresses, until })
                .expect("only this task sets it");
        });
        look_up
    }
}

impl Resolution {
    fn counts(&self) -> bool {
        Instant::now() < self.until
    }
}

/// Returns the addresses that may be asked, sorted so that equal sets give equal lists: name
/// servers rotate their answers, and two names that share their addresses must share the first one
/// too. The system's preference between the families is kept.
fn guarded(guard: &Guard, found: io::Result<Vec<IpAddr>>) -> Result<Addresses, FetchFailure> {
    // The cause of a failed look-up makes no difference: resolvers give the same error for a name
    // that does not exist and for a server that is down. A shortage of files is our own.
    let found = match found {
        Err(error) if is_shortage_of_files(&error) => return Err(FetchFailure::OpenFiles),
        found => found.unwrap_or_default(),
    };
    let Some(preferred) = found.first().map(IpAddr::is_ipv6) else {
        return Err(FetchFailure::Dns);
    };
    let mut allowed = guard.filter(found)?;
    allowed.sort_unstable_by_key(|address| (address.is_ipv6() != preferred, *address));
    allowed.dedup();
    allowed.truncate(MAX_ADDRESSES);
    Ok(allowed.into())
}
