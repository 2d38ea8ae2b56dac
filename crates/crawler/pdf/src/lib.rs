//! The text, title and links of a PDF.
//!
//! The format is large, and a PDF may be made to exhaust its reader. So the [`reader`] starts this
//! program again as a child, which reads the bytes from its standard input under limits on memory
//! and processor time and writes what it found ([`run_child`]). If the child dies, one PDF is
//! unread.
//!
//! Invariant: for any bytes, the reader ends within the limits in `child.rs`, and this process is
//! unharmed. Only this crate knows the PDF library (hayro).

mod child;
mod content;
mod page_text;
mod strings;

pub use child::{reader, run_child};
