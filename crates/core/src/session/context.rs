//! What a turn tells the model before the user's words: permissions, instructions, environment.
//! Each is recorded only when it differs from what was last said.

use std::fs;
use std::io;
use std::path::Path;

use agent_context::{
    AgentsMdRequest, DeveloperInstructions, DocRead, Environment, Permissions, collect_agents_md,
    render,
};
use jiff::ZonedDateTime;

use super::Session;

/// No instruction file is read beyond this, in bytes; the budget cuts much earlier.
const MAX_FILE_BYTES: u64 = 4 << 20;

impl Session {
    /// Records what has changed of the context since it was last told.
    pub(crate) async fn record_context(&mut self) {
        if self.settings.config.include_permissions_instructions {
            let permissions = self.permissions();
            self.record_fragment(&render(&permissions)).await;
        }
        if let Some(text) = self.settings.developer_instructions.clone() {
            self.record_fragment(&render(&DeveloperInstructions { text }))
                .await;
        }
        self.record_agents_md().await;
        if self.settings.config.include_environment_context {
            let environment = self.describe_environment();
            self.record_fragment(&render(&environment)).await;
        }
    }

    fn permissions(&self) -> Permissions {
        let settings = &self.settings;
        Permissions {
            sandbox_mode: settings.sandbox_mode,
            writable_roots: settings.sandbox.writable_roots.clone(),
            network_access: settings.sandbox.network == agent_sandbox::NetworkAccess::On,
            approval_policy: settings.approval_policy,
            interactive: settings.interactive,
        }
    }

    async fn record_agents_md(&mut self) {
        let settings = &self.settings;
        let request = AgentsMdRequest {
            home: Some(&settings.sandbox.agent_home),
            directories: &settings.project.directories,
            fallback_names: &settings.config.project_doc_fallback_filenames,
            max_bytes: settings.config.project_doc_max_bytes,
        };
        let found = collect_agents_md(&request, read_doc);
        for warning in &found.warnings {
            self.sink.warn(warning).await;
        }
        if !found.is_empty() {
            self.record_fragment(&render(&found)).await;
        }
    }

    fn describe_environment(&self) -> Environment {
        let now = ZonedDateTime::now();
        let shell = self.settings.shell.file_name().unwrap_or_default();
        Environment {
            cwd: self.settings.cwd.clone(),
            shell: shell.to_string_lossy().into_owned(),
            current_date: now.date().to_string(),
            timezone: now.time_zone().iana_name().unwrap_or("UTC").to_owned(),
        }
    }
}

/// Reads one instruction file. A directory or device of that name is no instruction.
fn read_doc(path: &Path) -> DocRead {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(err) if is_missing(&err) => return DocRead::Missing,
        Err(err) => return DocRead::Unreadable(err.to_string()),
    };
    if !metadata.is_file() {
        return DocRead::Missing;
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| {
        io::Read::read_to_end(&mut io::Read::take(file, MAX_FILE_BYTES), &mut bytes)
    });
    match read {
        Ok(_) => DocRead::Text(String::from_utf8_lossy(&bytes).into_owned()),
        Err(err) => DocRead::Unreadable(err.to_string()),
    }
}

fn is_missing(err: &io::Error) -> bool {
    matches!(
        err.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
