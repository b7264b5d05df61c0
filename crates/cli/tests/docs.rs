//! Runs every example of the README and of `docs/`: the `console` blocks, each page in a folder of its
//! own, in order.

use std::fs;
use std::path::Path;

#[test]
fn the_examples_in_the_documentation_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let docs = fs::read_dir(root.join("docs")).expect("docs/");
    let pages = docs.map(|entry| entry.expect("an entry").path()).chain([root.join("README.md")]);
    let cases = trycmd::TestCases::new();
    for tool in ["cp", "mkdir"] {
        cases.register_bin(tool, Path::new("/bin").join(tool));
    }
    cases.env("TETRALITH_PASSPHRASE", "correct horse battery staple");
    for page in pages.filter(|page| page.extension().is_some_and(|kind| kind == "md")) {
        let own = folder.path().join(page.file_stem().expect("a name"));
        // trycmd runs a page's commands in a copy of the folder that is called as the page, `.in`.
        let work = own.join("page.in");
        fs::create_dir_all(&work).expect("a folder for the page");
        fs::write(work.join("README.md"), "A file to work on.\n").expect("a file to work on");
        let rows = root.join("vectors/vrf/parquet/hex_with_bad_rows.parquet");
        fs::copy(rows, work.join("rows.parquet")).expect("rows to verify");
        let eras = root.join("vectors/vrf/cardano-eras");
        for (from, to) in [
            ("mainnet_babbage_7854823.header", "babbage.header"),
            ("mainnet_shelley_4494062.block", "shelley.block"),
        ] {
            fs::copy(eras.join(from), work.join(to)).expect("a header to verify");
        }
        fs::copy(eras.join("headers.jsonl"), work.join("headers.jsonl"))
            .expect("headers to verify");
        let copy = own.join("page.md");
        fs::copy(&page, &copy).expect("a copy of the page");
        cases.case(copy.to_str().expect("a path in UTF-8"));
    }
    cases.run();
}
