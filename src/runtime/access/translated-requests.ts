import { storedKey } from '../../core/access/session-keys.ts';
import { sessionIdOf, sessionNameFor } from '../../core/access/session-names.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import type { SessionListItem } from '../../core/session/session-view.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';
import { namedEvent, namedReason } from './named-events.ts';
import type { VisibleSessions } from './visible-sessions.ts';

/** How a client's request becomes one of the service, and the answer one for the client. */
interface Translation<T extends RequestType> {
  readonly inward?: (request: RequestOf<T>, client: RequestContext, visible: VisibleSessions) => RequestOf<T>;
  readonly outward?: (answer: AnswerOf<T>, client: RequestContext, visible: VisibleSessions) => AnswerOf<T>;
}

const named = <R extends { readonly sessionId: SessionId }>(item: R, client: RequestContext): R => ({
  ...item,
  sessionId: sessionNameFor(item.sessionId, client),
});

/** Also says what the client may do in a session of somebody else. */
function withAccess<R extends SessionListItem>(item: R, client: RequestContext, visible: VisibleSessions): R {
  const access = visible.sharedAccess(item.sessionId, client);
  return { ...named(item, client), ...(access && { access }) };
}

/** One session, named by `sessionId`. */
const ofSession = {
  inward: <R extends { readonly sessionId: SessionId }>(request: R, client: RequestContext): R => ({
    ...request,
    sessionId: sessionIdOf(request.sessionId, client),
  }),
};

/** The same for a request whose key the session remembers. */
const keyedInSession = {
  inward: <R extends { readonly sessionId: SessionId; readonly key?: IdempotencyKey | undefined }>(
    request: R,
    client: RequestContext,
  ): R => {
    const sessionId = sessionIdOf(request.sessionId, client);
    const { key } = request;
    return { ...request, sessionId, ...(key && { key: storedKey(sessionId, key, client) }) };
  },
};

/** Requests that name sessions, or whose answers do or hold what not everybody may see. The others pass as they are. */
export const TRANSLATIONS: { readonly [T in RequestType]?: Translation<T> } = {
  'turn.start': {
    ...keyedInSession,
    outward: (answer, client, visible) => {
      const { outcome } = answer;
      if (outcome?.status !== 'cancelled') return answer;
      return { ...answer, outcome: { ...outcome, reason: namedReason(outcome.reason, client, visible) } };
    },
  },
  'turn.cancel': ofSession,
  'approval.answer': ofSession,
  'tool-call.answer': ofSession,
  'input.answer': ofSession,
  'session.reset': keyedInSession,
  'session.rename': ofSession,
  'session.describe': ofSession,
  'session.extend': ofSession,
  'session.delete': ofSession,
  'session.position': {
    ...ofSession,
    outward: (answer, client) => ({
      ...answer,
      running: answer.running && named(answer.running, client),
      reasoning: answer.reasoning && named(answer.reasoning, client),
    }),
  },
  'session.rest': ofSession,
  'session.view': { ...ofSession, outward: withAccess },
  'session.events': {
    ...ofSession,
    outward: (events, client, visible) => events.map((envelope) => namedEvent(envelope, client, visible)),
  },
  'session.list': {
    inward: ({ after, ...request }, client, visible) => ({
      ...request,
      of: visible.of(client, 'read'),
      ...(after !== undefined && { after: sessionIdOf(after, client) }),
    }),
    outward: (items, client, visible) => items.map((item) => withAccess(item, client, visible)),
  },
  'mcp-server.list': {
    // Who opens the address decides with whose account the service uses the server.
    outward: (servers, { rights }) =>
      rights?.scopes.has('servers:write')
        ? servers
        : servers.map(({ details: _hidden, ...server }) => server),
  },
  'approval.list': {
    inward: (request, client, visible) => ({ ...request, of: visible.of(client, 'approve') }),
    outward: ({ approvals, count }, client) => ({
      approvals: approvals.map((approval) => named(approval, client)),
      count,
    }),
  },
  'input.list': {
    inward: (request, client, visible) => ({ ...request, of: visible.of(client, 'talk') }),
    outward: ({ inputs, count }, client) => ({ inputs: inputs.map((input) => named(input, client)), count }),
  },
  'session.fork': {
    inward: ({ from, to = `fork-${crypto.randomUUID()}`, ...request }, client) => ({
      ...request,
      from: sessionIdOf(from, client),
      to: sessionIdOf(to, client),
    }),
    outward: named,
  },
  'grant.create': { ...ofSession, outward: named },
  'grant.list': { ...ofSession, outward: (grants, client) => grants.map((grant) => named(grant, client)) },
  'grant.revoke': { ...ofSession, outward: named },
  'push.register': ofSession,
  'push.list': ofSession,
  'push.end': ofSession,
  'agent.describe': {
    outward: (agent, { rights }) => {
      if (rights?.scopes.has('config:read')) return agent;
      const { systemPrompt: _, ...shown } = agent;
      return shown;
    },
  },
};
