import { z } from 'zod';
import { AgentVersion } from './agent-description.ts';

/** A node of a cluster, for clients. */
export const NodeListItem = z.object({
  nodeId: z.int().describe('Of one start of one process; never used again.'),
  isThis: z.boolean().describe('Whether this node answered.'),
  name: z.string().describe('The host and the process.'),
  address: z.string().optional().describe('Where it listens, as `host:port`.'),
  version: z.string().describe('Of agent-service.'),
  since: z.iso.datetime().describe('When it joined the cluster.'),
  leaseMs: z
    .int()
    .describe(
      'How long its lease lasted when it was read last, in milliseconds. It is renewed while the node lives.',
    ),
  isDraining: z.boolean().describe('Whether it is stopping: it gives its sessions to other nodes.'),
  sessions: z.int().describe('Sessions in its memory.'),
  turns: z.int().describe('Open turns in them.'),
  waiting: z.int().describe('Messages that wait behind those turns.'),
  agents: z
    .record(z.string(), AgentVersion)
    .optional()
    .describe('The version of each agent that turns begin with there, by `agentId`.'),
});
export type NodeListItem = z.infer<typeof NodeListItem>;
