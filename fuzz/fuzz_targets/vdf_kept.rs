#![no_main]
tetralith_fuzz::fuzz!(vdf_kept);
