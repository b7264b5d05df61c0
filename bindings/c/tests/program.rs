//! Installs the library as a user would, and compiles and runs C and C++ programs against it: shared and
//! static, through pkg-config and CMake, under AddressSanitizer and valgrind.
#![cfg(target_os = "linux")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Runs a command that must succeed, and returns what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{told}{errors}", output.status);
    told
}

/// The library, installed into a folder of its own.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        let test = std::env::current_exe().expect("a path");
        let deps = test.parent().expect("a folder");
        let folder = tempfile::tempdir().expect("a folder");
        // cargo puts the libraries beside this test under names with a hash.
        let built = folder.path().join("built");
        std::fs::create_dir(&built).expect("a folder");
        for ending in [".so", ".a"] {
            let name = format!("libtetralith{ending}");
            std::fs::copy(newest(deps, ending), built.join(name)).expect("a copy");
        }
        run(Command::new("sh")
            .arg(format!("{HERE}/install"))
            .env("PREFIX", folder.path().join("usr"))
            .env("LIBRARIES", &built));
        Installed { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles a test program, and returns its path.
    fn compile(&self, source: &str, standard: &str, libraries: &[&str], more: &[&str]) -> PathBuf {
        let name = format!("{source}-{standard}-{}{}", libraries.len(), more.len());
        let out = self.path(&name.replace(['/', '.'], "_"));
        let cpp = standard.starts_with("c++");
        run(Command::new(if cpp { "g++" } else { "cc" })
            .arg(format!("-std={standard}"))
            .args(["-Wall", "-Wextra", "-Werror", "-O1", "-g"])
            .args(if cpp { &["-x", "c++"][..] } else { &["-pedantic"] })
            .arg(format!("-I{}", self.path("usr/include").display()))
            .args(more)
            .arg(format!("{HERE}/tests/{source}"))
            .args(if cpp { &["-x", "none"][..] } else { &[] })
            .arg(format!("-L{}", self.path("usr/lib").display()))
            .args(libraries)
            .arg("-o")
            .arg(&out));
        out
    }

    /// Runs a test program under AddressSanitizer and under valgrind.
    fn checked(&self, source: &str, mut arguments: impl FnMut() -> Vec<String>) {
        let sanitized = self.compile(source, "c11", &STATIC, &["-fsanitize=address"]);
        self.run(&sanitized, &arguments());
        let program = self.compile(source, "c99", &STATIC, &[]);
        run(Command::new("valgrind")
            .args([
                "--quiet",
                "--error-exitcode=77",
                "--leak-check=full",
                "--errors-for-leak-kinds=definite",
            ])
            // Valgrind knows no AVX-512.
            .env("TETRALITH_KERNEL", "portable")
            .arg(&program)
            .args(arguments()));
    }

    fn run(&self, program: &Path, arguments: &[String]) {
        run(Command::new(program).args(arguments).env("LD_LIBRARY_PATH", self.path("usr/lib")));
    }
}

/// The newest library of this crate with that ending.
fn newest(deps: &Path, ending: &str) -> PathBuf {
    let names = std::fs::read_dir(deps).expect("readable").map(|e| e.expect("an entry").path());
    let ours = names.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let rest = name.strip_prefix("libtetralith").unwrap_or("_");
        name.ends_with(ending) && (rest.starts_with('-') || rest.starts_with('.'))
    });
    let changed =
        |path: &PathBuf| path.metadata().and_then(|data| data.modified()).expect("a time");
    ours.max_by_key(changed).expect("cargo builds the libraries before their tests")
}

