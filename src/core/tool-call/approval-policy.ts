import { z } from 'zod';
import { TimeoutMs } from '../timeout-ms.ts';
import type { ToolAddress } from './tool-names.ts';

const glob = z.string().min(1).default('*');

/**
 * What happens when the model calls a tool: `auto` runs the call at once, `ask` runs it after somebody has approved it,
 * `deny` refuses it. The model is not offered tools with the policy `deny`.
 */
export const ApprovalPolicy = z.enum(['auto', 'ask', 'deny']);
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

const ApprovalRule = z.strictObject({
  server: glob,
  tool: glob,
  policy: ApprovalPolicy,
  /** Clients connect the server while the service runs, so the agent file does not have it. */
  atRunTime: z.boolean().optional(),
});
export type ApprovalRule = z.infer<typeof ApprovalRule>;

/** Which tools the model may call by itself. `*` in a pattern stands for any characters, `?` for one. */
export const ApprovalConfig = z.strictObject({
  /** The first rule that matches decides. */
  rules: z.array(ApprovalRule).default([]),
  /** For tools that no rule matches. */
  default: ApprovalPolicy.default('auto'),
  /** How long a call waits for its approval. After that it is denied. Without this, it waits for ever. */
  expiresAfterMs: TimeoutMs.optional(),
});
export type ApprovalConfig = z.infer<typeof ApprovalConfig>;

/** The policy for calls of a tool. The first rule that matches decides. */
export function approvalPolicy(config: ApprovalConfig, { serverId, toolName }: ToolAddress): ApprovalPolicy {
  const rule = config.rules.find(
    ({ server, tool }) => matchesGlob(server, serverId) && matchesGlob(tool, toolName),
  );
  return rule?.policy ?? config.default;
}

/** `*` in a glob stands for any characters, `?` for one. */
export function matchesGlob(glob: string, text: string): boolean {
  const literal = glob.replaceAll(/[\\^$.+()|[\]{}]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'su').test(text);
}
