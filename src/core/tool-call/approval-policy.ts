import { z } from 'zod';
import type { ToolAddress } from './tool-names.ts';

const glob = z.string().min(1).default('*');

/** `auto` runs a call at once, `ask` when somebody has approved it, `deny` never: the model is not even offered the tool. */
export const ApprovalPolicy = z.enum(['auto', 'ask', 'deny']);
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

/** What the model may do by itself. `*` in a pattern stands for any characters, `?` for one. */
export const ApprovalConfig = z.strictObject({
  /** The first rule that matches decides. */
  rules: z.array(z.strictObject({ server: glob, tool: glob, policy: ApprovalPolicy })).default([]),
  /** For tools that no rule matches. */
  default: ApprovalPolicy.default('auto'),
});
export type ApprovalConfig = z.infer<typeof ApprovalConfig>;

/** What the agent file says about calls of a tool: the first rule that matches decides. */
export function approvalPolicy(config: ApprovalConfig, { serverId, toolName }: ToolAddress): ApprovalPolicy {
  const rule = config.rules.find(({ server, tool }) => matches(server, serverId) && matches(tool, toolName));
  return rule?.policy ?? config.default;
}

function matches(glob: string, text: string): boolean {
  const literal = glob.replaceAll(/[\\^$.+()|[\]{}]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'su').test(text);
}
