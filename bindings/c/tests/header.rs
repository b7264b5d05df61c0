//! Holds `include/tetralith.h` against what the Rust sources say.

#[test]
fn the_header_is_current() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let config =
        cbindgen::Config::from_file(here.join("cbindgen.toml")).expect("the configuration");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in [
        "status",
        "kernel",
        "progress",
        "vdf",
        "checkpoint",
        "timelock",
        "vrf",
        "xmss",
        "keys",
        "aidos",
        "tss",
    ] {
        builder = builder.with_src(here.join("src").join(format!("{file}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().expect("sources that cbindgen reads").write(&mut made);
    let made = String::from_utf8(made).expect("text");
    let path = here.join("include/tetralith.h");
    if std::env::var_os("TETRALITH_HEADER").is_some_and(|what| what == "write") {
        std::fs::write(&path, &made).expect("the header is written");
    }
    let committed = std::fs::read_to_string(&path).expect("the header");
    assert!(
        committed == made,
        "run: TETRALITH_HEADER=write cargo test -p tetralith-c --test header"
    );
}
