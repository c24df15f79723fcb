import type { HttpResponse } from '../../ports/web-server.ts';
import type { ErrorFormat } from '../http/http-front.ts';
import type { ServedRequest } from '../http/http-message.ts';
import type { Parameters, Route } from '../http/router.ts';
import type { A2aCall } from './a2a-call.ts';
import { A2A_SCOPES } from './a2a-scopes.ts';
import { bringsPlaced } from './placed-message.ts';
import { pushRoutes } from './push-routes.ts';

/** What all calls have in common. */
export type A2aDeps = Omit<A2aCall, 'request' | 'context'>;

/** The agent for other agents: its card, and both bindings of A2A 1.0. The code is loaded by the first request. */
export function a2aRoutes(deps: A2aDeps): Route[] {
  const { bus, fanOut, maxImageBytes, card, authenticator, log } = deps;
  const rest = () => import('./rest.ts');
  type Rest = Awaited<ReturnType<typeof rest>>;
  const callOf = (request: ServedRequest): A2aCall => ({
    bus,
    fanOut,
    maxImageBytes,
    card,
    authenticator,
    log,
    request,
    context: request.context,
  });
  const by =
    (answer: (rest: Rest, call: A2aCall, taskId: string) => Promise<HttpResponse>) =>
    async (request: ServedRequest, { taskId = '' }: Parameters) =>
      answer(await rest(), callOf(request), taskId);
  const subscribe = {
    path: '/a2a/tasks/:taskId:subscribe',
    access: A2A_SCOPES.SubscribeToTask,
    mayStream: true as const,
    handler: by(({ streamTask }, call, taskId) => streamTask(call, taskId)),
  };
  return [
    ...pushRoutes(callOf),
    {
      method: 'GET',
      path: '/.well-known/agent-card.json',
      access: 'open',
      handler: async (request) => (await import('./served-card.ts')).showCard(card, request),
    },
    {
      method: 'POST',
      path: '/a2a',
      takesImages: true,
      // Each method has a scope of its own.
      access: null,
      mayStream: true,
      isDoneOnce: bringsPlaced,
      handler: async (request) => (await import('./json-rpc.ts')).answerJsonRpc(callOf(request)),
    },
    {
      method: 'POST',
      path: '/a2a/message:send',
      takesImages: true,
      access: A2A_SCOPES.SendMessage,
      waitsForTurn: true,
      isDoneOnce: bringsPlaced,
      handler: by(({ postMessage }, call) => postMessage(call)),
    },
    {
      method: 'POST',
      path: '/a2a/message:stream',
      takesImages: true,
      access: A2A_SCOPES.SendStreamingMessage,
      mayStream: true,
      isDoneOnce: bringsPlaced,
      handler: by(({ streamMessage }, call) => streamMessage(call)),
    },
    {
      method: 'GET',
      path: '/a2a/tasks',
      access: A2A_SCOPES.ListTasks,
      handler: by(({ showTasks }, call) => showTasks(call)),
    },
    {
      method: 'POST',
      path: '/a2a/tasks/:taskId:cancel',
      access: A2A_SCOPES.CancelTask,
      handler: by(({ postCancel }, call, taskId) => postCancel(call, taskId)),
    },
    { method: 'POST', ...subscribe },
    { method: 'GET', ...subscribe },
    {
      method: 'GET',
      path: '/a2a/tasks/:taskId',
      access: A2A_SCOPES.GetTask,
      handler: by(({ showTask }, call, taskId) => showTask(call, taskId)),
    },
    {
      method: 'GET',
      path: '/a2a/extendedAgentCard',
      access: A2A_SCOPES.GetExtendedAgentCard,
      handler: by(({ showExtendedCard }, call) => showExtendedCard(call)),
    },
  ];
}

const errors = () => import('./a2a-error.ts');

/** The first one whose prefix fits counts. */
export const a2aErrors: readonly ErrorFormat[] = [
  { prefix: '/a2a/', respond: async (error) => (await errors()).restErrorResponse(error) },
  { prefix: '/a2a', respond: async (error) => (await errors()).jsonRpcErrorResponse(error) },
];
