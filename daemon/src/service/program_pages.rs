//! Gives back the pages of the program that calls have mapped into an idle daemon.
//!
//! The system maps 16 pages of the file around each one that is used, so after a start half of the code counts as this
//! process's memory, of which a small part is ever used again. At rest it is unmapped; the next call maps what it uses, from
//! the system's cache of the file, in about a tenth of a millisecond.

use std::io;

/// Where a part of the program is mapped.
#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    start: usize,
    bytes: usize,
}

/// Unmaps the pages of the program's code. Returns the size of that mapping.
///
/// # Errors
/// When the system does not say where it is.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn release_program_pages() -> io::Result<usize> {
    let code = release_program_pages as fn() -> io::Result<usize> as usize;
    let maps = std::fs::read("/proc/self/maps")?;
    let mapping = code_at(code, &String::from_utf8_lossy(&maps)).ok_or(io::ErrorKind::NotFound)?;
    let start = std::ptr::with_exposed_provenance_mut(mapping.start);
    // SAFETY: the mapping is that of this function: a file, which can be read and executed and never written. The system
    // reads the same bytes again when they are used, also for the code that runs now.
    let result = unsafe { libc::madvise(start, mapping.bytes, libc::MADV_DONTNEED) };
    match result {
        0 => Ok(mapping.bytes),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Does nothing where the system does not map pages around.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn release_program_pages() -> io::Result<usize> {
    Ok(0)
}

/// Returns the mapping of a file that has this address, if its pages can be executed and not written.
#[cfg(any(target_os = "linux", test))]
fn code_at(address: usize, maps: &str) -> Option<Mapping> {
    maps.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        let is_code = fields.next()? == "r-xp";
        let is_file = fields.nth(2)? != "0";
        let is_it = is_code && is_file && (start..end).contains(&address);
        is_it.then(|| Mapping {
            start,
            bytes: end - start,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-3000 r--p 00000000 fe:00 7   /usr/bin/lored
3000-5000 r-xp 00002000 fe:00 7   /usr/bin/lored
5000-6000 rwxp 00000000 fe:00 7   /usr/bin/lored
6000-7000 r-xp 00000000 00:00 0   [vdso]
";

    #[test]
    fn only_code_of_a_file_is_found() {
        let found = code_at(0x3100, MAPS);
        let expected = Mapping {
            start: 0x3000,
            bytes: 0x2000,
        };
        assert_eq!(found, Some(expected));
        for other in [0x0fff, 0x1000, 0x5000, 0x6000, 0x7000] {
            assert_eq!(code_at(other, MAPS), None, "{other:x}");
        }
        assert_eq!(code_at(0x3100, "garbage\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_goes_on_without_its_pages() {
        for _ in 0..3 {
            assert!(release_program_pages().is_ok_and(|bytes| bytes > 0));
        }
    }
}
