//! Batches of Arrow IPC, message by message, with strings as bytes.
//!
//! A reader that treats a column as strings checks every cell, and one bad cell costs a whole
//! batch, which may be the file. The readers of the library also allocate any length that a damaged
//! file states, which ends the process. So this module reads the messages, and the library decodes
//! them.
//!
//! Invariant: memory is bounded by the number of bytes in the file, and by the amount that the
//! system grants.
//!
//! Source: <https://arrow.apache.org/docs/format/Columnar.html>, "Serialization and Interprocess
//! Communication (IPC)".

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use crate::projection::Projection;

/// The marker before the length of a message; streams before Arrow 0.15 lack it.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Memory reserved at a time, in bytes. A damaged file may state any length.
const PIECE: u64 = 8 << 20;

/// Bytes of the end of a file: the length of the footer and `ARROW1`.
const TRAILER: u64 = 10;

/// A decoder of the batches of a table, and the columns that they have.
pub(crate) struct Batches<R> {
    pub(crate) declared: SchemaRef,
    pub(crate) schema: SchemaRef,
    input: R,
    decoder: FileDecoder,
    /// The places of the batches in a file, the next one last; `None` for a stream.
    blocks: Option<Vec<Block>>,
}

impl<R: Read + Seek> Batches<R> {
    /// Opens a file in the file format. Strings are bytes.
    ///
    /// # Errors
    /// It is damaged, or has features that are not supported.
    pub(crate) fn of_file(mut input: R, wanted: Projection<'_>) -> Result<Self, ArrowError> {
        let length = input.seek(SeekFrom::End(0))?;
        let at = length.checked_sub(TRAILER).ok_or_else(cut)?;
        let trailer = bytes_at(&mut input, at, TRAILER)?;
        let trailer = trailer.try_into().map_err(|_short| cut())?;
        let footer_length = read_footer_length(trailer)? as u64;
        let start = at.checked_sub(footer_length).ok_or_else(cut)?;
        let footer = bytes_at(&mut input, start, footer_length)?;
        let footer = root_as_footer(&footer).map_err(damaged)?;
        let schema = footer.schema().ok_or_else(cut)?;
        let mut batches = Self::new(input, schema, footer.version(), wanted)?;
        for block in footer.dictionaries().iter().flatten() {
            let message = batches.message_at(block)?;
            batches.decoder.read_dictionary(block, &message)?;
        }
        let blocks = footer.recordBatches().ok_or_else(cut)?;
        batches.blocks = Some(blocks.iter().rev().copied().collect());
        Ok(batches)
    }

    fn message_at(&mut self, block: &Block) -> Result<Buffer, ArrowError> {
        let number = |number: i64| u64::try_from(number).map_err(|_negative| cut());
        let head = number(block.metaDataLength().into())?;
        let length = head.checked_add(number(block.bodyLength())?);
        let length = length.ok_or_else(cut)?;
        let message = bytes_at(&mut self.input, number(block.offset())?, length)?;
        checked(message, usize::try_from(head).map_err(|_large| cut())?)
    }

    /// Reads the next batch of a file.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) fn next_of_file(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(block) = self.blocks.as_mut().and_then(Vec::pop) else {
            return Ok(None);
        };
        let message = self.message_at(&block)?;
        self.decoder.read_record_batch(&block, &message)
    }
}

impl<R: Read> Batches<R> {
    /// Opens a stream. Strings are bytes.
    ///
    /// # Errors
    /// It is damaged, or has features that are not supported.
    pub(crate) fn of_stream(mut input: R, wanted: Projection<'_>) -> Result<Self, ArrowError> {
        let (block, message) = next_message(&mut input)?.ok_or_else(cut)?;
        let message = message_of(&message, block.metaDataLength())?;
        let schema = message.header_as_schema().ok_or_else(cut)?;
        Self::new(input, schema, message.version(), wanted)
    }

    /// Reads the next batch of a stream, and the dictionaries before it.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) fn next_of_stream(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        while let Some((block, message)) = next_message(&mut self.input)? {
            let kind = message_of(&message, block.metaDataLength())?.header_type();
            let head = usize::try_from(block.metaDataLength()).map_err(|_negative| cut())?;
            let message = checked(message, head)?;
            if kind != MessageHeader::DictionaryBatch {
                return self.decoder.read_record_batch(&block, &message);
            }
            self.decoder.read_dictionary(&block, &message)?;
        }
        Ok(None)
    }

    fn new(
        input: R,
        schema: arrow_ipc::Schema<'_>,
        version: MetadataVersion,
        wanted: Projection<'_>,
    ) -> Result<Self, ArrowError> {
        if !schema.endianness().equals_to_target_endianness() {
            let reason = "its numbers have the wrong byte order";
            return Err(ArrowError::IpcError(reason.to_owned()));
        }
        let declared = Arc::new(fb_to_schema(schema));
        let columns = wanted.columns(declared.fields());
        let all = Arc::new(Schema::new(bytes_of(declared.fields())));
        let schema = Arc::new(all.project(&columns)?);
        Ok(Self {
            declared,
            schema,
            input,
            decoder: FileDecoder::new(all, version).with_projection(columns),
            blocks: None,
        })
    }
}

