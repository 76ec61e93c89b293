//! The program `lored`.

/// A third of an event's cost on the writer was glibc's allocator; with this one a write takes 10 to
/// 25 % less processor time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    lored::program::main()
}
