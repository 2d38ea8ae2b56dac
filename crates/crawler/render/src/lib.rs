//! The scripts of a page, run by a browser that computes and does not communicate.
//!
//! [`Render`] is the seam: one page that was fetched already, one DOM. The browser requests
//! everything else from a [`PageNetwork`], so each request passes the same gates as a link.
//! [`Chromium`] is the real implementation. It controls the browser through pipes, keeps the
//! sandbox of Chromium, and denies the browser a network of its own ([`Sandbox`]).
//! The behaviour of a page is a value ([`RenderFailure`]); only a browser that cannot start is an
//! error of ours ([`LaunchError`]).

mod browser;
mod devtools;
mod failure;
mod find;
mod flags;
mod launch;
mod memory;
mod message;
mod names;
mod options;
mod paused;
mod progress;
mod seam;
mod self_test;
mod tab;
mod traffic;

pub use browser::Chromium;
pub use failure::{LaunchError, RenderFailure};
pub use find::find_browser;
pub use flags::Sandbox;
pub use memory::memory_below;
pub use options::ChromiumOptions;
pub use seam::{
    BrowserAnswer, BrowserRequest, Cut, PageNetwork, PageSource, RefusedRequest, Render,
    RenderLimits, Rendering, RequestKind,
};
