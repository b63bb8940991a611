// SPDX-License-Identifier: Apache-2.0
//! Finds libweft-rayon.so: in the folder WEFT_RAYON_LIB_DIR, or by pkg-config.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=WEFT_RAYON_LIB_DIR");
    if let Some(folder) = std::env::var_os("WEFT_RAYON_LIB_DIR") {
        let folder = Path::new(&folder);
        let library = folder.join("libweft-rayon.so");
        if !library.exists() {
            fail(&format!(
                "WEFT_RAYON_LIB_DIR names a folder without libweft-rayon.so: {}",
                folder.display()
            ));
        }
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=dylib=weft-rayon");
        find_at_run_time(folder);
        return;
    }
    match pkg_config::Config::new()
        .atleast_version("0.2")
        .probe("weft-rayon")
    {
        Ok(found) => found
            .link_paths
            .iter()
            .for_each(|folder| find_at_run_time(folder)),
        Err(error) => fail(&format!("pkg-config does not find weft-rayon: {error}")),
    }
}

/// Lets the crate's own tests and examples find the library. A program that depends on the crate
/// finds it where the loader looks, or by a search path of its own.
fn find_at_run_time(folder: &Path) {
    println!("cargo:rustc-link-arg-tests=-Wl,-rpath,{}", folder.display());
    println!(
        "cargo:rustc-link-arg-examples=-Wl,-rpath,{}",
        folder.display()
    );
    println!("cargo:lib_dir={}", folder.display());
}

fn fail(what: &str) -> ! {
    eprintln!("weft-rayon: {what}");
    eprintln!(
        "weft-rayon: install Weft with its shared library, and set PKG_CONFIG_PATH to its folder lib/pkgconfig, \
         or WEFT_RAYON_LIB_DIR to the folder of libweft-rayon.so"
    );
    std::process::exit(1);
}
