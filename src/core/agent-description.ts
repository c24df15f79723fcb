import { z } from 'zod';
import { ApprovalPolicy } from './tool-call/approval-policy.ts';

/** Tells the contents of an agent file apart: the first 12 hexadecimal digits of the SHA-256 of its text. */
export const AgentVersion = z.string();
export type AgentVersion = z.infer<typeof AgentVersion>;

/** Names an agent of a service: in paths, in requests and in the log. */
export const AgentId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'must be 1 to 64 characters of A-Z a-z 0-9 _ - and start with a letter or digit',
  );
export type AgentId = z.infer<typeof AgentId>;

/** The id of the agent of a service that has only one. */
export const ONLY_AGENT: AgentId = 'default';

/** What the agent is called. */
export const AgentIdentity = z.object({
  name: z.string().describe('The name of the agent; `agent-service` if the agent file has none.'),
  description: z.string().optional().describe('What the agent is for.'),
});
export type AgentIdentity = z.infer<typeof AgentIdentity>;

/** The agent as its users may see it. Holds no secret. */
export const AgentDescription = AgentIdentity.extend({
  model: z.object({ provider: z.string(), name: z.string() }),
  systemPrompt: z
    .string()
    .optional()
    .describe(
      'As in the agent file: variables are shown by their names. Absent for clients without the scope `config:read`.',
    ),
  tools: z
    .array(
      z.object({
        serverId: z.string(),
        name: z.string(),
        description: z.string(),
        policy: ApprovalPolicy.describe('What happens when the model calls the tool.'),
      }),
    )
    .describe('The tools of all connected servers.'),
  suggestions: z.array(z.string()).describe('Messages with which a conversation may begin.'),
});
export type AgentDescription = z.infer<typeof AgentDescription>;

/** One of the agents of a service. */
export const AgentListItem = AgentIdentity.extend({
  agentId: AgentId.describe(
    'What requests call it: `/agents/{agentId}/…`, `?agent=` or `agent` in the body.',
  ),
  isDefault: z.boolean().describe('Whether it answers the requests that name no agent.'),
  model: z.string().describe('The provider and the model, such as `openai gpt-5`.'),
  agentVersion: AgentVersion.describe(
    'The version of the agent file that turns begin with now. `turn.started` in the log has it, too.',
  ),
});
export type AgentListItem = z.infer<typeof AgentListItem>;

const serverNames = z.array(z.string()).readonly();

/** What came of reading an agent file again. */
export const AgentReload = z.object({
  status: z.enum(['reloaded', 'unchanged']),
  agentId: AgentId,
  agentVersion: AgentVersion,
  servers: z
    .object({ added: serverNames, changed: serverNames, removed: serverNames })
    .describe('The tool servers of the file that are other ones now.'),
  needRestart: z
    .array(z.string())
    .readonly()
    .describe(
      'Sections of the file that are others than at the start of the service, and count from its next start on.',
    ),
  notReloaded: z
    .array(
      z.object({
        nodeId: z.int(),
        name: z.string().describe('The host and the process.'),
        reason: z.string(),
      }),
    )
    .readonly()
    .optional()
    .describe(
      'In a cluster: the nodes that do not serve this version. Those that could not be reached are asked again until they answer.',
    ),
});
export type AgentReload = z.infer<typeof AgentReload>;
