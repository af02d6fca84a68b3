// Drives the binary by the public SDK: run, run again on the same thread, a streamed run.
// Arguments: binary, base URL of the scripted server, workspace, agent home, user home.
import { Codex } from "@openai/codex-sdk";

const [binary, baseUrl, workspace, agentHome, userHome] = process.argv.slice(2);
const codex = new Codex({
  codexPathOverride: binary,
  baseUrl,
  apiKey: "sdk-key",
  env: {
    AGENT_HOME: agentHome,
    HOME: userHome,
    PATH: process.env.PATH,
    SHELL: "/bin/sh",
  },
  // The workspace's own configuration names another provider.
  config: { model_provider: "openai" },
});

const thread = codex.startThread({
  workingDirectory: workspace,
  skipGitRepoCheck: true,
  sandboxMode: "workspace-write",
});
console.log(`first: ${(await thread.run("hi")).finalResponse}`);
console.log(`second: ${(await thread.run("again")).finalResponse}`);

const { events } = await codex
  .startThread({ workingDirectory: workspace, skipGitRepoCheck: true })
  .runStreamed("run a command");
const kinds = [];
let output = "";
for await (const event of events) {
  kinds.push(event.type);
  if (event.type === "item.completed" && event.item.type === "command_execution") {
    output = event.item.aggregated_output.trim();
  }
}
console.log(`events: ${kinds.join(" ")}`);
console.log(`streamed: ${output}`);
