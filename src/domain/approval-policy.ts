import type { ApprovalConfig, ApprovalPolicy } from '../contract/agent-config.ts';
import type { ToolAddress } from './tool-names.ts';

/** What the agent file says about calls of a tool: the first rule that matches decides. */
export function approvalPolicy(config: ApprovalConfig, { serverId, toolName }: ToolAddress): ApprovalPolicy {
  const rule = config.rules.find(({ server, tool }) => matches(server, serverId) && matches(tool, toolName));
  return rule?.policy ?? config.default;
}

function matches(glob: string, text: string): boolean {
  const literal = glob.replaceAll(/[\\^$.+()|[\]{}]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'su').test(text);
}
