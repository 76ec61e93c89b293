//! Sets a flag for tests that run as root: tests that act as several users need it and are otherwise ignored.

use std::os::unix::fs::MetadataExt;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(as_root)");
    println!("cargo::rerun-if-changed=build.rs");
    // The owner of a process's own folder is its effective user.
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if is_root {
        println!("cargo::rustc-cfg=as_root");
    }
}
