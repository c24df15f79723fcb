import { redactText } from '../config/export/redact.ts';
import { shownText } from '../config/export/written-text.ts';
import type { AgentConfig } from '../config/schema/agent-config.ts';
import type { AgentDescription, AgentIdentity } from '../core/agent-description.ts';
import type { ToolCatalog } from '../runtime/tools/tool-catalog.ts';

export function agentIdentity({ name, description }: AgentConfig): AgentIdentity {
  return {
    name: redactText(name),
    ...(description !== undefined && { description: redactText(description) }),
  };
}

/**
 * The agent as its users may see it. The values of variables in the prompt may be secret, so the prompt is shown as
 * it was written.
 *
 * @param raw the agent file as written.
 */
export function describeAgent(
  config: AgentConfig,
  raw: Readonly<Record<string, unknown>>,
  catalog: ToolCatalog,
): AgentDescription {
  const { llm, suggestions } = config;
  const prompt = typeof raw.systemPrompt === 'string' ? raw.systemPrompt : config.systemPrompt;
  return {
    ...agentIdentity(config),
    model: { provider: llm.provider, name: llm.model },
    systemPrompt: shownText(prompt),
    tools: catalog.available().map(({ serverId, toolName, tool, policy }) => ({
      serverId,
      name: toolName,
      policy,
      description: tool.description,
    })),
    suggestions: suggestions.map(redactText),
  };
}
