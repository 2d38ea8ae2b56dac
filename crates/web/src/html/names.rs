//! Patterns of interned names.

/// A pattern of several names, separated by blanks. The compiler makes comparisons of integers from
/// it, which a function cannot take as a pattern.
macro_rules! names {
    [$($name:tt)+] => { $(html5ever::local_name!($name))|+ };
}

pub(crate) use names;
