//! `crawler frames`: the frames of hosts, as the crawl has learned them: blocks that do not count
//! when pages are compared (`docs/adr/0029`).

use std::cmp::Reverse;
use std::io::{self, Write};

use comparison::HostFrame;
use inspect::frames::{self, ShownBlock};
use messages::{CommandError, counted, grouped, pasted, printable, usage};
use serde::Serialize;
use web::Host;

use crate::args::FramesArgs;
use crate::output::{self, ListArgs};

/// A host with a frame.
#[derive(Serialize)]
struct FrameOfHost<'a> {
    host: &'a str,
    /// Number of kept pages that the crawl learned the frame from.
    pages: u32,
    /// Number of places whose text changes on its own.
    changing: usize,
}

pub(crate) fn run(args: &FramesArgs) -> Result<(), CommandError> {
    let directory = &args.directory;
    let frames = frames::of_crawl(directory)?;
    let Some(host) = &args.host else {
        return list(frames, &args.list);
    };
    let known = frames.iter().find(|(known, _)| known.as_str() == host);
    let Some((host, frame)) = known else {
        let message = format!("the crawl has not learned any boilerplate of {host}");
        let remedy = format!("`crawler frames {}` lists the hosts", pasted(directory));
        return Err(usage(message).with_remedy(remedy));
    };
    let blocks = frames::blocks(directory, host, frame)?;
    output::list(&args.list, &["role", "pages", "block"], |list| {
        blocks
            .iter()
            .try_for_each(|block| list.write(block, |out| write_block(block, out)))
    })
}

fn list(mut frames: Vec<(Host, HostFrame)>, args: &ListArgs) -> Result<(), CommandError> {
    frames.sort_by(|(one, of_one), (other, of_other)| {
        (Reverse(of_one.pages()), one.as_str()).cmp(&(Reverse(of_other.pages()), other.as_str()))
    });
    output::list(args, &["host", "pages", "changing"], |list| {
        frames.iter().try_for_each(|(host, frame)| {
            let frame = FrameOfHost {
                host: host.as_str(),
                pages: frame.pages(),
                changing: frame.changing_places(),
            };
            list.write(&frame, |out| frame.write(out))
        })
    })
}

fn places(changing: usize) -> String {
    match changing {
        1 => "1 place that changes on its own".to_owned(),
        _ => format!("{changing} places that change on their own"),
    }
}

impl FrameOfHost<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{}: {}, {}",
            printable(self.host),
            counted(self.pages.into(), "kept page"),
            places(self.changing),
        )
    }
}

fn write_block(block: &ShownBlock, out: &mut dyn Write) -> io::Result<()> {
    let pages = block
        .pages
        .map_or_else(|| "changes".to_owned(), |pages| grouped(pages.into()));
    writeln!(out, "{pages:>8}  {}", printable(&block.block))
}
