#![no_main]
tetralith_fuzz::fuzz!(edwards25519_lanes);
