import { z } from 'zod';
import type { AgentDescription, AgentIdentity } from '../../core/agent-description.ts';
import { Image } from '../../core/conversation/image.ts';
import { A2A_VERSION } from './a2a-version.ts';

const Skill = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  examples: z.array(z.string()).optional(),
});
type Skill = z.infer<typeof Skill>;

const SecurityScheme = z.union([
  z.object({ httpAuthSecurityScheme: z.object({ scheme: z.string(), description: z.string() }) }),
  z.object({ openIdConnectSecurityScheme: z.object({ openIdConnectUrl: z.string() }) }),
]);
export type SecurityScheme = z.infer<typeof SecurityScheme>;

/** Empty lists are there all the same, because clients of A2A read them. */
export const AgentCard = z.object({
  name: z.string(),
  description: z.string(),
  supportedInterfaces: z.array(
    z.object({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string() }),
  ),
  version: z.string(),
  capabilities: z.object({
    streaming: z.boolean(),
    pushNotifications: z.boolean(),
    extendedAgentCard: z.boolean(),
  }),
  securitySchemes: z.record(z.string(), SecurityScheme),
  securityRequirements: z.array(
    z.object({ schemes: z.record(z.string(), z.object({ list: z.array(z.string()) })) }),
  ),
  defaultInputModes: z.array(z.string()),
  defaultOutputModes: z.array(z.string()),
  skills: z.array(Skill),
});
export type AgentCard = z.infer<typeof AgentCard>;

export interface CardFacts {
  readonly identity: AgentIdentity;
  /** What only those may see who may use the agent. */
  readonly description?: AgentDescription;
  readonly version: string;
  /** Where the agent is, such as `https://example.com/agents/support`. */
  readonly base: string;
  /** Ways to authenticate, one of which is needed; none: everybody may use the agent. */
  readonly security: Readonly<Record<string, SecurityScheme>>;
}

export function agentCard({ identity, description, version, base, security }: CardFacts): AgentCard {
  const { name, description: purpose = `The agent ${name}.` } = identity;
  const url = `${base}/a2a`;
  const schemes = Object.keys(security);
  return {
    name,
    description: purpose,
    supportedInterfaces: ['JSONRPC', 'HTTP+JSON'].map((protocolBinding) => ({
      url,
      protocolBinding,
      protocolVersion: A2A_VERSION,
    })),
    version,
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: schemes.length > 0 },
    securitySchemes: security,
    securityRequirements: schemes.map((scheme) => ({ schemes: { [scheme]: { list: [] } } })),
    defaultInputModes: ['text/plain', 'application/json', ...Image.shape.mimeType.options],
    defaultOutputModes: ['text/plain'],
    skills: [conversation(identity, description), ...(description?.tools ?? []).map(toolSkill)],
  };
}

function conversation(
  { name, description = `The agent ${name}.` }: AgentIdentity,
  known?: AgentDescription,
): Skill {
  const examples = known?.suggestions ?? [];
  return {
    id: 'conversation',
    name,
    description,
    tags: ['conversation'],
    ...(examples.length > 0 && { examples }),
  };
}

function toolSkill({ serverId, name, description }: AgentDescription['tools'][number]): Skill {
  return { id: `${serverId}.${name}`, name, description, tags: ['tool', serverId] };
}
