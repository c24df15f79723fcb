import { stringify } from 'yaml';
import type { LlmConfig } from '../../config/schema/llm-config.ts';
import { providers } from '../../model-http/provider/providers.ts';

export interface AgentChoice {
  readonly provider: LlmConfig['provider'];
  readonly model: string;
  /** Name of the environment variable that holds the key; null where none is needed. */
  readonly keyVariable: string | null;
  /** Set if the provider has no address of its own, or another one is used. */
  readonly baseURL?: string;
}

/** The usual variable for the key of the provider; null if the provider has no key. */
export function keyVariableOf(
  provider: AgentChoice['provider'],
): { readonly name: string; readonly isRequired: boolean } | null {
  if (provider === 'scripted') return null;
  const { keyVariable: name, keyRequired: isRequired } = providers[provider];
  return name === undefined ? null : { name, isRequired };
}

export function needsAddress(provider: AgentChoice['provider']): boolean {
  return provider !== 'scripted' && providers[provider].baseURL === undefined;
}

/** The shell command that starts the agent. */
export function startCommand(file: string, { keyVariable }: AgentChoice): string {
  const key = keyVariable === null ? '' : `${keyVariable}=… `;
  return `${key}npx agent-service --agent ${file}`;
}

/** The agent file: the choices, and other settings as comments. */
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
  # timeoutMs: 300000       # longest silence of the provider

# The tools of the agent: MCP servers, as processes of this machine or over HTTP.
mcpServers:
  # A few tools to try the agent with. The command agent-service is the service itself.
  everything: {type: stdio, command: agent-service, args: [example-tools]}
  # files: {type: stdio, command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", /tmp]}
  # other: {type: http, baseUrl: "http://127.0.0.1:3002/mcp"}

# Which tools the model may call by itself (auto), which need a person's approval (ask), which it never gets (deny).
approval:
  # rules:
  #   - {server: files, tool: "*", policy: ask}
  default: auto

# server:
#   port: 3001
#   dataDir: ./.agent-service
#   allowedHosts: [agent.example.com]   # names besides localhost by which the service is reached
`;
}

/** A YAML scalar with its dollar signs escaped. */
function literal(text: string): string {
  return stringify(text.replaceAll('$', '$$$$'), { lineWidth: 0 }).trimEnd();
}
