//! Tables, columns and values, independent of the output form.

use journal::Reason;
use neardup::Fingerprint;
use web::{PageDate, Timestamp};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text. Parquet: `BYTE_ARRAY (STRING)`.
    Text,
    /// A number of at most 16 bits. Parquet: `INT32 (INTEGER(16,false))`.
    U16,
    /// A number of at most 32 bits. Parquet: `INT32 (INTEGER(32,false))`.
    U32,
    /// A number of at most 64 bits. Parquet: `INT64 (INTEGER(64,false))`.
    U64,
    /// True or false. Parquet: `BOOLEAN`.
    Bool,
    /// A fraction. Parquet: `DOUBLE`.
    Real,
    /// A moment. Text: RFC 3339 in UTC with milliseconds. Parquet: `INT64
    /// (TIMESTAMP(MILLIS,true))`.
    Time,
    /// A day. Text: ISO 8601, `2026-11-20`. Parquet: `INT32 (DATE)`.
    Date,
    /// 64 bits. Text: 16 hexadecimal digits. Parquet: `INT64 (INTEGER(64,false))`.
    Fingerprint,
    /// This number of bytes. Text: twice as many hexadecimal digits. Parquet:
    /// `FIXED_LEN_BYTE_ARRAY`.
    Bytes(u16),
    /// A list of whole numbers, which may be empty. JSON: an array; CSV: `{1,2}`, as PostgreSQL
    /// writes arrays. Parquet: a `LIST` of `INT64`.
    Integers,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name: part of the contract.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// True if the column may have nulls.
    pub nullable: bool,
}

impl Column {
    pub(crate) const fn always(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            nullable: false,
        }
    }

    pub(crate) const fn maybe(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            nullable: true,
        }
    }
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name and the version of its columns: `visits/2`.
    pub schema: &'static str,
    /// Its columns, from first to last.
    pub columns: &'static [Column],
}

impl Table {
    /// Returns the name in its schema.
    pub(crate) fn name(&self) -> &'static str {
        self.schema
            .split_once('/')
            .map_or(self.schema, |(name, _)| name)
    }
}

/// A value of a field. The column determines the variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// [`Kind::Text`].
    Text(&'a str),
    /// [`Kind::Text`].
    Reason(&'a Reason),
    /// [`Kind::U16`], [`Kind::U32`], [`Kind::U64`].
    Number(u64),
    /// [`Kind::Bool`].
    Bool(bool),
    /// [`Kind::Real`].
    Real(f64),
    /// [`Kind::Time`].
    Time(Timestamp),
    /// [`Kind::Date`].
    Date(PageDate),
    /// [`Kind::Fingerprint`].
    Fingerprint(Fingerprint),
    /// [`Kind::Bytes`].
    Bytes(&'a [u8]),
    /// [`Kind::Integers`].
    Integers(&'a [i64]),
}
