import { z } from 'zod';
import type { AgentListItem } from '../../core/agent-description.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from '../http/http-message.ts';
import { agentNamed, agentsFor } from './chosen-agent.ts';

/** An agent, as OpenAI's interface shows a model. */
export const OpenAiModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('When this process began, in Unix seconds.'),
  owned_by: z.string(),
});
export type OpenAiModel = z.infer<typeof OpenAiModel>;

export const OpenAiModels = z.object({ object: z.literal('list'), data: z.array(OpenAiModel) });
export type OpenAiModels = z.infer<typeof OpenAiModels>;

const created = Math.floor((Date.now() - performance.now()) / 1000);

export async function listModels(bus: Bus, request: ServedRequest): Promise<HttpResponse> {
  const data = (await agentsFor(bus, request)).map(modelOf);
  return jsonResponse<OpenAiModels>({ object: 'list', data });
}

export async function showModel(bus: Bus, request: ServedRequest, model: string): Promise<HttpResponse> {
  return jsonResponse<OpenAiModel>(modelOf(await agentNamed(bus, request, model)));
}

function modelOf({ agentId }: AgentListItem): OpenAiModel {
  return { id: agentId, object: 'model', created, owned_by: 'agent-service' };
}
