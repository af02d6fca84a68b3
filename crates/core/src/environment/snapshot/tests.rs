//! The same scripts after the same profiles, in a login shell and in one that took the state
//! over, with real shells.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::shell::{DUMPED, Kind, Loader};
use super::state::{State, Unusable};

const MARK: &str = "0123456789abcdef";

/// A home with a profile, and a shell that reads it.
struct Scene {
    home: tempfile::TempDir,
    shell: PathBuf,
    kind: Kind,
    loader: Loader,
}

impl Scene {
    /// `None`, said aloud, where there is no such shell.
    fn new(kind: Kind, profile: &str) -> Option<Self> {
        let (shell, file) = match kind {
            Kind::Bash => ("/bin/bash", ".bash_profile"),
            Kind::Zsh => ("/bin/zsh", ".zprofile"),
        };
        if !Path::new(shell).exists() {
            eprintln!("SKIPPED: {shell} is not there");
            return None;
        }
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(file), profile).unwrap();
        let loader = Loader::prepare(kind, &home.path().join(".agent")).unwrap();
        Some(Self {
            home,
            shell: shell.into(),
            kind,
            loader,
        })
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        let home = self.home.path().as_os_str();
        let pairs = [
            ("HOME", home),
            ("PATH", "/usr/bin:/bin".as_ref()),
            ("LANG", "C.UTF-8".as_ref()),
            ("KEPT", "by the agent".as_ref()),
            ("UNSET_BY_PROFILE", "1".as_ref()),
            ("HIDDEN_BY_PROFILE", "1".as_ref()),
        ];
        pairs
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec()
    }

    /// Standard output, standard error and status.
    fn run(
        &self,
        flag: &str,
        script: &str,
        variables: Vec<(OsString, OsString)>,
    ) -> (Vec<u8>, String, i32) {
        #[expect(clippy::disallowed_methods, reason = "the shell is what is tested")]
        let mut command = Command::new(&self.shell);
        command.arg(flag).arg(script).env_clear().envs(variables);
        command.current_dir(self.home.path()).stdin(Stdio::null());
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let signal = output.status.signal().map(|signal| 128 + signal);
        let code = output.status.code().or(signal).unwrap();
        (output.stdout, stderr, code)
    }

    fn state(&self, flag: &str, variables: Vec<(OsString, OsString)>) -> Result<State, Unusable> {
        let (stdout, stderr, code) = self.run(flag, &self.kind.dump_script(MARK), variables);
        let state = State::read(self.kind, &stdout, MARK);
        assert!(state.is_err() || code == DUMPED, "{code} {stderr}");
        state
    }

    fn script(&self) -> Result<String, Unusable> {
        let login = self.state("-lc", self.variables())?;
        let mut variables = self.variables();
        self.loader.load("", &mut variables);
        let before = self.state("-c", variables)?;
        assert!(!before.has_variable(self.loader.variable()));
        login.script_from(&before, self.kind)
    }

    /// Runs a script in both ways and compares all but what the profile itself prints.
    #[track_caller]
    fn check(&self, state: &str, probe: &str) {
        // What the profile itself prints comes before.
        let probe = &format!("echo BEGIN; echo ERRORS >&2; {probe}");
        let login = self.run("-lc", probe, self.variables());
        let mut variables = self.variables();
        self.loader.load(state, &mut variables);
        let restored = self.run("-c", probe, variables);
        let text = |run: &(Vec<u8>, String, i32)| {
            let stdout = String::from_utf8_lossy(&run.0).into_owned();
            let from = stdout.find("BEGIN").unwrap_or(stdout.len());
            // A script that cannot be parsed has said one line.
            let said = run.1.trim_end().rfind('\n').unwrap_or_default();
            let said = run.1[run.1.find("ERRORS").unwrap_or(said)..].trim();
            // Traces of a pipeline come in any order.
            let mut said: Vec<&str> = said.lines().collect();
            said.sort_unstable();
            (stdout[from..].to_owned(), said.join("\n"), run.2)
        };
        let (login, restored) = (text(&login), text(&restored));
        if restored != login {
            let lines = |run: &(String, String, i32)| {
                let text = format!("{}\nerrors: {}\nstatus: {}", run.0, run.1, run.2);
                text.lines().map(str::to_owned).collect::<Vec<_>>()
            };
            let (login, restored) = (lines(&login), lines(&restored));
            let only = |a: &[String], b: &[String]| {
                let only = a.iter().filter(|line| !b.contains(line));
                only.cloned().collect::<Vec<_>>()
            };
            panic!(
                "only in a login shell: {:#?}\nonly with the state: {:#?}\n{probe}\n{state:.3000}",
                only(&login, &restored),
                only(&restored, &login),
            );
        }
    }
}

