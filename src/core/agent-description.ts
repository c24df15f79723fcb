import { z } from 'zod';
import { ApprovalPolicy } from './tool-call/approval-policy.ts';

/** Tells the contents of an agent file apart: the first 12 hexadecimal digits of the SHA-256 of its text. */
export const AgentVersion = z.string();
export type AgentVersion = z.infer<typeof AgentVersion>;

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
