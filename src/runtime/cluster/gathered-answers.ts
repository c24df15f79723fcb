import type { AgentVersion } from '../../core/agent-description.ts';
import { ServiceError } from '../../core/errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionListItem } from '../../core/session/session-view.ts';
import { oldestFirst, waitingApprovals } from '../../core/session/view-session.ts';
import type { McpServerStatus } from '../../core/tool-server/mcp-server-record.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Logger } from '../../ports/logger.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import { MAX_RECOVERY_MS } from '../sessions/start-recovery.ts';
import type { Cluster } from './cluster.ts';
import { MissedReloads } from './missed-reloads.ts';
import type { AskedNode } from './node-messenger.ts';
import { type QuestionFor, requestQuestion } from './node-questions.ts';

type Gather<T extends RequestType> = (request: RequestOf<T>, context: RequestContext) => Promise<AnswerOf<T>>;

interface GatheredDeps {
  readonly cluster: Cluster;
  readonly prefix: string;
  readonly local: LocalBus;
  /** Answers by this node alone, with what all nodes have recorded. */
  readonly here: Bus['send'];
  readonly log: Logger;
}

/** Requests that need no owner of a session. This node alone answers most of them, all nodes together the others. */
export class Gathered {
  readonly #deps: GatheredDeps;
  readonly #missed: MissedReloads;
  readonly #gathers: { readonly [T in RequestType]?: Gather<T> } = {
    'approval.list': (request, context) => this.#approvals(request, context),
    'input.list': (request, context) => this.#inputs(request, context),
    'session.list': (request, context) => this.#sessions(request, context),
    'tool.cancel': (request, context) => this.#cancel(request, context),
    'mcp-server.disconnect': (request, context) => this.#disconnect(request, context),
    'mcp-server.reconnect': (request, context) => this.#reconnect(request, context),
    'mcp-server.authorize': (request, context) => this.#authorize(request, context),
    'agent.reload': (request, context) => this.#reload(request, context),
  };

  constructor(deps: GatheredDeps) {
    this.#deps = deps;
    const { cluster, log } = deps;
    this.#missed = new MissedReloads({
      cluster,
      log,
      question: (agentId, context) => this.#question('agent.reload', { agentId }, context),
    });
  }

  send<T extends RequestType>(type: T, request: RequestOf<T>, context: RequestContext): Promise<AnswerOf<T>> {
    const gather: Gather<T> | undefined = this.#gathers[type];
    return gather ? gather(request, context) : this.#deps.here(type, request, context);
  }

  async #approvals(
    request: RequestOf<'approval.list'>,
    context: RequestContext,
  ): Promise<AnswerOf<'approval.list'>> {
    const own = await this.#deps.local.send('approval.list', request, context);
    const all = [own, ...(await this.#ofOthers('approval.list', request, context))];
    const approvals = all.flatMap((one) => one.approvals).toSorted(oldestFirst);
    return {
      approvals: approvals.slice(0, request.limit),
      count: all.reduce((sum, { count }) => sum + count, 0),
    };
  }

  async #inputs(request: RequestOf<'input.list'>, context: RequestContext): Promise<AnswerOf<'input.list'>> {
    const own = await this.#deps.local.send('input.list', request, context);
    const all = [own, ...(await this.#ofOthers('input.list', request, context))];
    const inputs = all.flatMap((one) => one.inputs).toSorted(oldestFirst);
    return { inputs: inputs.slice(0, request.limit), count: all.reduce((sum, { count }) => sum + count, 0) };
  }

  /** The sessions are in the log. Which approvals they wait for is known only to their owners. */
  async #sessions(
    request: RequestOf<'session.list'>,
    context: RequestContext,
  ): Promise<AnswerOf<'session.list'>> {
    const items = await this.#deps.local.send('session.list', request, context);
    const sessions = new Set(items.flatMap((item) => (this.#mayWaitElsewhere(item) ? item.sessionId : [])));
    if (sessions.size === 0) return items;
    const wanted = { limit: Number.MAX_SAFE_INTEGER, sessions };
    const others = await this.#ofOthers('approval.list', wanted, context);
    const bySession = Map.groupBy(
      others.flatMap(({ approvals }) => approvals).toSorted(oldestFirst),
      ({ sessionId }) => sessionId,
    );
    return items.map((item) => ({ ...item, ...waitingApprovals(bySession.get(item.sessionId) ?? []) }));
  }

  #mayWaitElsewhere({ sessionId, status }: SessionListItem): boolean {
    return status === 'busy' && !this.#deps.cluster.membership.owns(this.#deps.prefix + sessionId);
  }

  /** Any node may run the call, so all are asked. */
  async #cancel(request: RequestOf<'tool.cancel'>, context: RequestContext): Promise<boolean> {
    if (await this.#deps.local.send('tool.cancel', request, context)) return true;
    return (await this.#ofOthers('tool.cancel', request, context)).includes(true);
  }

  /** All nodes are asked, because the log does not record that a server leaves the list. */
  async #disconnect(
    request: RequestOf<'mcp-server.disconnect'>,
    context: RequestContext,
  ): Promise<AnswerOf<'mcp-server.disconnect'>> {
    const seen = await this.#statusOf(request.serverId, context);
    const record = await this.#deps.here('mcp-server.disconnect', request, context);
    await this.#ofOthers('mcp-server.disconnect', { ...request, seen }, context);
    return record;
  }

  /** All nodes connect a disconnected server again. Any other server is reconnected by this node only. */
  async #reconnect(
    { serverId, key }: RequestOf<'mcp-server.reconnect'>,
    context: RequestContext,
  ): Promise<AnswerOf<'mcp-server.reconnect'>> {
    const seen = await this.#statusOf(serverId, context);
    try {
      return await this.#deps.here('mcp-server.reconnect', { serverId, key }, context);
    } finally {
      if (seen === 'disconnected') await this.#ofOthers('mcp-server.reconnect', { serverId, seen }, context);
    }
  }

  async #statusOf(serverId: string, context: RequestContext): Promise<McpServerStatus | undefined> {
    const servers = await this.#deps.local.send('mcp-server.list', {}, context);
    return servers.find(({ id }) => id === serverId)?.status;
  }

  /** Only the node that began the authorization knows its `state`. */
  async #authorize(
    request: RequestOf<'mcp-server.authorize'>,
    context: RequestContext,
  ): Promise<AnswerOf<'mcp-server.authorize'>> {
    const { local, cluster } = this.#deps;
    try {
      return await local.send('mcp-server.authorize', request, context);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      const question = this.#question('mcp-server.authorize', request, context);
      const asked = cluster.messenger.asking(question, { limitMs: AUTHORIZATION_MS });
      // If no node knows the state, this node's own refusal stands.
      const known = await Promise.any(asked.map(whoKnows)).catch(() => null);
      if (known === null) throw error;
      if (known.status === 'refused') throw known.error;
      return known.answer;
    }
  }

  /** Each node reads the file for itself. */
  async #reload(
    request: RequestOf<'agent.reload'>,
    context: RequestContext,
  ): Promise<AnswerOf<'agent.reload'>> {
    const { local, cluster, log } = this.#deps;
    const { agentId } = request;
    const own = await local.send('agent.reload', request, context);
    const asked = await cluster.messenger.askEach(this.#question('agent.reload', request, context));
    const unreached = asked.filter(({ status }) => status === 'unreached');
    this.#missed.note(
      agentId,
      unreached.map(({ node }) => node.nodeId),
      context,
    );
    const notReloaded = asked.flatMap((one) => {
      const reason = whyNotReloaded(one, own.agentVersion);
      return reason === null ? [] : [{ nodeId: one.node.nodeId, name: one.node.name, reason }];
    });
    if (notReloaded.length === 0) return own;
    log.warn({ agentId, nodes: notReloaded }, 'other nodes do not serve this version of the agent');
    return { ...own, notReloaded };
  }

  /** The answers of the nodes that answer in time. */
  #ofOthers<T extends RequestType>(
    name: T,
    request: RequestOf<T>,
    context: RequestContext,
  ): Promise<AnswerOf<T>[]> {
    const question = this.#question(name, request, context);
    const limitMs = KNOWN_LATER.has(name) ? MAX_RECOVERY_MS : undefined;
    return this.#deps.cluster.messenger.askOthers(question, limitMs);
  }

  #question<T extends RequestType>(
    name: T,
    request: RequestOf<T>,
    context: RequestContext,
  ): QuestionFor<AnswerOf<T>> {
    return requestQuestion(this.#deps.prefix, name, request, context);
  }
}

