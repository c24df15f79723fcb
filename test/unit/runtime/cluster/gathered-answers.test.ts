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

/** Nodes that each take what an authorization server answers in this way. The first one is asked. */
async function authorizing(...nodes: readonly Authorize[]) {
  const shared = new MemoryClusterLog(memoryEventStore());
  const network = new MemoryNetwork();
  const clock = new SimulatedClock();
  const log = recordingLog();
  const memberships = nodes.map(() => shared.join());
  for (const membership of memberships) await membership.refresh();
  const gathered = nodes.map((authorize, index) => {
    const membership = memberships[index] ?? shared.join();
    const { store } = membership;
    const cluster = new Cluster({ membership, link: network.connect(), store, log, clock });
    const local = new LocalBus(() => undefined);
    local.handle('mcp-server.authorize', authorize);
    cluster.agents.join(PREFIX, {
      request: authorize,
      load: { sessions: 0, turns: 0, waiting: 0 },
      position: () => Promise.reject(new Error('nobody asks for it')),
      lost: () => undefined,
      tell: () => undefined,
      recover: () => undefined,
    });
    const here: LocalBus['send'] = (type, request, context) => local.send(type, request, context);
    return new Gathered({ cluster, prefix: PREFIX, local, here, log });
  });
  const answer = gathered[0]?.send('mcp-server.authorize', RESPONSE, ANYONE);
  return { answer, clock };
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
