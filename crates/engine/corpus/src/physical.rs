//! The schema of a Parquet file without the meaning of its bytes.
//!
//! A reader that treats a column as strings checks every cell, and one bad cell costs a whole
//! batch. A reader that treats a column as intervals drops their months. Read as bytes, each cell
//! stays as it was written.

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

/// Returns metadata with strings and intervals as bytes.
///
/// # Errors
/// The schema is invalid.
pub(crate) fn without_meaning(metadata: &ParquetMetaData) -> Result<ParquetMetaData, ParquetError> {
    let file = metadata.file_metadata();
    let root = bytes_of(&file.schema_descr().root_schema_ptr())?;
    let file = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        file.key_value_metadata().cloned(),
        Arc::new(SchemaDescriptor::new(root)),
        file.column_orders().cloned(),
    );
    Ok(ParquetMetaData::new(file, metadata.row_groups().to_vec()))
}

/// Returns a schema that allows nulls in the columns that `is_nullable` selects.
///
/// # Errors
/// The schema is invalid.
pub(crate) fn with_nulls(
    schema: &SchemaDescriptor,
    is_nullable: impl Fn(&str) -> bool,
) -> Result<SchemaDescriptor, ParquetError> {
    let root = schema.root_schema();
    let fields = root.get_fields().iter().map(|field| {
        let info = field.get_basic_info();
        let is_required = info.has_repetition() && info.repetition() == Repetition::REQUIRED;
        match is_required && is_nullable(field.name()) {
            true => rebuilt(
                field,
                Some(Repetition::OPTIONAL),
                field.get_basic_info().converted_type(),
            ),
            false => Ok(Arc::clone(field)),
        }
    });
    let fields = fields.collect::<Result<_, _>>()?;
    let root = Type::group_type_builder(root.name())
        .with_fields(fields)
        .build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

fn bytes_of(schema: &TypePtr) -> Result<TypePtr, ParquetError> {
    let info = schema.get_basic_info();
    let repetition = info.has_repetition().then(|| info.repetition());
    if schema.is_primitive() {
        let has_meaning = match schema.get_physical_type() {
            PhysicalType::BYTE_ARRAY => !is_decimal(schema) && !is_always_null(schema),
            PhysicalType::FIXED_LEN_BYTE_ARRAY => info.converted_type() == ConvertedType::INTERVAL,
            _ => false,
        };
        return match has_meaning {
            true => rebuilt(schema, repetition, ConvertedType::NONE),
            false => Ok(Arc::clone(schema)),
        };
    }
    let fields = schema.get_fields().iter().map(bytes_of);
    let mut group = Type::group_type_builder(schema.name())
        .with_fields(fields.collect::<Result<_, _>>()?)
        .with_converted_type(info.converted_type())
        .with_logical_type(info.logical_type_ref().cloned())
        .with_id(info.has_id().then(|| info.id()));
    if let Some(repetition) = repetition {
        group = group.with_repetition(repetition);
    }
    Ok(Arc::new(group.build()?))
}

fn is_decimal(column: &Type) -> bool {
    let info = column.get_basic_info();
    let is_logically = matches!(info.logical_type_ref(), Some(LogicalType::Decimal { .. }));
    is_logically || info.converted_type() == ConvertedType::DECIMAL
}

fn is_always_null(column: &Type) -> bool {
    column.get_basic_info().logical_type_ref() == Some(&LogicalType::Unknown)
}

/// Returns a field with another repetition; a column of bytes also with another converted type, and
/// without a logical type if the converted type changes.
fn rebuilt(
    field: &TypePtr,
    repetition: Option<Repetition>,
    converted: ConvertedType,
) -> Result<TypePtr, ParquetError> {
    let info = field.get_basic_info();
    let logical = info.logical_type_ref().cloned();
    let logical = logical.filter(|_| converted == info.converted_type());
    let id = info.has_id().then(|| info.id());
    let repetition = repetition.unwrap_or(Repetition::REQUIRED);
    Ok(Arc::new(match &**field {
        Type::PrimitiveType {
            physical_type,
            type_length,
            scale,
            precision,
            ..
        } => Type::primitive_type_builder(field.name(), *physical_type)
            .with_repetition(repetition)
            .with_converted_type(converted)
            .with_logical_type(logical)
            .with_length(*type_length)
            .with_scale(*scale)
            .with_precision(*precision)
            .with_id(id)
            .build()?,
        Type::GroupType { fields, .. } => Type::group_type_builder(field.name())
            .with_repetition(repetition)
            .with_converted_type(converted)
            .with_logical_type(logical)
            .with_fields(fields.clone())
            .with_id(id)
            .build()?,
    }))
}
