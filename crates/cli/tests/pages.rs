//! The book: each page of `docs` is in its summary once, and every link between pages leads somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

/// Every Markdown file below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "md"));
    files.chain(folders.iter().flat_map(|folder| pages(folder))).collect()
}

/// What stands in the parentheses of `[text](target)`, outside fenced blocks.
fn links(text: &str) -> Vec<String> {
    let mut fenced = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    let targets = |line: &str| -> Vec<String> {
        let parts = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        parts.map(|(target, _)| target.to_owned()).collect()
    };
    lines.flat_map(targets).collect()
}

/// The anchors of a page: its headings in lower case, words joined by hyphens.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase();
            words.chars().filter(|&c| kept(c)).collect::<String>().replace(' ', "-")
        })
        .collect()
}

#[test]
fn each_page_is_in_the_summary_once() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("the summary");
    let mut listed: Vec<PathBuf> = links(&summary).iter().map(|link| docs.join(link)).collect();
    let mut there = pages(&docs);
    there.retain(|page| !page.ends_with("SUMMARY.md"));
    listed.sort();
    there.sort();
    assert_eq!(listed, there, "docs/SUMMARY.md lists each page of docs once");
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let root = root();
    let mut wrong = Vec::new();
    let own = fs::read_dir(&root).expect("the project").map(|entry| entry.expect("one").path());
    let own = own.filter(|path| path.is_file() && path.extension().is_some_and(|end| end == "md"));
    for page in own.chain(pages(&root.join("docs"))) {
        let text = fs::read_to_string(&page).expect("a page");
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = page.parent().expect("a folder").join(path);
            let target = if path.is_empty() { page.clone() } else { target };
            let known = |text: String| anchor.is_empty() || anchors(&text).contains(anchor);
            let leads = match target.is_dir() {
                true => anchor.is_empty(),
                false => fs::read(&target)
                    .is_ok_and(|bytes| known(String::from_utf8_lossy(&bytes).into_owned())),
            };
            if !leads {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