/** Rejects if the node was not reached, or does not know the authorization. */
async function whoKnows<Answer>(
  asking: Promise<AskedNode<Answer>>,
): Promise<Exclude<AskedNode<Answer>, { status: 'unreached' }>> {
  const asked = await asking;
  if (asked.status === 'unreached') throw new Error(`node ${asked.node.nodeId} could not be reached`);
  if (asked.status === 'refused' && isUnknown(asked.error)) throw asked.error;
  return asked;
}

/** Whether the node refused because it has not begun the authorization. */
function isUnknown(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'INVALID_REQUEST';
}

/** Null if the node serves the same version now. */
function whyNotReloaded(asked: AskedNode<AnswerOf<'agent.reload'>>, version: AgentVersion): string | null {
  switch (asked.status) {
    case 'unreached':
      return 'The node could not be reached. It is asked again until it answers.';
    case 'refused': {
      const { message, details } = asked.error;
      return typeof details.reason === 'string' ? `${message} ${details.reason}` : message;
    }
    case 'answered': {
      const { agentVersion } = asked.answer;
      return agentVersion === version
        ? null
        : `The file of the node is another one, of version ${agentVersion}.`;
    }
    default:
      return asked satisfies never;
  }
}

/** The longest time for exchanging the code of an authorization and connecting the server. */
const AUTHORIZATION_MS = 60_000;

/** A node that has just started answers these only when it has read the sessions that it took over. */
const KNOWN_LATER: ReadonlySet<RequestType> = new Set(['approval.list', 'input.list']);
