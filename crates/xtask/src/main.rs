//! Checks of this repository's own rules: `cargo xtask tidy`. The pictures in `docs/screens`:
//! `cargo xtask screens`.

mod screens;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let problems = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::check(&root()),
        ["screens"] => screens::draw(&root()).map(|()| Vec::new()),
        _ => Err(anyhow::anyhow!("usage: cargo xtask tidy|screens")),
    };
    match problems {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            for problem in &problems {
                tell(problem);
            }
            ExitCode::FAILURE
        }
        Err(err) => {
            tell(&format!("error: {err:#}"));
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::print_stderr, reason = "this program's output is for people")]
fn tell(text: &str) {
    eprintln!("{text}");
}

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