/// What scripts may notice.
const PROBES: &[&str] = &[
    "env | grep -v -e ^_= | sort; set | grep -e AGENT_SHELL; umask; pwd; echo \"$# $0 ${-/l/}\"; \
     ulimit -S -n; ulimit -H -n; ulimit -S -c; ls -d /proc/self/fd/[3-9]; echo \"$PATH\"",
    "\nno-such-command\necho \"$LINENO\"; false | true; echo $?; set +o | grep -v login",
    "echo ${list[1]} ${list[2]}; echo \"${list[@]}\"; echo $unexported; \
     sh -c 'echo $unexported $exported'; echo *; FIXED=2; echo $FIXED",
    "greet 'two  words' x; echo $?; shout hello",
    "false; echo still here; echo ${never_set}; echo still here",
    "set +x; kill -9 $$",
    "cat; exit 7",
    "if",
];

/// Profiles of either shell.
const PROFILES: &[&str] = &[
    "",
    "export exported='it'\\''s \"$x\" `y` \\z'\nunexported='a\nb'\nexport EMPTY=\nunset UNSET_BY_PROFILE",
    "list=(one 'two three' '$four')\nexport PATH=\"/opt/x y:$PATH\"",
    "greet() { printf '%s|' \"$@\"; cat <<END\nhere $1 'and' \"there\"\nEND\nreturn 3; }",
    "echo noise; printf 'more\\0noise'; echo errors >&2",
    "set -e",
    "set -u",
    "set -f",
    "set -o noclobber",
    "umask 077; ulimit -S -n 100; ulimit -c 0",
    "ulimit -n 200",
    "readonly FIXED=1; export FIXED",
    "if true; then (; fi\nexport exported=after",
    "false",
    "unset HOME; unset KEPT",
    "export HOME=/tmp; IFS=:; exported='a:b'",
    "export exported=$'\\001\\t\\n\\\\ \\303\\244'",
    "sleep 0 & wait; export exported=1",
    "builtin() { echo mine; }; unset -f builtin; echo() { command echo mine \"$@\"; }",
];

const BASH_PROFILES: &[&str] = &[
    "shopt -s expand_aliases globstar nullglob\nalias shout='echo LOUD' dotted.name='echo \"it'\\''s\"'\nset -o pipefail",
    "declare -A map=([a b]=c ['x\"y']=$'\\n'); declare -i number=3; export LIST; declare -n ref=map",
    "export -n HIDDEN_BY_PROFILE; greet() { echo exported; }; export -f greet",
    "shopt -s extglob; greet() { case $1 in !(a|b)*) echo 'ext'; esac; }; shopt -u extglob",
    "set -o posix",
    "set -x",
    "set -v",
    "shopt -s failglob",
    "declare -r TMOUT=900; declare -rx LIST2=(a b); function odd-name() { :; }; alias ..='cd ..'",
    "export BASH_ENV=/dev/null; OPTIND=3",
];

const ZSH_PROFILES: &[&str] = &[
    "alias shout='print LOUD'; alias -g GG='| cat'; alias -s txt=cat; setopt extendedglob pipefail",
    "typeset -U path; path=(/opt/z $path); typeset -A map=(a 'b c'); integer number=3; float real=1.5",
    "typeset +x HIDDEN_BY_PROFILE; typeset -T LIST2 list2; list2=(a b); export LIST2",
    "greet() { print -r -- ${(q)@}; }; autoload -Uz zmv; fpath=(/opt/functions $fpath)",
    "setopt shwordsplit ksharrays nullglob; zmodload zsh/datetime; unalias run-help",
    "export ZDOTDIR=/tmp; PS4='x'; typeset -r TMOUT=900",
];

fn compare(kind: Kind, profile: &str) {
    let Some(scene) = Scene::new(kind, profile) else {
        return;
    };
    let state = scene
        .script()
        .unwrap_or_else(|err| panic!("{err:?}: {profile}"));
    for probe in PROBES {
        scene.check(&state, probe);
    }
}

#[test]
fn a_state_of_bash_gives_what_a_login_shell_has() {
    for profile in PROFILES.iter().chain(BASH_PROFILES) {
        compare(Kind::Bash, profile);
    }
}

