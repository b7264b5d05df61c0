#![no_main]
tetralith_fuzz::fuzz!(xmss_partial);
