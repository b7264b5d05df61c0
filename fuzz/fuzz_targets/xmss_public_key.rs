#![no_main]
tetralith_fuzz::fuzz!(xmss_public_key);
