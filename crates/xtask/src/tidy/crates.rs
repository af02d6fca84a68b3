//! The rows of crates. A crate depends only on lower rows; rows 1 and 2 are pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use serde::Deserialize;

/// The rows, lowest first (docs/ARCHITECTURE.md). `config` and `rollout` stand here although
/// their features come from one concern each.
const ROWS: &[&[&str]] = &[
    &["agent-protocol"],
    &["agent-apply-patch", "agent-context", "agent-terminal-text"],
    &[
        "agent-config",
        "agent-model",
        "agent-process",
        "agent-rollout",
        "agent-sandbox",
        "agent-workspace",
    ],
    &["agent-core"],
    &["agent-tools"],
    &["agent-exec", "agent-tui"],
    &["agent-cli"],
];

/// Crates for development. Product crates may use them in tests only, they each other at will.
const DEV: &[&str] = &["agent-test-support", "agent-xtask"];

/// Crates that may use `anyhow`.
const MAY_USE_ANYHOW: &[&str] = &["agent-cli", "agent-xtask"];

/// Licences that packages may have.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// What a pure crate must not reach, however far down.
const IMPURE: &[&str] = &["tokio", "reqwest", "nix", "cap-std", "jiff"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    license: Option<String>,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    doctest: bool,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<NodeDep>,
}

#[derive(Deserialize)]
struct NodeDep {
    pkg: String,
    dep_kinds: Vec<DepKind>,
}

#[derive(Deserialize)]
struct DepKind {
    kind: Option<String>,
}

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let metadata = metadata(root)?;
    let members: BTreeSet<&str> = metadata
        .workspace_members
        .iter()
        .map(String::as_str)
        .collect();
    let ours = metadata
        .packages
        .iter()
        .filter(|package| members.contains(package.id.as_str()));
    let mut problems = Vec::new();
    for package in ours {
        check_package(package, &mut problems);
    }
    check_purity(&metadata, &mut problems);
    for package in &metadata.packages {
        check_licence(package, &mut problems);
    }
    Ok(problems)
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo is asked about this repository; nothing of the product runs here"
)]
fn metadata(root: &Path) -> anyhow::Result<Metadata> {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        // Of other platforms' dependencies nothing need be there.
        .args(["--filter-platform", &platform])
        .current_dir(root)
        .output()
        .context("cannot run `cargo metadata`")?;
    anyhow::ensure!(
        output.status.success(),
        "`cargo metadata` failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).context("cannot read the output of `cargo metadata`")
}

fn row(name: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&name))
}

fn check_package(package: &Package, problems: &mut Vec<String>) {
    let name = package.name.as_str();
    let own_row = row(name);
    if own_row.is_none() && !DEV.contains(&name) {
        problems.push(format!(
            "{name}: has no row; add it to docs/ARCHITECTURE.md and to tidy"
        ));
    }
    for dependency in &package.dependencies {
        let is_dev = dependency.kind.as_deref() == Some("dev");
        let other = dependency.name.as_str();
        if is_dev {
            continue;
        }
        if other == "anyhow" && !MAY_USE_ANYHOW.contains(&name) {
            problems.push(format!("{name}: only {MAY_USE_ANYHOW:?} may use `anyhow`"));
        }
        if DEV.contains(&other) && !DEV.contains(&name) {
            problems.push(format!("{name}: `{other}` is for tests only"));
        }
        if let (Some(own), Some(row)) = (own_row, row(other))
            && row >= own
        {
            problems.push(format!(
                "{name} (row {}) may not depend on {other} (row {})",
                own + 1,
                row + 1
            ));
        }
    }
    let is_lib = |target: &&Target| target.kind.iter().any(|kind| kind == "lib");
    if package.targets.iter().filter(is_lib).any(|lib| lib.doctest) {
        problems.push(format!("{name}: set `doctest = false` in [lib]"));
    }
}

/// Every package must be usable under one of the licences; `OR` and `/` leave the choice, of
/// `AND` all must do (SPDX licence expressions).
fn check_licence(package: &Package, problems: &mut Vec<String>) {
    let expression = package.license.as_deref().unwrap_or("none");
    let is_allowed = |term: &str| {
        let term = term.trim().trim_matches(['(', ')']);
        LICENCES.contains(&term)
    };
    let mut choices = expression.split(" OR ").flat_map(|part| part.split('/'));
    if !choices.any(|choice| choice.split(" AND ").all(is_allowed)) {
        problems.push(format!("{}: its licence is `{expression}`", package.name));
    }
}

/// Follows the dependencies of rows 1 and 2 down to the ground.
fn check_purity(metadata: &Metadata, problems: &mut Vec<String>) {
    let names: BTreeMap<&str, &str> = metadata
        .packages
        .iter()
        .map(|package| (package.id.as_str(), package.name.as_str()))
        .collect();
    let nodes: BTreeMap<&str, &Node> = metadata
        .resolve
        .nodes
        .iter()
        .map(|node| (node.id.as_str(), node))
        .collect();
    for (id, name) in &names {
        if row(name).is_none_or(|row| row > 1) {
            continue;
        }
        let mut seen = BTreeSet::new();
        let mut open = vec![*id];
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(impure) = names.get(id).filter(|name| IMPURE.contains(name)) {
                problems.push(format!("{name}: is pure and must not reach `{impure}`"));
            }
            let deps = nodes.get(id).into_iter().flat_map(|node| &node.deps);
            let normal = deps.filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind.is_none()));
            open.extend(normal.map(|dep| dep.pkg.as_str()));
        }
    }
}
