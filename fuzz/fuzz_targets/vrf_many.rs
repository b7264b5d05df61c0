#![no_main]
tetralith_fuzz::fuzz!(vrf_many);
