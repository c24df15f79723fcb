import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { ServiceError } from '../../../../src/core/errors.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import type { McpServerRecord } from '../../../../src/core/tool-server/mcp-server-record.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { Cluster } from '../../../../src/runtime/cluster/cluster.ts';
import { Gathered } from '../../../../src/runtime/cluster/gathered-answers.ts';
import { MemoryNetwork } from '../../../support/cluster/memory-link.ts';
import { MemoryClusterLog } from '../../../support/cluster/memory-membership.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

type Authorize = () => Promise<McpServerRecord>;

const RESPONSE = { state: 'a state', code: 'a code' };
const PREFIX = '';
const SLOW_MS = 50_000;

const unknown: Authorize = () => Promise.reject(new ServiceError('INVALID_REQUEST', 'unknown'));

interface Node {
  /** What it is asked by its own clients. */
  readonly handle: (local: LocalBus) => void;
  /** What it is asked by other nodes. */
  readonly answer: (name: string, request: unknown) => Promise<unknown>;
}

/** What the first one of these nodes gathers. */
async function gathering(...nodes: readonly Node[]) {
  const shared = new MemoryClusterLog(memoryEventStore());
  const network = new MemoryNetwork();
  const clock = new SimulatedClock();
  const log = recordingLog();
  const memberships = nodes.map(() => shared.join());
  for (const membership of memberships) await membership.refresh();
  const [gathered] = nodes.map(({ handle, answer }, index) => {
    const membership = memberships[index] ?? shared.join();
    const { store } = membership;
    const cluster = new Cluster({ membership, link: network.connect(), store, log, clock });
    const local = new LocalBus(() => undefined);
    handle(local);
    cluster.agents.join(PREFIX, {
      request: answer,
      load: { sessions: 0, turns: 0, waiting: 0 },
      position: () => Promise.reject(new Error('nobody asks for it')),
      lost: () => undefined,
      tell: () => undefined,
      recover: () => undefined,
    });
    const here: LocalBus['send'] = (type, request, context) => local.send(type, request, context);
    return new Gathered({ cluster, prefix: PREFIX, local, here, log });
  });
  if (!gathered) return expect.unreachable('there is a first node');
  return { gathered, clock, memberships };
}

/** Nodes that each take what an authorization server answers in this way. The first one is asked. */
async function authorizing(...nodes: readonly Authorize[]) {
  const { gathered, clock } = await gathering(
    ...nodes.map((authorize) => ({
      handle: (local: LocalBus) => local.handle('mcp-server.authorize', authorize),
      answer: authorize,
    })),
  );
  return { answer: gathered.send('mcp-server.authorize', RESPONSE, ANYONE), clock };
}

const record: McpServerRecord = {
  id: 'tools',
  name: 'tools',
  status: 'connected',
  type: 'http',
};

describe('an authorization that another node has begun', () => {
  it('is refused with the reason that this node gives', async () => {
    const denied = new ServiceError('AGENT_ERROR', 'not authorized', { reason: 'access_denied' });
    const { answer } = await authorizing(unknown, unknown, () => Promise.reject(denied));
    await expect(answer).rejects.toMatchObject({ code: 'AGENT_ERROR', details: denied.details });
  });

  it('may take long, also while a third node says nothing', async () => {
    const asked = Promise.withResolvers<void>();
    const done = Promise.withResolvers<McpServerRecord>();
    const slow: Authorize = () => {
      asked.resolve();
      return done.promise;
    };
    const { answer, clock } = await authorizing(unknown, slow, () => new Promise(() => undefined));
    await asked.promise;
    clock.increment(SLOW_MS);
    done.resolve(record);
    expect(await answer).toEqual(record);
  });

  it('is unknown if it is to all nodes', async () => {
    const { answer } = await authorizing(unknown, unknown);
    await expect(answer).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});

describe('what waits in the sessions of several nodes', () => {
  const at = (since: string, sessionId: string, ...callIds: readonly string[]) =>
    callIds.map((callId) => ({ sessionId, callId, since }));
  const [first, second] = ['2026-11-29T11:00:00.000Z', '2026-11-29T11:00:00.100Z'];

  it.each([
    ['approval.list', 'approvals'],
    ['input.list', 'inputs'],
  ] as const)('comes oldest first, then by session, then as it was asked for, in %s', async (type, name) => {
    const own = [...at(first, 'd', 'call'), ...at(second, 'b', 'two', 'ten')];
    const others = [...at(second, 'a', 'y', 'x'), ...at(second, 'c', 'a')];
    const answer = (items: readonly unknown[]) => async () => ({ [name]: items, count: items.length });
    const { gathered } = await gathering(
      {
        handle: (local) => local.handle(type, answer(own) as never),
        answer: () => Promise.reject(new Error('nobody asks this node')),
      },
      { handle: () => undefined, answer: answer(others) },
    );
    expect(await gathered.send(type, { limit: 5 }, ANYONE)).toEqual({
      [name]: [...at(first, 'd', 'call'), ...at(second, 'a', 'y', 'x'), ...at(second, 'b', 'two', 'ten')],
      count: 6,
    });
  });
});

describe('a page of the sessions', () => {
  const item = (sessionId: string, status: 'busy' | 'idle') => {
    const [createdAt, updatedAt] = ['2026-11-29T11:00:00.000Z', '2026-11-29T11:00:01.000Z'];
    return { sessionId, status, head: 2, createdAt, updatedAt };
  };

  it('has the waiting approvals of its sessions, and other nodes are asked for no others', async () => {
    const waitingApprovals = { count: 1, since: '2026-11-29T11:00:00.500Z' };
    const own = { ...item('own', 'busy'), waitingApprovals };
    const [quiet, remote] = [item('quiet', 'idle'), item('remote', 'busy')];
    const [since, later] = ['2026-11-29T11:00:00.000Z', '2026-11-29T11:00:00.100Z'];
    const asked: unknown[] = [];
    const { gathered, memberships } = await gathering(
      {
        handle: (local) => local.handle('session.list', async () => [own, quiet, remote]),
        answer: () => Promise.reject(new Error('nobody asks this node')),
      },
      {
        handle: () => undefined,
        answer: async (name, request) => {
          asked.push([name, request]);
          const waiting = [later, since].map((time) => ({ sessionId: 'remote', callId: time, since: time }));
          return { approvals: waiting, count: 2 };
        },
      },
    );
    memberships[0]?.presumeNew('own');
    const wanted = { limit: 3, of: { tenant: 'acme', principal: 'key:ada' } };
    expect(await gathered.send('session.list', wanted, ANYONE)).toEqual([
      own,
      quiet,
      { ...remote, waitingApprovals: { count: 2, since } },
    ]);
    const sessions = new Set(['remote']);
    expect(asked).toEqual([['approval.list', { limit: Number.MAX_SAFE_INTEGER, sessions }]]);
  });
});
