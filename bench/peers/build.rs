//! Records the compilers, and builds the two C libraries whose crates leave XMSS out.
//!
//! The crates oqs-sys and wolfssl-sys carry the sources of liboqs and wolfSSL, but their own builds
//! turn XMSS off and need libclang (wolfSSL also autotools). They are named in Cargo.toml so that they
//! are locked and fetched; `cargo metadata` says where their sources lie.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo::rustc-env=PEERS_RUSTC={}", first_line(Command::new(rustc).arg("--version")));
    let cc = env::var("CC").unwrap_or_else(|_| "cc".into());
    println!("cargo::rustc-env=PEERS_CC={}", first_line(Command::new(cc).arg("--version")));
    let wanted = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    if wanted("LIBOQS") {
        liboqs(&source_of("oqs-sys").join("liboqs"));
    }
    if wanted("WOLFSSL") {
        wolfssl(&source_of("wolfssl-sys").join("wolfssl-src"));
    }
}

/// The first line that a command prints, or "unknown".
fn first_line(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    text.lines().next().unwrap_or("unknown").to_owned()
}

/// Where a locked package's sources lie; fetches them if need be.
fn source_of(package: &str) -> PathBuf {
    let cargo = env::var("CARGO").expect("cargo sets CARGO");
    let arguments = ["metadata", "--format-version", "1", "--locked", "--all-features"];
    let output = Command::new(cargo).args(arguments).output().expect("cargo runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata failed: {error}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("an array of packages");
    let found = packages.iter().find(|found| found["name"] == package).expect("it is locked");
    let manifest = Path::new(found["manifest_path"].as_str().expect("a path"));
    manifest.parent().expect("a manifest lies in a folder").to_owned()
}

/// liboqs by its own build, for this CPU, over the same OpenSSL that the other peers use.
fn liboqs(source: &Path) {
    let openssl = env::var("DEP_OPENSSL_ROOT").expect("openssl-sys says where OpenSSL lies");
    let mut config = cmake::Config::new(source);
    // The sets that nobody measures here would be most of the build.
    for set in ["sha512", "shake256"] {
        for height in ["h10", "h16", "h20"] {
            config.define(format!("OQS_ENABLE_SIG_STFL_xmss_{set}_{height}"), "OFF");
        }
    }
    for hash in ["sha256", "shake128"] {
        for shape in ["20_2", "20_4", "40_2", "40_4", "40_8", "60_3", "60_6", "60_12"] {
            config.define(format!("OQS_ENABLE_SIG_STFL_xmssmt_{hash}_h{shape}"), "OFF");
        }
    }
    let installed = config
        .profile("Release")
        .define("OQS_BUILD_ONLY_LIB", "ON")
        .define("OQS_DIST_BUILD", "OFF")
        .define("OQS_MINIMAL_BUILD", "SIG_ml_dsa_44;SIG_STFL_XMSS")
        .define("OQS_ENABLE_SIG_STFL_XMSS", "ON")
        .define("OQS_HAZARDOUS_EXPERIMENTAL_ENABLE_SIG_STFL_KEY_SIG_GEN", "ON")
        .define("OQS_USE_OPENSSL", "ON")
        .define("OPENSSL_ROOT_DIR", &openssl)
        .define("OPENSSL_USE_STATIC_LIBS", "ON")
        .build();
    for folder in ["lib", "lib64"] {
        println!("cargo::rustc-link-search=native={}", installed.join(folder).display());
    }
    println!("cargo::rustc-link-lib=static=oqs");
}

/// The dozen files of wolfSSL that XMSS needs.
fn wolfssl(source: &Path) {
    let mut build = cc::Build::new();
    let sources = source.join("wolfcrypt/src");
    let mut files = vec![
        "wc_xmss.c",
        "wc_xmss_impl.c",
        "sha256.c",
        "sha3.c",
        "hash.c",
        "random.c",
        "memory.c",
        "error.c",
        "logging.c",
        "wc_port.c",
        "cpuid.c",
    ];
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        files.extend(["sha256_asm.S", "sha3_asm.S"]);
    }
    for name in ["c/user_settings.h", "c/wolfssl_xmss.c"] {
        println!("cargo::rerun-if-changed={name}");
    }
    build
        .files(files.iter().map(|file| sources.join(file)))
        .file("c/wolfssl_xmss.c")
        .include("c")
        .include(source)
        .define("WOLFSSL_USER_SETTINGS", None)
        .opt_level(3)
        .warnings(false)
        .compile("peers_wolfssl");
}
