//! The DevTools client: calls go out, replies and events come in, over two pipes.
//!
//! Invariants: a message is written whole or not at all, because one task owns the pipe. When the
//! pipe closes, all pending calls fail and all event channels end. A tab that does not keep up with
//! its events loses its channel, so it never delays another tab.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};

use crate::failure::RenderFailure;
use crate::message::{Event, Frames, Incoming, decode, encode};

const MAX_QUEUED_CALLS: usize = 64;
const MAX_QUEUED_EVENTS: usize = 4096;

type Reply = Result<Value, String>;

#[derive(Debug, Default)]
struct Routes {
    closed: bool,
    calls: HashMap<u64, oneshot::Sender<Reply>>,
    contexts: HashMap<String, mpsc::Sender<Event>>,
    /// Session to browser context.
    sessions: HashMap<String, String>,
}

/// A connection to a browser.
#[derive(Debug)]
pub(crate) struct DevTools {
    outgoing: mpsc::Sender<Vec<u8>>,
    routes: Arc<Mutex<Routes>>,
    last_id: AtomicU64,
}

impl DevTools {
    /// Starts the two tasks that own the pipes.
    pub(crate) fn new(to_browser: pipe::Sender, from_browser: pipe::Receiver) -> Self {
        let (outgoing, queue) = mpsc::channel(MAX_QUEUED_CALLS);
        let routes = Arc::new(Mutex::new(Routes::default()));
        tokio::spawn(write(to_browser, queue));
        tokio::spawn(read(from_browser, Arc::clone(&routes)));
        Self {
            outgoing,
            routes,
            last_id: AtomicU64::new(0),
        }
    }

    /// Returns true if the browser closed the pipe.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.routes).closed
    }

    /// Calls `method` and waits for its reply.
    pub(crate) async fn call(
        &self,
        method: &str,
        params: Value,
        session: Option<&str>,
    ) -> Result<Value, RenderFailure> {
        let (sender, reply) = oneshot::channel();
        let id = self.next_id();
        {
            let mut routes = lock(&self.routes);
            if routes.closed {
                return Err(RenderFailure::TabCrashed);
            }
            routes.calls.insert(id, sender);
        }
        self.send(encode(id, method, &params, session)).await?;
        match reply.await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(reason)) => Err(RenderFailure::Protocol(format!("{method}: {reason}"))),
            Err(_closed) => Err(RenderFailure::TabCrashed),
        }
    }

    /// Calls `method` and ignores its reply.
    pub(crate) async fn notify(
        &self,
        method: &str,
        params: Value,
        session: &str,
    ) -> Result<(), RenderFailure> {
        self.send(encode(self.next_id(), method, &params, Some(session)))
            .await
    }

    /// Calls `method` of the browser itself and ignores its reply.
    pub(crate) async fn notify_browser(
        &self,
        method: &str,
        params: Value,
    ) -> Result<(), RenderFailure> {
        self.send(encode(self.next_id(), method, &params, None))
            .await
    }

    /// Returns the events of all sessions of a browser context, including its workers.
    pub(crate) fn events(&self, context: &str) -> mpsc::Receiver<Event> {
        let (sender, events) = mpsc::channel(MAX_QUEUED_EVENTS);
        let mut routes = lock(&self.routes);
        if !routes.closed {
            routes.contexts.insert(context.to_owned(), sender);
        }
        events
    }

    /// Forgets the sessions of a browser context.
    pub(crate) fn forget(&self, context: &str) {
        let mut routes = lock(&self.routes);
        routes.contexts.remove(context);
        routes.sessions.retain(|_, of| of != context);
    }

    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    async fn send(&self, bytes: Vec<u8>) -> Result<(), RenderFailure> {
        self.outgoing
            .send(bytes)
            .await
            .map_err(|_closed| RenderFailure::TabCrashed)
    }
}

fn lock(routes: &Mutex<Routes>) -> MutexGuard<'_, Routes> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write(mut pipe: pipe::Sender, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if let Err(fault) = pipe.write_all(&bytes).await {
            tracing::debug!(%fault, "the browser closed its pipe");
            return;
        }
    }
}

async fn read(mut pipe: pipe::Receiver, routes: Arc<Mutex<Routes>>) {
    let mut frames = Frames::default();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let length = match pipe.read(&mut chunk).await {
            Ok(0) => break,
            Ok(length) => length,
            Err(fault) => {
                tracing::debug!(%fault, "the pipe of the browser broke");
                break;
            }
        };
        if !frames.extend(&chunk[..length]) {
            tracing::warn!("a message of the browser exceeds its limit");
            break;
        }
        while let Some(bytes) = frames.next() {
            match decode(&bytes) {
                Some(message) => lock(&routes).route(message),
                None => tracing::debug!("a message of the browser is not readable"),
            }
        }
    }
    let mut routes = lock(&routes);
    *routes = Routes {
        closed: true,
        ..Routes::default()
    };
}

impl Routes {
    fn route(&mut self, message: Incoming) {
        match message {
            Incoming::Reply { id, result } => {
                if let Some(call) = self.calls.remove(&id) {
                    // An error means that nobody waits for the reply any more.
                    drop(call.send(result));
                }
            }
            Incoming::Event(event) => self.route_event(event),
        }
    }

    /// Routes an event to the context of its session. A new session joins the context of its
    /// target, or the context of the session that announced it.
    fn route_event(&mut self, event: Event) {
        let of_session = event
            .session
            .as_ref()
            .and_then(|id| self.sessions.get(id))
            .cloned();
        let of_target = event.params["targetInfo"]["browserContextId"].as_str();
        let Some(context) = of_session.or_else(|| of_target.map(str::to_owned)) else {
            return;
        };
        let Some(channel) = self.contexts.get(&context) else {
            return;
        };
        if event.method == "Target.attachedToTarget"
            && let Some(session) = event.params["sessionId"].as_str()
        {
            self.sessions.insert(session.to_owned(), context.clone());
        }
        if channel.try_send(event).is_err() {
            self.contexts.remove(&context);
        }
    }
}