/// Returns columns whose strings are bytes, also in structs, lists and dictionaries.
fn bytes_of(columns: &Fields) -> Fields {
    let field = |field: &FieldRef| Arc::new(field_of_bytes(field));
    columns.iter().map(field).collect()
}

fn field_of_bytes(field: &Field) -> Field {
    field
        .clone()
        .with_data_type(type_of_bytes(field.data_type()))
}

fn type_of_bytes(data_type: &DataType) -> DataType {
    let inner = |field: &FieldRef| Arc::new(field_of_bytes(field));
    match data_type {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(type_of_bytes(values)))
        }
        DataType::Struct(fields) => DataType::Struct(bytes_of(fields)),
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(inner(item), *length),
        DataType::Map(entries, is_sorted) => DataType::Map(inner(entries), *is_sorted),
        other => other.clone(),
    }
}

/// Reads this number of bytes.
fn bytes_at(
    input: &mut (impl Read + Seek),
    offset: u64,
    length: u64,
) -> Result<Vec<u8>, ArrowError> {
    input.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    append(input, length, &mut bytes)?;
    Ok(bytes)
}

/// Appends this number of bytes of the input, and allocates memory as they arrive.
fn append(input: &mut impl Read, length: u64, bytes: &mut Vec<u8>) -> Result<(), ArrowError> {
    let mut left = length;
    while left > 0 {
        let piece = left.min(PIECE);
        bytes
            .try_reserve(usize::try_from(piece).map_err(|_large| cut())?)
            .map_err(|error| ArrowError::IpcError(format!("{length} bytes: {error}")))?;
        if input.take(piece).read_to_end(bytes)? as u64 != piece {
            return Err(cut());
        }
        left -= piece;
    }
    Ok(())
}

/// Reads the next message of a stream, which begins with its own length; `None` at the end.
fn next_message(input: &mut impl Read) -> Result<Option<(Block, Vec<u8>)>, ArrowError> {
    let mut message = Vec::new();
    append_word(input, &mut message)?;
    if message == CONTINUATION {
        append_word(input, &mut message)?;
    }
    let Some(length) = message.last_chunk().map(|word| i32::from_le_bytes(*word)) else {
        return Ok(None);
    };
    if length == 0 {
        return Ok(None);
    }
    let length = u64::try_from(length).map_err(|_negative| cut())?;
    append(input, length, &mut message)?;
    let head = i32::try_from(message.len()).map_err(|_large| cut())?;
    let body = message_of(&message, head)?.bodyLength();
    append(
        input,
        u64::try_from(body).map_err(|_negative| cut())?,
        &mut message,
    )?;
    Ok(Some((Block::new(0, head, body), message)))
}

/// Appends four bytes, or nothing at the end of the input.
fn append_word(input: &mut impl Read, bytes: &mut Vec<u8>) -> Result<(), ArrowError> {
    match input.take(4).read_to_end(bytes)? {
        0 | 4 => Ok(()),
        _ => Err(cut()),
    }
}

/// Returns the head of a message, which has this number of bytes with its length before it.
fn message_of(message: &[u8], head: i32) -> Result<arrow_ipc::Message<'_>, ArrowError> {
    let head = usize::try_from(head)
        .ok()
        .and_then(|head| message.get(..head));
    let head = head.ok_or_else(cut)?;
    let head = match head.strip_prefix(&CONTINUATION) {
        Some(rest) => rest,
        None => head,
    };
    root_as_message(head.get(4..).ok_or_else(cut)?).map_err(damaged)
}

/// Returns a message after checking that the system can grant its unpacked buffers, all at a time.
fn checked(message: Vec<u8>, head: usize) -> Result<Buffer, ArrowError> {
    let mut unpacked: usize = 0;
    {
        let parsed = message_of(&message, i32::try_from(head).map_err(|_large| cut())?)?;
        let batch = match parsed.header_type() {
            MessageHeader::RecordBatch => parsed.header_as_record_batch(),
            MessageHeader::DictionaryBatch => parsed
                .header_as_dictionary_batch()
                .and_then(|dictionary| dictionary.data()),
            _ => None,
        };
        let body = message.get(head..).ok_or_else(cut)?;
        let packed = batch.filter(|batch| batch.compression().is_some());
        for buffer in packed.and_then(|batch| batch.buffers()).iter().flatten() {
            let start = usize::try_from(buffer.offset()).map_err(|_negative| cut())?;
            let states = body.get(start..).and_then(<[u8]>::first_chunk);
            // -1 says that the buffer is not packed.
            let states = states
                .map_or(0, |length| i64::from_le_bytes(*length))
                .max(0);
            let states = usize::try_from(states).map_err(|_large| cut())?;
            unpacked = unpacked.checked_add(states).ok_or_else(cut)?;
        }
    }
    let granted = Vec::<u8>::new().try_reserve_exact(unpacked);
    granted.map_err(|error| ArrowError::IpcError(format!("{unpacked} bytes unpacked: {error}")))?;
    Ok(Buffer::from_vec(message))
}

fn cut() -> ArrowError {
    ArrowError::from(io::Error::from(io::ErrorKind::UnexpectedEof))
}

fn damaged(error: impl std::fmt::Display) -> ArrowError {
    ArrowError::ParseError(error.to_string())
}