const STATIC: [&str; 8] =
    ["-l:libtetralith.a", "-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

fn vectors(name: &str) -> String {
    let path = format!("{HERE}/../../vectors/{name}");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// N, x, y and T of a known answer with 2^t squarings.
fn squaring(t: u64) -> Vec<String> {
    let vectors: serde_json::Value =
        serde_json::from_str(&vectors("vdf/rsa2048_squaring.json")).expect("JSON");
    let cases = vectors["cases"].as_array().expect("cases");
    let case = cases.iter().find(|case| case["t"] == t).expect("the case");
    let text = |value: &serde_json::Value| value.as_str().expect("hex").to_owned();
    let modulus = hex::encode(tetralith_vdf::Modulus::rsa2048().to_bytes());
    vec![modulus, text(&vectors["x"]), text(&case["y"]), (1u64 << t).to_string()]
}

/// Seed, public key, input, proof and output of draft 3.
fn cardano() -> Vec<String> {
    let text = vectors("vrf/praos/vrf_ver03_generated_2");
    let fields: HashMap<_, _> = text.lines().filter_map(|line| line.split_once(": ")).collect();
    let value = |name: &&str| fields[*name].replace("empty", "");
    let mut all: Vec<String> = ["sk", "pk", "alpha", "pi", "beta"].iter().map(value).collect();
    all[0].truncate(64);
    all
}

/// Public key, message and signature.
fn liboqs() -> Vec<String> {
    let text = vectors("xmss/liboqs/XMSS-SHA2_10_256.rsp");
    let fields: HashMap<_, _> = text.lines().filter_map(|line| line.split_once(" = ")).collect();
    ["pk", "msg", "sm"].iter().map(|name| fields[*name].to_lowercase()).collect()
}

fn everything(t: u64) -> Vec<String> {
    let vrf = cardano().split_off(1);
    [squaring(t), vrf, liboqs()].concat()
}

#[test]
fn programs_of_each_standard_shared_and_static() {
    let installed = Installed::new();
    for standard in ["c99", "c11", "c++17"] {
        let shared = installed.compile("program.c", standard, &["-ltetralith"], &[]);
        installed.run(&shared, &everything(16));
        let fixed = installed.compile("program.c", standard, &STATIC, &[]);
        installed.run(&fixed, &everything(16));
    }
}

#[test]
fn a_program_of_the_header_for_cpp() {
    let installed = Installed::new();
    let shared = installed.compile("program.cpp", "c++17", &["-ltetralith"], &[]);
    installed.run(&shared, &everything(16));
    let sanitized = installed.compile(
        "program.cpp",
        "c++17",
        &STATIC,
        &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    );
    installed.run(&sanitized, &everything(5));
}

#[test]
fn the_haskell_package() {
    let installed = Installed::new();
    run(Command::new("sh")
        .arg(format!("{HERE}/../haskell/check"))
        .arg(installed.path("usr/lib"))
        .args(everything(5)));
}

#[test]
fn pkg_config_cmake_and_the_soname() {
    let installed = Installed::new();
    let flags = run(Command::new("pkg-config")
        .args(["--cflags", "--libs", "tetralith"])
        .env("PKG_CONFIG_PATH", installed.path("usr/lib/pkgconfig")));
    assert!(flags.contains("-ltetralith") && flags.contains("/usr/include"), "{flags}");
    let dynamic =
        run(Command::new("readelf").arg("-d").arg(installed.path("usr/lib/libtetralith.so")));
    assert!(dynamic.contains("soname: [libtetralith.so.1]"), "{dynamic}");
    let project = installed.path("project");
    std::fs::create_dir(&project).expect("a folder");
    let lists = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nfind_package(tetralith 0.1 REQUIRED)\n\
         add_executable(p {HERE}/tests/program.c)\ntarget_link_libraries(p tetralith::tetralith)\n"
    );
    std::fs::write(project.join("CMakeLists.txt"), lists).expect("a file");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", installed.path("usr").display());
    run(Command::new("cmake").args(["-S", ".", "-B", "b", &prefix]).current_dir(&project));
    run(Command::new("cmake").args(["--build", "b"]).current_dir(&project));
    installed.run(&project.join("b/p"), &everything(5));
}

#[test]
fn programs_of_sqr_and_of_the_sodium_forks() {
    let installed = Installed::new();
    let include = |name: &str| {
        format!("-I{}/usr/include/tetralith/{name}", installed.folder.path().display())
    };
    let program = installed.compile("sqr.c", "c99", &["-ltetralith"], &[&include("sqr")]);
    installed.run(&program, &squaring(12));
    for (fork, define) in [("cardano", "-DALGORAND=0"), ("algorand", "-DALGORAND=1")] {
        let program =
            installed.compile("sodium.c", "c99", &["-ltetralith"], &[&include(fork), define]);
        installed.run(&program, &cardano());
    }
}

#[test]
fn no_memory_is_lost_or_overrun() {
    Installed::new().checked("program.c", || everything(5));
}

/// An empty folder for each call, and the arguments after it for the first.
fn folders(installed: &Installed, first: &[&str]) -> impl FnMut() -> Vec<String> {
    let mut count = 0;
    move || {
        count += 1;
        let folder = installed.path(&format!("folder{count}"));
        std::fs::create_dir(&folder).expect("a folder");
        let more = if count == 1 { first } else { &[] };
        let all = [&[folder.to_str().expect("a name")], more].concat();
        all.into_iter().map(str::to_owned).collect()
    }
}

#[test]
fn keys_sign_by_the_commands_rules() {
    let installed = Installed::new();
    installed.checked("keys.c", folders(&installed, &["all"]));
}

#[test]
fn runs_go_on_from_checkpoints_and_locks_open() {
    let installed = Installed::new();
    installed.checked("timelock.c", folders(&installed, &[]));
}

#[test]
fn parties_make_a_key_and_sign_with_it() {
    Installed::new().checked("tss.c", Vec::new);
}
