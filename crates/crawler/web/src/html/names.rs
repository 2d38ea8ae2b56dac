//! Patterns of interned names.

/// A pattern of several names, separated by blanks. The compiler turns it into comparisons of
/// integers; a function cannot accept a pattern.
macro_rules! names {
    [$($name:tt)+] => { $(html5ever::local_name!($name))|+ };
}

pub(crate) use names;
