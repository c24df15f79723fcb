import { z } from 'zod';
import { AgentId } from '../../core/agent-description.ts';
import type { MaxBytes } from '../../core/size-limits.ts';
import type { Bus } from '../../ports/bus.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import type { AgentResponse, AgentsResponse, ReloadAgentResponse } from '../../wire/responses.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';
import { parseFields } from '../requests/request-fields.ts';

const AgentPath = z.object({ agentId: AgentId });

/** The agents of the service, and the one that a request is for. */
export function agentRoutes(bus: Bus, maxImageBytes: MaxBytes): Route[] {
  const limit = maxImageBytes === false ? {} : { maxImageBytes };
  return [
    {
      method: 'GET',
      path: '/api/agents',
      access: scopeOf('agent.list'),
      handler: async ({ context }) => {
        const agents = await bus.send('agent.list', {}, context);
        return jsonResponse<AgentsResponse>({ agents, timestamp: now() });
      },
    },
    {
      method: 'POST',
      path: '/api/agents/:agentId/reload',
      access: scopeOf('agent.reload'),
      handler: async ({ context }, at) => {
        const reload = await bus.send('agent.reload', parseFields(AgentPath, at), context);
        return jsonResponse<ReloadAgentResponse>({ ...reload, timestamp: now() });
      },
    },
    {
      method: 'GET',
      path: '/api/agent',
      access: scopeOf('agent.describe'),
      handler: async ({ context }) => {
        const agent = await bus.send('agent.describe', {}, context);
        return jsonResponse<AgentResponse>({ ...agent, ...limit, timestamp: now() });
      },
    },
  ];
}
