//! What a turn tells the model before the user's words: permissions, instructions, environment.
//! Each is recorded only when it differs from what was last said.

use agent_context::{
    AgentsMdRequest, DeveloperInstructions, Environment, Network, Permissions, collect_agents_md,
    render,
};
use agent_sandbox::NetworkAccess;
use jiff::ZonedDateTime;

use super::Session;
use super::doc::DocReader;

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
            network: match &settings.sandbox.network {
                NetworkAccess::Off => Network::Off,
                NetworkAccess::On => Network::On,
                NetworkAccess::Hosts(list) => Network::Hosts(list.entries().collect()),
            },
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
        let reader = DocReader::new(&settings.sandbox);
        let found = collect_agents_md(&request, |path| reader.read(path));
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
