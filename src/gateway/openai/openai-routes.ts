import type { MaxBytes } from '../../core/size-limits.ts';
import type { Bus } from '../../ports/bus.ts';
import { scopeOf, scopesOfAll } from '../../ports/request-rules.ts';
import type { ErrorFormat } from '../http/http-front.ts';
import type { Route } from '../http/router.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';

export interface OpenAiDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly maxImageBytes: MaxBytes;
}

/**
 * OpenAI's interface, for clients that know it: the agents are the models. The code of an operation is loaded by its first
 * request.
 */
export function openAiRoutes(deps: OpenAiDeps): Route[] {
  const { bus, maxImageBytes } = deps;
  const models = () => import('./models.ts');
  const chat = () => import('./chat/chat-completions.ts');
  const responses = () => import('./responses/responses.ts');
  return [
    ...conversationRoutes(deps),
    {
      method: 'GET',
      path: '/v1/models',
      access: scopeOf('agent.list'),
      handler: async (request) => (await models()).listModels(bus, request),
    },
    {
      method: 'GET',
      path: '/v1/models/:model',
      access: scopeOf('agent.list'),
      handler: async (request, { model = '' }) => (await models()).showModel(bus, request, model),
    },
    {
      method: 'POST',
      path: '/v1/chat/completions',
      takesImages: true,
      access: scopesOfAll('turn.start', 'session.events'),
      mayStream: true,
      handler: async (request) => (await chat()).chatCompletions(bus, request, maxImageBytes),
    },
    {
      method: 'POST',
      path: '/v1/responses',
      takesImages: true,
      access: scopesOfAll('turn.start', 'session.events'),
      mayStream: true,
      handler: async (request) => (await responses()).createResponse(deps, request),
    },
    {
      method: 'POST',
      path: '/v1/responses/compact',
      takesImages: true,
      access: scopesOfAll('turn.start', 'session.events'),
      waitsForTurn: true,
      handler: async (request) =>
        (await import('./responses/compaction.ts')).compactConversation(deps, request),
    },
    {
      method: 'GET',
      path: '/v1/responses/:responseId',
      access: scopeOf('session.events'),
      mayStream: true,
      handler: async (request, { responseId = '' }) =>
        (await responses()).retrieveResponse(deps, request, responseId),
    },
    {
      method: 'DELETE',
      path: '/v1/responses/:responseId',
      access: scopesOfAll('session.delete', 'session.events'),
      handler: async (request, { responseId = '' }) =>
        (await responses()).deleteResponse(deps, request, responseId),
    },
    {
      method: 'POST',
      path: '/v1/responses/:responseId/cancel',
      access: scopesOfAll('turn.cancel', 'session.events'),
      handler: async (request, { responseId = '' }) =>
        (await responses()).cancelResponse(deps, request, responseId),
    },
    {
      method: 'GET',
      path: '/v1/responses/:responseId/input_items',
      access: scopeOf('session.events'),
      handler: async (request, { responseId = '' }) =>
        (await responses()).listInputItems(deps, request, responseId),
    },
  ];
}

function conversationRoutes(deps: OpenAiDeps): Route[] {
  const conversations = () => import('./conversations/conversations.ts');
  const items = () => import('./conversations/conversation-items.ts');
  const one = '/v1/conversations/:conversation';
  return [
    {
      method: 'POST',
      path: '/v1/conversations',
      takesImages: true,
      access: scopesOfAll('session.describe', 'session.view'),
      handler: async (request) => (await conversations()).createConversation(deps, request),
    },
    {
      method: 'GET',
      path: one,
      access: scopeOf('session.view'),
      handler: async (request, { conversation = '' }) =>
        (await conversations()).retrieveConversation(deps, request, conversation),
    },
    {
      method: 'POST',
      path: one,
      access: scopesOfAll('session.describe', 'session.view'),
      handler: async (request, { conversation = '' }) =>
        (await conversations()).updateConversation(deps, request, conversation),
    },
    {
      method: 'DELETE',
      path: one,
      access: scopesOfAll('session.delete', 'session.events'),
      handler: async (request, { conversation = '' }) =>
        (await conversations()).deleteConversation(deps, request, conversation),
    },
    {
      method: 'GET',
      path: `${one}/items`,
      access: scopeOf('session.events'),
      handler: async (request, { conversation = '' }) =>
        (await items()).listItems(deps, request, conversation),
    },
    {
      method: 'POST',
      path: `${one}/items`,
      takesImages: true,
      access: scopesOfAll('session.extend', 'session.events'),
      handler: async (request, { conversation = '' }) =>
        (await items()).createItems(deps, request, conversation),
    },
    {
      method: 'GET',
      path: `${one}/items/:item`,
      access: scopeOf('session.events'),
      handler: async (request, { conversation = '', item = '' }) =>
        (await items()).retrieveItem(deps, request, { conversation, item }),
    },
    {
      method: 'DELETE',
      path: `${one}/items/:item`,
      access: scopesOfAll('session.delete', 'session.events'),
      handler: async (request, { conversation = '', item = '' }) =>
        (await items()).deleteItem(deps, request, { conversation, item }),
    },
  ];
}

export const openAiErrors: ErrorFormat = {
  prefix: '/v1/',
  respond: async (error) => (await import('./openai-error.ts')).openAiErrorResponse(error),
};
