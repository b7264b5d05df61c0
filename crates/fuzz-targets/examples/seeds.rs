//! Writes every target's seeds into a folder: `seeds FOLDER` makes `FOLDER/TARGET/seed-0`, ….

use std::path::PathBuf;
use tetralith_fuzz_targets::TARGETS;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("the folder to write into"));
    for target in TARGETS {
        let folder = folder.join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in target.seeds().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
