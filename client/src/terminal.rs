//! Words for people on standard output and standard error, as far as anybody hears them: that a reader has gone, as `head`
//! does once it has seen enough, ends no work and changes no exit code. What a program prints as its product is written
//! with the error instead.

use std::fmt::Arguments;
use std::io::Write;

/// Writes what a macro of this module was given: in one piece, so that what others write stands before or behind it.
pub fn write(mut to: impl Write, words: Arguments<'_>) {
    let words = words.to_string();
    // There is nowhere left to tell of a failure.
    let _ = to.write_all(words.as_bytes()).and_then(|()| to.flush());
}

/// As `println!`, to whoever still reads.
#[macro_export]
macro_rules! outln {
    ($($words:tt)*) => {
        $crate::terminal::write(::std::io::stdout(), ::std::format_args!("{}\n", ::std::format_args!($($words)*)))
    };
}

/// As `eprint!`, to whoever still reads.
#[macro_export]
macro_rules! err {
    ($($words:tt)*) => {
        $crate::terminal::write(::std::io::stderr(), ::std::format_args!($($words)*))
    };
}

/// As `eprintln!`, to whoever still reads.
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
        let mut change_event = Vec::new();
        write(&mut change_event, format_args!("{} of {}\n", 1, 2));
        assert_eq!(change_event, b"1 of 2\n");
    }
}
