//! The program `lored`.

fn main() -> std::process::ExitCode {
    lored::program::main()
}