#[test]
fn a_state_of_zsh_gives_what_a_login_shell_has() {
    for profile in PROFILES.iter().chain(ZSH_PROFILES) {
        compare(Kind::Zsh, profile);
    }
}

/// A state of bash has more that scripts may notice.
#[test]
fn attributes_aliases_and_options_are_the_same() {
    for profile in BASH_PROFILES {
        let Some(scene) = Scene::new(Kind::Bash, profile) else {
            return;
        };
        let state = scene.script().unwrap();
        for probe in [
            "declare -p | grep -v -e 'BASH' -e 'SHLVL' -e PPID -e ' _='",
            "declare -F; declare -f; alias -p; trap -p",
            "shopt -p | grep -v login_shell",
            "greet ab; greet xyz",
        ] {
            scene.check(&state, probe);
        }
    }
}

/// The same for zsh.
#[test]
fn parameters_aliases_and_options_of_zsh_are_the_same() {
    for profile in ZSH_PROFILES {
        let Some(scene) = Scene::new(Kind::Zsh, profile) else {
            return;
        };
        let state = scene.script().unwrap();
        for probe in [
            "typeset -p | grep -v -e SHLVL -e PPID -e ' _=' -e RANDOM -e ZSH_ -e TTYIDLE -e SECONDS",
            "functions | grep -v undefined; alias -L; zmodload -L; setopt | grep -v login",
            "a='x y'; print -l $a; print ${path[1]}",
        ] {
            scene.check(&state, probe);
        }
    }
}

#[test]
fn what_cannot_be_handed_on_is_found() {
    for (profile, expected) in [
        ("trap 'echo bye' EXIT", Unusable::Traps),
        ("set -- a b", Unusable::Arguments),
        ("exec 5>/dev/null", Unusable::Descriptors),
        ("exec </dev/zero", Unusable::Descriptors),
        ("exec >/dev/null", Unusable::NotBegun),
        ("exit 3", Unusable::NotBegun),
        ("exec true", Unusable::NotBegun),
        (
            "for i in {1..90000}; do long+=1234567; done",
            Unusable::TooLarge,
        ),
    ] {
        for kind in [Kind::Bash, Kind::Zsh] {
            let Some(scene) = Scene::new(kind, profile) else {
                continue;
            };
            assert_eq!(scene.script(), Err(expected), "{kind:?} {profile}");
        }
    }
}

/// What a profile prints is not taken for its state.
#[test]
fn a_profile_cannot_forge_a_dump() {
    let dump = "printf 'mark\\0variables\\0declare -x A=1\\0mark'";
    let Some(scene) = Scene::new(Kind::Bash, dump) else {
        return;
    };
    let script = scene.script().unwrap();
    assert!(!script.contains("A=1"), "{script}");
    for (text, expected) in [
        ("", Unusable::NotBegun),
        ("mark\0options\0set -o a", Unusable::Unreadable),
        ("mark\0options\0rm -rf x\0mark", Unusable::Unreadable),
        ("mark\0variables\0rm -rf x\0mark", Unusable::Unreadable),
        ("mark\0aliases\0rm -rf x\0mark", Unusable::Unreadable),
        ("mark\0umask\x0022\0mark", Unusable::Unreadable),
        ("mark\0other\0x\0mark", Unusable::Unreadable),
    ] {
        let read = State::read(Kind::Bash, text.as_bytes(), "mark");
        assert_eq!(read, Err(expected), "{text:?}");
    }
}

#[test]
fn large_states_come_in_pieces() {
    let profile = "printf -v long %40000s x; long=${long// /äöü123}; short=1; last() { echo ok; }";
    for kind in [Kind::Bash, Kind::Zsh] {
        let Some(scene) = Scene::new(kind, profile) else {
            continue;
        };
        let state = scene.script().unwrap();
        assert!(state.len() > 300_000);
        scene.check(&state, "echo ${#long} $short; last; env | wc -c");
    }
}

#[test]
fn the_file_that_shells_read_is_mended() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("shims/shell/bash");
    Loader::prepare(Kind::Bash, home.path()).unwrap();
    let content = fs::read(&file).unwrap();
    fs::write(&file, "echo changed").unwrap();
    Loader::prepare(Kind::Bash, home.path()).unwrap();
    assert_eq!(fs::read(&file).unwrap(), content);
    let strange = home.path().join("a$(b)");
    assert!(Loader::prepare(Kind::Bash, &strange).is_err());
}
