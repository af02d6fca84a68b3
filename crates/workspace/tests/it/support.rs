//! A workspace in a temporary directory, and patches applied to it the way the tool does.

use std::fs;
use std::path::{Path, PathBuf};

use agent_apply_patch as patch;
use agent_workspace::{ChangeKind, Committed, FileChange, Target, Workspace, WritableRoot};

/// A directory with a writable root `w` and an outside `o`.
pub(crate) struct Place {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) workspace: Workspace,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("w")).unwrap();
        fs::create_dir(directory.path().join("o")).unwrap();
        let workspace = workspace(&directory.path().join("w"));
        Self {
            directory,
            workspace,
        }
    }

    pub(crate) fn inside(&self, path: &str) -> PathBuf {
        self.directory.path().join("w").join(path)
    }

    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.directory.path().join("o").join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.inside(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(fs::read(self.inside(path)).unwrap()).unwrap()
    }

    pub(crate) fn target(&self, path: &str) -> Target {
        self.workspace.resolve(path).unwrap()
    }

    /// Applies a patch body; all errors come as their whole chain.
    pub(crate) fn apply(&self, body: &str) -> Result<String, String> {
        apply(&self.workspace, body)
    }

    pub(crate) fn commit(&self, changes: Vec<FileChange>) -> Result<Committed, String> {
        self.workspace.commit(changes).map_err(|err| chain(&err))
    }

    /// All files with their content; temporary ones too.
    pub(crate) fn tree(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        collect(&self.inside(""), "", &mut files);
        files.sort();
        files
    }
}

pub(crate) fn workspace(root: &Path) -> Workspace {
    let writable = WritableRoot {
        path: root.to_owned(),
        protected: Vec::new(),
    };
    Workspace::new(root.to_owned(), vec![writable], Vec::new())
}

pub(crate) fn apply(workspace: &Workspace, body: &str) -> Result<String, String> {
    let text = format!("*** Begin Patch\n{body}*** End Patch\n");
    let parsed = patch::parse(&text).map_err(|err| err.to_string())?;
    for path in parsed.paths() {
        workspace.resolve(path).map_err(|err| err.to_string())?;
    }
    let mut read = |path: &str| {
        let target = workspace.resolve(path).map_err(|err| err.to_string())?;
        workspace.read(&target).map_err(|err| err.to_string())
    };
    let plan = patch::plan(&parsed, &mut read).map_err(|err| err.to_string())?;
    let summary = patch::summary(&plan);
    let changes = plan.changes.into_iter();
    let changes = changes.map(|change| change_of(workspace, change)).collect();
    let committed = workspace.commit(changes).map_err(|err| chain(&err))?;
    let warnings = committed.warnings.iter();
    Ok(warnings.fold(summary, |text, warning| {
        format!("{text}warning: {warning}\n")
    }))
}

pub(crate) fn change_of(workspace: &Workspace, change: patch::PlannedChange) -> FileChange {
    let target = workspace.resolve(&change.path).unwrap();
    let kind = match change.kind {
        patch::ChangeKind::Add { after } => ChangeKind::Create { after },
        patch::ChangeKind::Delete { before } => ChangeKind::Delete { before },
        patch::ChangeKind::Update {
            before,
            after,
            move_to,
        } => ChangeKind::Update {
            before,
            after,
            move_to: move_to.map(|path| workspace.resolve(&path).unwrap()),
        },
    };
    FileChange { target, kind }
}

pub(crate) fn chain(err: &dyn std::error::Error) -> String {
    let mut text = err.to_string();
    let mut source = err.source();
    while let Some(err) = source {
        text.push_str(": ");
        text.push_str(&err.to_string());
        source = err.source();
    }
    text
}

fn collect(directory: &Path, prefix: &str, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            files.push((format!("{name}/"), String::new()));
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            let bytes = fs::read(entry.path()).unwrap_or_default();
            files.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}
