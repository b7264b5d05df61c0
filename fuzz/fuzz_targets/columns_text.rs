#![no_main]
tetralith_fuzz::fuzz!(columns_text);
