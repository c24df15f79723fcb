import type { AgentId } from '../core/agent-description.ts';
import { agentPathPrefix } from '../gateway/agents/agent-choice.ts';
import { CALLBACK_PATH } from '../gateway/routes/oauth-callback-route.ts';

/** Where authorization servers send browsers back to. @param agentId of one of several agents. */
export function callbackUrl(base: string, agentId?: AgentId): string {
  const prefix = agentId === undefined ? '' : agentPathPrefix(agentId);
  return `${base.replace(/\/+$/, '')}${prefix}${CALLBACK_PATH}`;
}

/** The name that browsers use must be allowed, or the answer would be refused. */
export function publicHost(publicUrl: string | undefined): string[] {
  return publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
}
