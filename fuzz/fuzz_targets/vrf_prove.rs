#![no_main]
tetralith_fuzz::fuzz!(vrf_prove);
