//! Output for people on standard output and standard error that tolerates a closed reader: when a reader such as
//! `head` exits early, the work continues and the exit code stays the same. A program's actual product is written
//! with normal error handling instead.

use std::fmt::Arguments;
use std::io::Write;

/// Writes the formatted output of this module's macros in one piece, so that other output is not interleaved.
pub fn write(mut to: impl Write, words: Arguments<'_>) {
    let words = words.to_string();
    // There is no other place to report a failure.
    let _ = to.write_all(words.as_bytes()).and_then(|()| to.flush());
}

/// Like `println!`, but ignores write errors.
#[macro_export]
macro_rules! outln {
    ($($words:tt)*) => {
        $crate::terminal::write(::std::io::stdout(), ::std::format_args!("{}\n", ::std::format_args!($($words)*)))
    };
}

/// Like `eprint!`, but ignores write errors.
#[macro_export]
macro_rules! err {
    ($($words:tt)*) => {
        $crate::terminal::write(::std::io::stderr(), ::std::format_args!($($words)*))
    };
}

/// Like `eprintln!`, but ignores write errors.
#[macro_export]
macro_rules! errln {
    ($($words:tt)*) => {
        $crate::err!("{}\n", ::std::format_args!($($words)*))
    };
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    struct ClosedOutput;

    impl Write for ClosedOutput {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn nobody_has_to_hear_it() {
        write(ClosedOutput, format_args!("{}", 1));
        let mut heard = Vec::new();
        write(&mut heard, format_args!("{} of {}\n", 1, 2));
        assert_eq!(heard, b"1 of 2\n");
    }
}
