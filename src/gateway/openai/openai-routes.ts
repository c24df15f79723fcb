import type { MaxBytes } from '../../core/size-limits.ts';
import type { Bus } from '../../ports/bus.ts';
import { REQUEST_SCOPES } from '../../ports/request-scopes.ts';
import type { ErrorFormat } from '../http/http-front.ts';
import type { Route } from '../http/router.ts';

/**
 * OpenAI's interface, for clients that know it: the agents are the models. The code of an operation is loaded by its first
 * request.
 */
export function openAiRoutes(bus: Bus, maxImageBytes: MaxBytes): Route[] {
  const models = () => import('./models.ts');
  const chat = () => import('./chat/chat-completions.ts');
  return [
    {
      method: 'GET',
      path: '/v1/models',
      access: REQUEST_SCOPES['agent.list'],
      handler: async (request) => (await models()).listModels(bus, request),
    },
    {
      method: 'GET',
      path: '/v1/models/:model',
      access: REQUEST_SCOPES['agent.list'],
      handler: async (request, { model = '' }) => (await models()).showModel(bus, request, model),
    },
    {
      method: 'POST',
      path: '/v1/chat/completions',
      access: REQUEST_SCOPES['turn.start'],
      mayStream: 'by-body',
      handler: async (request) => (await chat()).chatCompletions(bus, request, maxImageBytes),
    },
  ];
}

export const openAiErrors: ErrorFormat = {
  prefix: '/v1/',
  respond: async (error) => (await import('./openai-error.ts')).openAiErrorResponse(error),
};
