pub mod table;

/// What to compare.
#[derive(clap::Args, Debug)]
pub struct Arguments {}

pub fn run(_: &Arguments, _: &crate::Arguments) -> Result<(), String> {
    Err("not yet".into())
}
