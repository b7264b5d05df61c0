//! Writes the JavaScript and types that load a WebAssembly module: `glue MODULE.wasm FOLDER NAME`.

use std::error::Error;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = &arguments[..] else {
        return Err("usage: glue MODULE.wasm FOLDER NAME".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .out_name(name)
        .web(true)?
        .typescript(true)
        // Bundlers would take the default path for an asset of their own; the package names the file.
        .omit_default_module_path(true)
        .keep_lld_exports(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)?;
    Ok(())
}
