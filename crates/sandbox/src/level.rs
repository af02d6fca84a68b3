//! Which layers of the sandbox this machine grants, and why the others are missing.

use agent_protocol::SandboxLevel;
use serde::{Deserialize, Serialize};

/// The outcome of trying every layer for real.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelReport {
    /// How much of the policy is enforced. `None` under full access, where nothing is asked for.
    pub level: SandboxLevel,
    /// The layers that could not be had, with the reason.
    pub missing: Vec<MissingLayer>,
    /// The agent already runs inside a sandbox of ours, whose limits apply as well.
    pub inherited: bool,
    /// Commands have a network of their own, which holds their loopback interface only.
    pub own_network: bool,
    /// The version of Landlock's interface, 0 without Landlock.
    pub landlock_version: u32,
    /// Why no command is run, where none is.
    pub refusal: Option<LevelRefusal>,
}

/// What a policy needs and a machine does not grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelRefusal {
    /// Any sandbox at all.
    AnySandbox,
    /// A strict policy needs namespaces.
    Strict,
    /// A list of hosts needs a network namespace.
    HostList,
}

impl LevelRefusal {
    /// What to tell people, as a whole sentence without a full stop.
    pub fn reason(self) -> &'static str {
        match self {
            Self::AnySandbox | Self::Strict => {
                "this machine grants no sandbox at the level that the policy needs"
            }
            Self::HostList => {
                "`network` lists hosts, which needs namespaces, and this machine grants none; \
                 nothing less keeps commands to a list, so set it to \"off\" or \"on\" here"
            }
        }
    }
}

/// A layer that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingLayer {
    /// Which one.
    pub layer: Layer,
    /// What the kernel said.
    pub reason: String,
}

/// A part of the sandbox that a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// User, mount, pid, ipc and network namespaces with the mounts inside.
    Namespaces,
    /// A user namespace. The superuser has the other namespaces without one.
    UserNamespace,
    /// All ids of the machine, instead of the caller's alone.
    AllIds,
    /// A `/proc` that shows the command's own processes only.
    FreshProc,
    /// Landlock.
    Landlock,
    /// The filter of system calls.
    Seccomp,
    /// The sandbox of macOS, instead of all others.
    #[cfg(target_os = "macos")]
    Seatbelt,
}

impl Layer {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::UserNamespace => "user namespace",
            Self::AllIds => "all ids",
            Self::FreshProc => "fresh /proc",
            Self::Landlock => "Landlock",
            Self::Seccomp => "seccomp",
            #[cfg(target_os = "macos")]
            Self::Seatbelt => "Seatbelt",
        }
    }

    /// What its absence costs.
    pub fn cost(self) -> &'static str {
        match self {
            Self::Namespaces => {
                "protected paths are compared after each command and put back instead of being \
                 held; unix sockets cannot be connected to; nothing but the end of a command's \
                 descendants ends it"
            }
            Self::UserNamespace => "nothing where the superuser runs it; else all namespaces",
            Self::AllIds => "files of other owners cannot be changed inside, not even by root",
            Self::FreshProc => "processes of the container can be seen, not touched",
            Self::Landlock => "there is no second layer below the mounts",
            Self::Seccomp => "everything: commands are refused",
            #[cfg(target_os = "macos")]
            Self::Seatbelt => "everything: commands are refused",
        }
    }
}

impl LevelReport {
    /// A report without any layer.
    pub(crate) fn nothing() -> Self {
        Self {
            level: SandboxLevel::None,
            missing: Vec::new(),
            inherited: false,
            own_network: false,
            landlock_version: 0,
            refusal: None,
        }
    }

    /// Notes that a layer is missing.
    pub(crate) fn miss(&mut self, layer: Layer, reason: impl Into<String>) {
        let reason = reason.into();
        self.missing.push(MissingLayer { layer, reason });
    }

    /// Whether the layer was had.
    pub fn has(&self, layer: Layer) -> bool {
        self.missing.iter().all(|missing| missing.layer != layer)
    }

    /// The level that follows from the missing layers.
    #[cfg(target_os = "linux")]
    pub(crate) fn settle(&mut self) {
        self.level = match (self.has(Layer::Namespaces), self.has(Layer::Landlock)) {
            _ if !self.has(Layer::Seccomp) => SandboxLevel::None,
            (true, true) if self.has(Layer::FreshProc) => SandboxLevel::Full,
            (true, true) => SandboxLevel::FullWithoutFreshProc,
            (false, true) => SandboxLevel::NoNamespaces,
            (true, false) => SandboxLevel::NoLandlock,
            (false, false) => SandboxLevel::None,
        };
    }
}
