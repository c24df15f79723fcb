import { stringify } from 'yaml';
import type { LlmConfig } from '../../config/schema/llm-config.ts';
import { providers } from '../../model-http/provider/providers.ts';

export interface AgentChoice {
  readonly provider: LlmConfig['provider'];
  readonly model: string;
  /** Name of the environment variable that holds the key; null where none is needed. */
  readonly keyVariable: string | null;
  /** Where the provider has no address of its own, or another is wanted. */
  readonly baseURL?: string;
}

/** The variable that the provider's users have set already; null where no key is needed. */
export function usualKeyVariable(provider: AgentChoice['provider']): string | null {
  if (provider === 'scripted') return null;
  const { keyVariable, keyRequired } = providers[provider];
  return keyRequired ? (keyVariable ?? null) : null;
}

export function needsAddress(provider: AgentChoice['provider']): boolean {
  return provider !== 'scripted' && providers[provider].baseURL === undefined;
}

/** How the agent is started, in a shell. */
export function startCommand(file: string, { keyVariable }: AgentChoice): string {
  const key = keyVariable === null ? '' : `${keyVariable}=… `;
  return `${key}npx agent-service --agent ${file}`;
}

/** The agent file: what was chosen, and what else can be said, as comments. */
export function agentFileText(file: string, choice: AgentChoice): string {
  const { provider, model, keyVariable, baseURL } = choice;
  const llm = [
    `  provider: ${provider}`,
    `  model: ${literal(model)}`,
    ...(keyVariable === null ? [] : [`  apiKey: $${keyVariable}`]),
    ...(baseURL === undefined ? [] : [`  baseURL: ${literal(baseURL)}`]),
  ];
  return `# An agent of agent-service. Start it, and talk to it in a second terminal:
#
#   ${startCommand(file, choice)}
#   npx agent-service chat
#
# $NAME, \${NAME} and \${NAME:-default} are read from the environment, which is the place for secrets;
# $$ is a dollar sign. docs/agent-file.md describes every key.
version: "1.0"
systemPrompt: |
  You are a friendly assistant. Answer briefly and in plain words.
  Use the tools when they help, and say what they told you.

llm:
${llm.join('\n')}
  # temperature: 0.2
  # maxSteps: 25            # model calls in one turn
  # timeoutMs: 60000        # longest silence of the provider

# What the agent can do: MCP servers, as processes of their own or elsewhere.
mcpServers:
  # A server with a tool for every feature of the protocol; it comes with the package.
  everything: {type: stdio, command: mcp-server-everything, args: [stdio]}
  # files: {type: stdio, command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", /tmp]}
  # other: {type: http, baseUrl: "http://127.0.0.1:3002/mcp"}

# Which tools the model may call by itself (auto), which need a person's yes (ask), which it never gets (deny).
approval:
  # rules:
  #   - {server: files, tool: "write_*", policy: ask}
  default: auto

# server:
#   port: 3001
#   dataDir: ./.agent-service
#   allowedHosts: [agent.example.com]   # names besides localhost by which the service is reached
`;
}

/** As YAML, with dollar signs that are no variables. */
function literal(text: string): string {
  return stringify(text.replaceAll('$', '$$$$'), { lineWidth: 0 }).trimEnd();
}
