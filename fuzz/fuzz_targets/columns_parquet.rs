#![no_main]
tetralith_fuzz::fuzz!(columns_parquet);
