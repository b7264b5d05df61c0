#![no_main]
tetralith_fuzz::fuzz!(node_config);
