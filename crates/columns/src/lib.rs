//! Rows of bytes from Parquet, Arrow IPC, CSV and JSON lines, and results into them.
//!
//! A caller names the columns that it needs ([`Column`]); [`Rows`] finds them among any others, in any
//! order, and hands out [`Part`]s of at most [`PART_ROWS`] rows, each of which decodes into a [`Block`].
//! A row with a bad value is a row with a fault, and the rows after it are read. [`Table`] writes results.
//!
//! ```
//! use tetralith_columns::{Column, Format, Rows};
//!
//! const COLUMNS: [Column; 2] = [Column::bytes("public_key"), Column::bytes("alpha")];
//! let lines = b"{\"public_key\": \"0x02ff\", \"alpha\": \"\", \"slot\": 7}\n{\"alpha\": \"zz\"}\n";
//! let mut rows = Rows::from_text(&lines[..], Format::Jsonl, &COLUMNS)?;
//! let block = rows.next_part()?.expect("two rows").decode();
//! let mut read = block.rows::<2>();
//! assert_eq!(read.next(), Some(Ok([Some(&[2, 0xff][..]), Some(&[][..])])));
//! assert_eq!(read.next(), Some(Err("public_key is missing")));
//! # Ok::<(), tetralith_columns::Error>(())
//! ```
//!
//! # Hostile files
//! Text is read in bounded memory. The decoders of Parquet and Arrow are the `parquet` and `arrow-ipc`
//! crates; what they state about sizes is checked here first where the crate offers it, their panics are
//! caught, and each becomes an [`Error`]. Two things are left to them: how much memory a page takes once it
//! is decompressed (arrow-rs issue 10734) and how much a footer's lists take (arrow-rs issue 9874). A program
//! that reads files of strangers therefore runs [`worker::serve`] in a process of its own, whose memory and
//! time are limited, and reads from it through [`worker::Contained`], as the `tetralith` command does.

mod block;
mod csv;
mod error;
mod format;
mod hex;
mod jsonl;
mod rows;
mod table;

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "parquet")]
mod parquet;
pub mod worker;

pub use block::{Block, Column, Kind, MAX_VALUE, PART_ROWS, Part};
pub use error::Error;
pub use format::Format;
pub use hex::{NotHex, decode_hex};
pub use rows::{MAX_LINE, Rows};
pub use table::{Cell, Field, Shape, Table};
