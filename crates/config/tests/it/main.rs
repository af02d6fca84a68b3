//! What people write into configurations, and what they are told of it.

use std::path::Path;

use agent_config::{Config, Layer, NetworkSetting, Override, TrustLevel, WireApi, load};
use agent_protocol::{ApprovalPolicy, SandboxMode};
use expect_test::{Expect, expect};

const HOME: &str = "/home/u/.agent";

fn read(text: &str, overrides: &[&str]) -> Result<(Config, Vec<String>), String> {
    let overrides: Result<Vec<_>, _> = overrides.iter().map(|text| Override::parse(text)).collect();
    let loaded = Layer::from_text(Path::new("config.toml"), text)
        .and_then(|layer| load(layer, None, &overrides?, Path::new(HOME)))
        .map_err(|err| err.to_string())?;
    Ok((loaded.config, loaded.warnings))
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "as `expect!` is used")]
fn check(text: &str, overrides: &[&str], expected: Expect) {
    let said = match read(text, overrides) {
        Ok((_, warnings)) => warnings.join("\n"),
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&said);
}

#[test]
fn unknown_keys_are_warned_with_the_nearest_one() {
    check(
        "modle = \"x\"\n[sandbx]\na = 1\n[model_providers.p]\nbase_url = \"u\"\nbase_ulr = \"u\"\n",
        &[],
        expect![[r#"
            config.toml:1:1: unknown key `modle`; did you mean `model`?
            config.toml:2:2: unknown key `sandbx`; did you mean `sandbox_mode`?
            config.toml:6:1: unknown key `model_providers.p.base_ulr`; did you mean `model_providers.p.base_url`?"#]],
    );
}

#[test]
fn broken_toml_names_the_place() {
    check(
        "model = \"a\"\nmodel_provider = [\n",
        &[],
        expect!["error: config.toml:2:19: unclosed array, expected `]`"],
    );
}

#[test]
fn wrong_types_name_the_place_and_what_is_wanted() {
    check(
        "model = 3\n",
        &[],
        expect![[
            r#"error: config.toml:1:9: `model` must be text in quotes, not a value of type integer"#
        ]],
    );
    check(
        "[sandbox_workspace_write]\nnetwork_access = \"yes\"\n",
        &[],
        expect![[
            r#"error: config.toml:2:18: `sandbox_workspace_write.network_access` must be `true` or `false`, not `yes`"#
        ]],
    );
    check(
        "",
        &["sandbox_mode=everything"],
        expect![[
            r#"error: -c sandbox_mode=everything: `sandbox_mode` must be one of `read-only`, `workspace-write`, `danger-full-access`, not `everything`"#
        ]],
    );
    check(
        "",
        &["model"],
        expect![[
            r#"error: -c model: an override is written `KEY=VALUE`, for example `-c model="gpt-5.5"`"#
        ]],
    );
}

#[test]
fn keys_of_later_features_are_accepted() {
    check(
        "[mcp_servers.x]\ncommand = \"y\"\n[tui]\ntheme = \"z\"\n[features]\ngoals = false\n",
        &["web_search=\"live\""],
        expect![[""]],
    );
}

#[test]
fn overrides_win_and_take_plain_words_as_text() {
    let (config, warnings) = read(
        "model = \"a\"\napproval_policy = \"never\"\n",
        &[
            "model=b-2.5",
            "approval_policy=\"on-request\"",
            "sandbox_workspace_write.network_access=true",
            "openai_base_url=\"http://127.0.0.1:1/v1\"",
        ],
    )
    .unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(config.model.as_deref(), Some("b-2.5"));
    assert_eq!(config.approval_policy, Some(ApprovalPolicy::OnRequest));
    assert_eq!(config.workspace_write.network_access, Some(true));
    assert_eq!(config.network, None);
    let openai = &config.model_providers["openai"];
    assert_eq!(openai.base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
    assert_eq!(openai.wire_api, WireApi::Responses);
}

#[test]
fn the_network_is_a_word_or_a_list() {
    let network = |text: &str, overrides: &[&str]| read(text, overrides).unwrap().0.network;
    let hosts = |entry: &str| Some(NetworkSetting::Hosts(vec![entry.to_owned()]));
    assert_eq!(network("", &[]), None);
    assert_eq!(
        network("network = \"off\"\n", &[]),
        Some(NetworkSetting::Off)
    );
    assert_eq!(network("", &["network=on"]), Some(NetworkSetting::On));
    let file = "network = [\"a.org\"]\n";
    assert_eq!(network(file, &[]), hosts("a.org"));
    assert_eq!(network(file, &["network=[\"b.org:1\"]"]), hosts("b.org:1"));
    for wrong in ["true", "\"all\"", "[1]", "{ a = 1 }"] {
        let said = read(&format!("network = {wrong}\n"), &[]).unwrap_err();
        let right =
            "must be `\"off\"`, `\"on\"` or a list of hosts such as `[\"example.org\"]`, not ";
        let right = format!("config.toml:1:11: `network` {right}");
        assert!(said.starts_with(&right), "{said}");
    }
}

#[test]
fn an_override_extends_a_table_of_the_file() {
    let (config, _) = read(
        "[model_providers.p]\nname = \"P\"\nbase_url = \"u\"\n",
        &["model_providers.p.stream_max_retries=7"],
    )
    .unwrap();
    let provider = &config.model_providers["p"];
    assert_eq!(provider.name, "P");
    assert_eq!(provider.stream_max_retries, Some(7));
}

#[test]
fn a_provider_needs_an_address() {
    check(
        "[model_providers.p]\nname = \"P\"\n",
        &[],
        expect![[
            r#"error: `model_providers.p.base_url`: is missing; set it to the address of the server"#
        ]],
    );
}

#[test]
fn trust_is_looked_up_for_the_directory_and_then_its_roots() {
    let (config, _) = read(
        "[projects.\"/p\"]\ntrust_level = \"trusted\"\n[projects.\"/p/x\"]\ntrust_level = \"untrusted\"\n",
        &[],
    )
    .unwrap();
    let root = Path::new("/p");
    assert_eq!(
        config.trust(Path::new("/p/y"), &[root]),
        Some(TrustLevel::Trusted)
    );
    assert_eq!(
        config.trust(Path::new("/p/x"), &[root]),
        Some(TrustLevel::Untrusted)
    );
    assert_eq!(config.trust(Path::new("/q"), &[]), None);
}

#[test]
fn paths_are_meant_from_the_home() {
    let (config, _) = read(
        "sandbox_mode = \"read-only\"\ndeny_read = [\"/etc/x\", \"y\"]\n",
        &[],
    )
    .unwrap();
    assert_eq!(config.sandbox_mode, Some(SandboxMode::ReadOnly));
    assert_eq!(
        config.deny_read,
        [Path::new("/etc/x"), &Path::new(HOME).join("y")]
    );
}

#[test]
fn a_profile_lies_between_the_file_and_the_overrides() {
    let home = tempfile::tempdir().unwrap();
    let text = "model = \"a\"\nmodel_verbosity = \"low\"\n\
        [profiles.deep]\nmodel = \"b\"\nmodel_reasoning_effort = \"high\"\nmodl = 1\n";
    let read = |profile: Option<&str>, overrides: &[Override]| {
        let layer = Layer::from_text(Path::new("config.toml"), text).unwrap();
        load(layer, profile, overrides, home.path())
    };
    let config = read(Some("deep"), &[]).unwrap();
    assert_eq!(
        config.warnings,
        ["config.toml:6:1: unknown key `profiles.deep.modl`; did you mean `profiles.deep.model`?"]
    );
    assert_eq!(config.config.model.as_deref(), Some("b"));
    assert_eq!(config.config.model_verbosity.as_deref(), Some("low"));
    assert_eq!(
        config.config.model_reasoning_effort.as_deref(),
        Some("high")
    );
    let model = Override::parse("model=c").unwrap();
    let config = read(Some("deep"), &[model]).unwrap().config;
    assert_eq!(config.model.as_deref(), Some("c"));

    let file = home.path().join("deep.config.toml");
    std::fs::write(&file, "model = \"d\"\n").unwrap();
    let config = read(Some("deep"), &[]).unwrap().config;
    assert_eq!(config.model.as_deref(), Some("d"));
    assert_eq!(config.model_reasoning_effort.as_deref(), Some("high"));
    assert_eq!(read(None, &[]).unwrap().config.model.as_deref(), Some("a"));
    let missing = read(Some("../deep"), &[]).unwrap_err().to_string();
    assert!(
        missing.contains("there is no profile `../deep`"),
        "{missing}"
    );
}
