import type { GrantAccess } from '../core/access/grant.ts';
import type { Scope } from '../core/access/scopes.ts';
import type { SessionId } from '../core/ids.ts';
import type { RequestOf, RequestType } from './service-requests.ts';

/** What a client must be allowed to do with a session: what a grant gives, or what only its owner and admins may. */
export type SessionNeed = GrantAccess | 'own';

interface RequestRule {
  /** What a client needs. Null: no more than to be somebody. */
  readonly scope: Scope | null;
  /** `done`: recorded always. `read`: recorded where somebody reads the session of somebody else. `refused`: only then. */
  readonly audit: 'done' | 'read' | 'refused';
}

/** The rule of a request that is answered where the session is. */
interface OwnerRule extends RequestRule {
  /**
   * `begins`: makes the session if there is none. `changes`: changes a session that there is. `looks`: changes nothing at
   * all. `none`: changes something beside the session, such as who may read it.
   */
  readonly effect: 'begins' | 'changes' | 'looks' | 'none';
  /**
   * Whether it is asked again when its answer was lost with a node: doing it twice gives the same answer as once. To
   * approve a call twice does no harm, but the second answer would be that no call waits. That there is no session is the
   * answer to a deletion that was done before, and counts as done.
   */
  readonly again: boolean;
}

interface SessionRule extends OwnerRule {
  readonly need: SessionNeed;
}

/** The requests that name one session. */
type AboutSession = {
  [T in RequestType]: RequestOf<T> extends { readonly sessionId: SessionId } ? T : never;
}[RequestType];

type RuleOf<T extends RequestType> = T extends AboutSession
  ? SessionRule
  : T extends 'session.fork'
    ? OwnerRule
    : RequestRule;

/** What holds for each request, whoever sends it and wherever it is answered. */
const RULES: { readonly [T in RequestType]: RuleOf<T> } = {
  'turn.start': { scope: 'sessions:write', audit: 'done', need: 'talk', effect: 'begins', again: false },
  'turn.cancel': { scope: 'sessions:write', audit: 'done', need: 'talk', effect: 'changes', again: true },
  'approval.answer': {
    scope: 'approvals:decide',
    audit: 'done',
    need: 'approve',
    effect: 'changes',
    again: false,
  },
  'tool-call.answer': {
    scope: 'sessions:write',
    audit: 'done',
    need: 'talk',
    effect: 'changes',
    again: false,
  },
  'input.answer': { scope: 'sessions:write', audit: 'done', need: 'talk', effect: 'changes', again: false },
  'input.list': { scope: 'sessions:read', audit: 'refused' },
  'approval.list': { scope: 'sessions:read', audit: 'refused' },
  'session.reset': { scope: 'sessions:write', audit: 'done', need: 'own', effect: 'changes', again: true },
  'session.list': { scope: 'sessions:read', audit: 'refused' },
  // Only the service itself asks for it.
  'session.count': { scope: 'admin', audit: 'refused' },
  'session.rename': { scope: 'sessions:write', audit: 'done', need: 'own', effect: 'changes', again: true },
  'session.describe': { scope: 'sessions:write', audit: 'done', need: 'own', effect: 'changes', again: true },
  'session.extend': { scope: 'sessions:write', audit: 'done', need: 'talk', effect: 'changes', again: false },
  'session.view': { scope: 'sessions:read', audit: 'read', need: 'read', effect: 'looks', again: true },
  'session.fork': { scope: 'sessions:write', audit: 'done', effect: 'changes', again: false },
  'session.delete': { scope: 'sessions:write', audit: 'done', need: 'own', effect: 'changes', again: true },
  'session.position': {
    scope: 'sessions:read',
    audit: 'refused',
    need: 'read',
    effect: 'looks',
    again: true,
  },
  'session.rest': { scope: 'sessions:read', audit: 'refused', need: 'read', effect: 'looks', again: true },
  'session.events': { scope: 'sessions:read', audit: 'read', need: 'read', effect: 'looks', again: true },
  'mcp-server.list': { scope: 'servers:read', audit: 'refused' },
  'mcp-server.connect': { scope: 'servers:write', audit: 'done' },
  'mcp-server.disconnect': { scope: 'servers:write', audit: 'done' },
  'mcp-server.reconnect': { scope: 'servers:write', audit: 'done' },
  'mcp-server.authorize': { scope: 'servers:write', audit: 'done' },
  // What a server says may hold what others asked of it.
  'mcp-server.log': { scope: 'servers:write', audit: 'refused' },
  'tool.list': { scope: 'servers:read', audit: 'refused' },
  'tool.execute': { scope: 'tools:execute', audit: 'done' },
  'tool.cancel': { scope: 'tools:execute', audit: 'done' },
  'tool.callable': { scope: 'servers:read', audit: 'refused' },
  'tool.answer': { scope: 'tools:execute', audit: 'done' },
  'resource.watch': { scope: 'tools:execute', audit: 'refused' },
  'resource.unwatch': { scope: null, audit: 'refused' },
  'mcp-server.features': { scope: 'servers:read', audit: 'refused' },
  'mcp-server.offers': { scope: 'servers:read', audit: 'refused' },
  'mcp-server.request': { scope: 'tools:execute', audit: 'done' },
  'readiness.check': { scope: null, audit: 'refused' },
  'warning.list': { scope: null, audit: 'refused' },
  'agent.list': { scope: null, audit: 'refused' },
  'agent.reload': { scope: 'admin', audit: 'done' },
  'node.list': { scope: 'metrics:read', audit: 'refused' },
  'agent.describe': { scope: null, audit: 'refused' },
  'log.size': { scope: 'metrics:read', audit: 'refused' },
  'log.backup': { scope: 'admin', audit: 'done' },
  'config.export': { scope: 'config:read', audit: 'done' },
  'grant.create': { scope: 'sessions:write', audit: 'done', need: 'own', effect: 'none', again: false },
  'grant.list': { scope: 'sessions:read', audit: 'refused', need: 'own', effect: 'looks', again: true },
  'grant.revoke': { scope: 'sessions:write', audit: 'done', need: 'own', effect: 'none', again: false },
  'push.register': { scope: 'sessions:write', audit: 'done', need: 'own', effect: 'none', again: false },
  'push.list': { scope: 'sessions:read', audit: 'refused', need: 'own', effect: 'looks', again: true },
  'push.end': { scope: 'sessions:write', audit: 'done', need: 'own', effect: 'none', again: false },
  'push.keys': { scope: null, audit: 'refused' },
  'key.create': { scope: 'admin', audit: 'done' },
  'key.list': { scope: 'admin', audit: 'done' },
  'key.revoke': { scope: 'admin', audit: 'done' },
};

const rules: Readonly<Record<RequestType, RequestRule & Partial<SessionRule>>> = RULES;

export function scopeOf(type: RequestType): Scope | null {
  return rules[type].scope;
}

/** The scopes that a client needs to send all of these requests. */
export function scopesOfAll(...types: readonly RequestType[]): readonly Scope[] {
  return [...new Set(types.flatMap((type) => scopeOf(type) ?? []))];
}

export function auditOf(type: RequestType): RequestRule['audit'] {
  return rules[type].audit;
}

/** Undefined unless the request names one session. */
export function sessionNeedOf(type: RequestType): SessionNeed | undefined {
  return rules[type].need;
}

/** `none` for a request that is answered anywhere. */
export function effectOf(type: RequestType): OwnerRule['effect'] {
  return rules[type].effect ?? 'none';
}

export function isAskedAgain(type: RequestType): boolean {
  return rules[type].again ?? false;
}
