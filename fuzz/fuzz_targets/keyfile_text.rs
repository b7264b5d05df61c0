#![no_main]
tetralith_fuzz::fuzz!(keyfile_text);
