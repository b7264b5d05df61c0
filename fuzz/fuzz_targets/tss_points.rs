#![no_main]
tetralith_fuzz::fuzz!(tss_points);
