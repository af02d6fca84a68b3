//! Configuration: the file `$AGENT_HOME/config.toml`, overrides from the command line, defaults.
//!
//! Text goes in, a [`Config`] and a list of warnings come out. A value of the wrong type is an
//! error that names file, line and column; an unknown key is a warning that names the nearest
//! key that exists. What the settings do is not known here.

mod file;
mod keys;
mod layer;
mod read;
mod settings;
mod store;

pub use file::read_regular;
pub use layer::{ConfigError, Layer, Override, Place};
pub use read::{Loaded, load};
pub use settings::{
    Config, NetworkSetting, ProviderConfig, ShellEnvironment, ShellInherit, TrustLevel, TuiConfig,
    WireApi, WorkspaceWrite,
};
pub use store::{StoreError, store_switch, store_text, store_trust};
