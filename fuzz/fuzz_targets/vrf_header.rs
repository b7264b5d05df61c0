#![no_main]
tetralith_fuzz::fuzz!(vrf_header);
