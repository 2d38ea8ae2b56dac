//! From a host to the addresses that may be asked: looked up once, remembered for a while, guarded
//! always.
//!
//! Every connection takes its addresses from here, and so does whoever wants to know beforehand
//! where a request will go: what is resolution is what is asked. A name that answers differently the
//! second time (DNS rebinding) gains nothing, because nobody looks a second time, and because
//! whatever is found passes the guard.
//!
//! Bounds: [`MAX_NAMES`] names are remembered, [`AT_A_TIME`] are looked up at a time (the system's
//! resolver blocks a thread for each), [`MAX_ADDRESSES`] addresses count for each. Look-ups of one
//! name at the same time are one look-up; it goes on when those who wait for it have given up, and
//! whoever comes next has its answer. One lock, never held while anything is awaited.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SetOnce};
use tokio::time::Instant;

use crate::failure::FetchFailure;
use crate::ssrf_guard::address::literal;
use crate::ssrf_guard::guard::Guard;
use crate::ssrf_guard::resolve_rule::ResolveRule;

/// Names remembered at most.
const MAX_NAMES: usize = 10_000;
/// Names looked up at a time: more than pages under way by default, so that one slow name service
/// does not hold up the names of others.
const AT_A_TIME: usize = 128;
/// Addresses of a name that are tried at most.
const MAX_ADDRESSES: usize = 8;
/// How long it is believed that a name does not resolve.
const UNKNOWN_FOR: Duration = Duration::from_secs(10);

/// Whoever knows the addresses of names: the system, as a rule.
#[derive(Clone)]
pub struct NameService(Arc<dyn Fn(String) -> LookUp + Send + Sync>);

type LookUp = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

impl NameService {
    /// One that answers what `look_up` answers.
    pub fn new<F, Found>(look_up: F) -> Self
    where
        F: Fn(String) -> Found + Send + Sync + 'static,
        Found: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        Self(Arc::new(move |name| Box::pin(look_up(name))))
    }

    /// The system's: its files of hosts, its name servers.
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

/// Where a host may be asked: at least one address, the first one first.
pub(crate) type Addresses = Arc<[IpAddr]>;

/// Knows where hosts may be asked.
#[derive(Debug)]
pub(crate) struct Names {
    service: NameService,
    rules: HashMap<(String, u16), Vec<IpAddr>>,
    guard: Guard,
    kept: Duration,
    at_a_time: Arc<Semaphore>,
    known: Mutex<Generations<Arc<SetOnce<Resolution>>>>,
}

/// What a look-up came to.
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
    ) -> Self {
        let mut rules: HashMap<_, Vec<IpAddr>> = HashMap::new();
        for ResolveRule {
            host,
            port,
            addresses,
        } in resolve
        {
            rules
                .entry((host.clone(), *port))
                .or_default()
                .extend(addresses);
        }
        Self {
            service,
            rules,
            guard,
            kept,
            at_a_time: Arc::new(Semaphore::new(AT_A_TIME)),
            known: Mutex::new(Generations::new(MAX_NAMES / 2)),
        }
    }

    /// Where `host` may be asked on this port: a name, or an address as a URL has it (IPv6 in
    /// brackets).
    ///
    /// # Errors
    ///
    /// [`FetchFailure::Dns`] if it has no address, [`FetchFailure::PrivateAddress`] if it has none
    /// that may be asked.
    pub(crate) async fn addresses(&self, host: &str, port: u16) -> Result<Addresses, FetchFailure> {
        if let Some(address) = literal(host) {
            return self.guard.filter(vec![address]).map(Addresses::from);
        }
        if let Some(ruled) = self.rules.get(&(host.to_owned(), port)) {
            return self.guard.filter(ruled.clone()).map(Addresses::from);
        }
        self.look_up(host).wait().await.addresses.clone()
    }

    /// Where the user's own proxy is: unguarded, and not remembered (connections to it are kept).
    ///
    /// # Errors
    ///
    /// [`FetchFailure::Proxy`] if its name has no address.
    pub(crate) async fn addresses_of_proxy(&self, host: &str) -> Result<Addresses, FetchFailure> {
        if let Some(address) = literal(host) {
            return Ok(Addresses::from([address]));
        }
        match (self.service.0)(host.to_owned()).await {
            Ok(found) if !found.is_empty() => Ok(found.into()),
            _ => Err(FetchFailure::proxy("its name does not resolve")),
        }
    }

    /// The look-up of this name: one that was made a moment ago or is under way, or else a new one.
    fn look_up(&self, name: &str) -> Arc<SetOnce<Resolution>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = known.get(name);
        if let Some(look_up) =
            earlier.filter(|look_up| look_up.get().is_none_or(Resolution::counts))
        {
            return Arc::clone(look_up);
        }
        let look_up = Arc::new(SetOnce::new());
        known.insert(name, Arc::clone(&look_up));
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
                _ => kept,
            };
            let until = Instant::now() + kept;
            resolution
                .set(Resolution { addresses, until })
                .expect("nobody else sets it");
        });
        look_up
    }
}

impl Resolution {
    fn counts(&self) -> bool {
        Instant::now() < self.until
    }
}

/// What may be asked of what was found, in an order that depends on nothing but the set: name
/// services deal their answers in turn, and two names that share their addresses are to share the
/// first one too. The system's preference between the families is kept.
fn guarded(guard: &Guard, found: io::Result<Vec<IpAddr>>) -> Result<Addresses, FetchFailure> {
    // Why a look-up failed makes no difference: resolvers give the same error for a name that does
    // not exist and for a service that is down.
    let found = found.unwrap_or_default();
    let Some(preferred) = found.first().map(IpAddr::is_ipv6) else {
        return Err(FetchFailure::Dns);
    };
    let mut allowed = guard.filter(found)?;
    allowed.sort_unstable_by_key(|address| (address.is_ipv6() != preferred, *address));
    allowed.dedup();
    allowed.truncate(MAX_ADDRESSES);
    Ok(allowed.into())
}

/// A map that forgets what was not asked for lately: when the young are `half`, they become the
/// old, and the old are forgotten.
#[derive(Debug)]
struct Generations<V> {
    young: HashMap<String, V>,
    old: HashMap<String, V>,
    half: usize,
}

impl<V> Generations<V> {
    fn new(half: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            half,
        }
    }

    fn get(&mut self, key: &str) -> Option<&V> {
        if let Some((key, value)) = self.old.remove_entry(key) {
            self.insert(&key, value);
        }
        self.young.get(key)
    }

    fn insert(&mut self, key: &str, value: V) {
        if self.young.len() >= self.half && !self.young.contains_key(key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(key);
        self.young.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_lately_is_remembered_and_the_rest_is_bounded() {
        let mut map = Generations::new(3);
        for round in 0..100 {
            map.insert(&format!("name {round}"), round);
            assert_eq!(map.get("name 0"), Some(&0), "after {round}");
            assert!(map.young.len() + map.old.len() <= 6);
        }
        assert_eq!(map.get("name 1"), None);
        map.insert("name 0", 7);
        assert_eq!(map.get("name 0"), Some(&7), "the last word counts");
    }
}
