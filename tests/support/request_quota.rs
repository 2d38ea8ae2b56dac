//! A server that answers a fixed number of requests and holds the rest.

use std::sync::{Arc, Mutex};

use testkit::{Gate, Server, Site};

use crate::support::pages::{number_of, tree};

pub(crate) const HOST: &str = "tree.test";
pub(crate) const PAGES: u64 = 60;

/// A quota of requests that are answered; later requests are held.
#[derive(Clone)]
pub(crate) struct RequestQuota(Arc<Mutex<(usize, Gate)>>);

impl RequestQuota {
    pub(crate) fn server() -> (Self, Server) {
        let quota = Self(Arc::new(Mutex::new((0, Gate::new()))));
        let used = quota.clone();
        let server = Server::spawn_thread(Site::new(move |request| {
            let reply = tree(number_of(&request.target), PAGES);
            let (left, gate) = &mut *used.0.lock().unwrap();
            match left.checked_sub(1) {
                Some(less) => {
                    *left = less;
                    reply
                }
                None => reply.hold(gate),
            }
        }));
        (quota, server)
    }

    /// Sets the quota; returns the gate at which later requests wait.
    pub(crate) fn set(&self, requests: usize) -> Gate {
        let gate = Gate::new();
        *self.0.lock().unwrap() = (requests, gate.clone());
        gate
    }
}
