import type { Settings } from '../config/settings.ts';
import { agentPathPrefix } from '../gateway/agents/agent-choice.ts';
import type { InspectFront } from '../gateway/console/inspect-front.ts';
import type { ResponsesFront } from '../gateway/openai/socket/responses-front.ts';
import type { ClientAddress } from '../gateway/security/client-address.ts';
import type { OriginPolicy } from '../gateway/security/origin-policy.ts';
import type { WebSocketFront } from '../gateway/websocket/websocket-front.ts';
import type { SocketFront } from '../ports/web-server.ts';
import type { ClientAccess } from './access/client-access.ts';
import type { Agent } from './agent.ts';
import type { AgentHost } from './agents/hosted-agents.ts';

export interface SocketDeps {
  readonly host: AgentHost;
  readonly settings: Pick<Settings, 'mode' | 'inspect' | 'inspectToken'>;
  readonly clients: ClientAccess | undefined;
  readonly clientAddress: ClientAddress;
  readonly originPolicy: OriginPolicy;
  readonly webSocket: WebSocketFront;
  readonly responses: ResponsesFront;
}

/** What WebSockets connect to, by path. Each of several agents also has paths of its own. */
export async function socketFronts({
  webSocket,
  responses,
  ...deps
}: SocketDeps): Promise<Record<string, SocketFront>> {
  const { host, settings } = deps;
  const fronts: Record<string, SocketFront> = {};
  for (const [prefix, agent] of agentsByPrefix(host)) {
    if (settings.mode === 'web') {
      fronts[`${prefix}/`] = webSocket;
      if (prefix !== '') fronts[prefix] = webSocket;
      fronts[`${prefix}/v1/responses`] = responses;
    }
    if (settings.inspect) fronts[`${prefix}/inspect`] = await inspectFront(agent, deps);
  }
  return fronts;
}

/** The agents by what their paths begin with. The first one has the paths without a prefix; each of several has its own. */
function agentsByPrefix({ first, agents }: AgentHost): (readonly [prefix: string, agent: Agent])[] {
  const several = agents.size === 1 ? [] : [...agents];
  return [['', first], ...several.map(([id, agent]) => [agentPathPrefix(id), agent] as const)];
}

/** Loads the inspector only when it is switched on. */
async function inspectFront(
  { machines }: Agent,
  { settings, originPolicy, clients, clientAddress }: Omit<SocketDeps, 'webSocket' | 'responses'>,
): Promise<InspectFront> {
  const { inspect, inspectToken: token } = settings;
  const { machineInspector } = await import('./inspector.ts');
  const { InspectFront } = await import('../gateway/console/inspect-front.ts');
  const attach = machineInspector(machines, { showContent: inspect === 'content' });
  return new InspectFront({ originPolicy, token, clients: clients && { ...clients, clientAddress }, attach });
}
