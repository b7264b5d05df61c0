//! What a file's footer says, and whether it can be so.
//!
//! Apache Parquet format 2.11, `parquet.thrift`: FileMetaData, SchemaElement, RowGroup, ColumnMetaData

use crate::Column;
use crate::error::Error;
use crate::format::Format;
use ::parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use ::parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy, RowGroupMetaData,
};
use ::parquet::file::reader::ChunkReader;
use ::parquet::schema::types::Type;

/// The most bytes of a footer.
const MAX_FOOTER: u32 = 64 << 20;

/// The types that are read.
const TYPES: &str = "BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY";
/// The codecs that are read.
const CODECS: &str = "UNCOMPRESSED, SNAPPY, GZIP, LZ4, LZ4_RAW or ZSTD";

/// Where a column is, and what it holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) column: Column,
    /// Which of a row group's chunks it is.
    pub(super) leaf: usize,
    pub(super) is_text: bool,
    pub(super) is_fixed: bool,
    pub(super) is_optional: bool,
}

fn not_readable(reason: impl Into<String>) -> Error {
    Error::NotReadable { format: Format::Parquet, reason: reason.into() }
}

/// What the `parquet` crate says, without its own name in front.
pub(super) fn said(error: &::parquet::errors::ParquetError) -> String {
    let text = error.to_string();
    text.strip_prefix("Parquet error: ").unwrap_or(&text).chars().take(300).collect()
}

/// Reads the end of a file.
pub(super) fn read<R: ChunkReader>(source: &R) -> Result<ParquetMetaData, Error> {
    let length = source.len();
    if length < 12 {
        return Err(not_readable(format!("{length} bytes, expected at least 12")));
    }
    let tail = source.get_bytes(length - 8, 8).map_err(Error::read)?;
    match &tail[4..] {
        b"PAR1" => {}
        b"PARE" => return Err(not_readable("its footer is encrypted")),
        _ => return Err(not_readable("it does not end with PAR1")),
    }
    let size = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    if size > MAX_FOOTER {
        return Err(not_readable(format!("footer of {size} bytes, at most {MAX_FOOTER}")));
    }
    if u64::from(size) > length - 12 {
        return Err(not_readable(format!("footer of {size} bytes in a file of {length}")));
    }
    let options = ParquetMetaDataOptions::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll);
    ParquetMetaDataReader::new()
        .with_metadata_options(Some(options))
        .parse_and_finish(source)
        .map_err(|error| not_readable(format!("footer: {}", said(&error))))
}

/// Finds the columns among those of the schema, none in groups.
pub(super) fn places(
    metadata: &ParquetMetaData,
    columns: &'static [Column],
) -> Result<Vec<Option<Place>>, Error> {
    let schema = metadata.file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let names = || fields.iter().map(|field| field.name());
    let place = |column: &Column| {
        let times = names().filter(|&name| name == column.name).count();
        match times {
            0 if column.required => return Err(Error::missing(column.name, names())),
            0 => return Ok(None),
            1 => {}
            _ => return Err(Error::DuplicateColumn { column: column.name.into(), times }),
        }
        let leaf = schema.columns().iter().position(|leaf| leaf.path().parts() == [column.name]);
        let field = fields.iter().find(|field| field.name() == column.name);
        match (field, leaf) {
            (Some(field), Some(leaf)) => place(column, field, leaf).map(Some),
            _ => Err(column_type(column, "a group or list".into())),
        }
    };
    columns.iter().map(place).collect()
}

fn column_type(column: &Column, found: String) -> Error {
    Error::ColumnType { column: column.name.into(), found, expected: TYPES.into() }
}

fn place(column: &Column, field: &Type, leaf: usize) -> Result<Place, Error> {
    let info = field.get_basic_info();
    if !field.is_primitive() || info.repetition() == Repetition::REPEATED {
        return Err(column_type(column, "a group or list".into()));
    }
    let physical = field.get_physical_type();
    let is_fixed = physical == Physical::FIXED_LEN_BYTE_ARRAY;
    if !is_fixed && physical != Physical::BYTE_ARRAY {
        return Err(column_type(column, physical.to_string()));
    }
    let (converted, logical) = (info.converted_type(), info.logical_type_ref());
    if converted == ConvertedType::DECIMAL || matches!(logical, Some(LogicalType::Decimal { .. })) {
        return Err(column_type(column, "DECIMAL".into()));
    }
    let is_text =
        matches!(converted, ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM)
            || matches!(logical, Some(LogicalType::String | LogicalType::Json | LogicalType::Enum));
    let is_optional = info.repetition() == Repetition::OPTIONAL;
    Ok(Place { column: *column, leaf, is_text, is_fixed, is_optional })
}

/// Whether rows, values and chunks are where and as many as the footer says.
pub(super) fn check(
    metadata: &ParquetMetaData,
    places: &[Option<Place>],
    file: u64,
) -> Result<(), Error> {
    let stated = metadata.file_metadata().num_rows();
    let mut rows = 0i64;
    for (i, group) in metadata.row_groups().iter().enumerate() {
        let in_group = |reason| not_readable(format!("row group {}: {reason}", i + 1));
        if group.num_rows() < 0 {
            return Err(in_group(format!("{} rows", group.num_rows())));
        }
        rows = rows.saturating_add(group.num_rows());
        for place in places.iter().flatten() {
            check_chunk(group, place, file).map_err(|error| match error {
                Ok(reason) => in_group(format!("column {}: {reason}", place.column.name)),
                Err(error) => error,
            })?;
        }
    }
    if rows != stated {
        return Err(not_readable(format!("{stated} rows, its row groups have {rows}")));
    }
    Ok(())
}

fn check_chunk(
    group: &RowGroupMetaData,
    place: &Place,
    file: u64,
) -> Result<(), Result<String, Error>> {
    let Some(chunk) = group.columns().get(place.leaf) else {
        return Err(Ok("it has no such column".into()));
    };
    check_codec(chunk, place).map_err(Err)?;
    if chunk.file_path().is_some() {
        return Err(Ok("its values are in another file".into()));
    }
    if chunk.num_values() != group.num_rows() {
        let said = format!("{} values in {} rows", chunk.num_values(), group.num_rows());
        return Err(Ok(said));
    }
    let (data, length) = (chunk.data_page_offset(), chunk.compressed_size());
    let start = chunk.dictionary_page_offset().unwrap_or(data);
    let end = match (u64::try_from(start), u64::try_from(length)) {
        (Ok(start), Ok(length)) => start.checked_add(length),
        _ => None,
    };
    match end {
        Some(end) if end <= file && data >= 0 => Ok(()),
        _ => Err(Ok(format!("{length} bytes at {start} are not all in the file"))),
    }
}

fn check_codec(chunk: &ColumnChunkMetaData, place: &Place) -> Result<(), Error> {
    let found = match chunk.compression() {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::LZ4
        | Compression::LZ4_RAW
        | Compression::ZSTD(_) => return Ok(()),
        Compression::LZO => "LZO",
        Compression::BROTLI(_) => "BROTLI",
    };
    Err(Error::Compression {
        column: place.column.name.into(),
        found: found.into(),
        expected: CODECS.into(),
    })
}
