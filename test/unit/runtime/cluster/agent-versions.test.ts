import { expect, it } from 'vitest';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { ServiceError } from '../../../../src/core/errors.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { MemoryNetwork } from '../../../support/cluster/memory-link.ts';
import { MemoryClusterLog } from '../../../support/cluster/memory-membership.ts';
import { type MemoryNode, memoryNode } from '../../../support/cluster/memory-node.ts';

/** Renewals of the lease until a difference counts: each node tells of it, and it is seen twice. */
const RENEWALS = 12;

interface File {
  version: string;
  /** The version that was read last. */
  served: string;
  isValid: boolean;
  reads: number;
}

/** Three nodes, each with a file of its own for the agent `a`. */
async function nodes() {
  const shared = new MemoryClusterLog(memoryEventStore());
  const network = new MemoryNetwork();
  const files: File[] = [0, 1, 2].map(() => ({ version: 'old', served: 'old', isValid: true, reads: 0 }));
  const served: MemoryNode[] = [];
  for (const file of files) {
    const node = await memoryNode(shared.join(), network);
    node.cluster.serves(() => ({ a: file.served }));
    node.bus.handle('agent.reload', async ({ agentId }) => {
      file.reads += 1;
      if (!file.isValid) throw new ServiceError('INVALID_REQUEST', 'Not valid.', { reason: 'line 1' });
      file.served = file.version;
      const servers = { added: [], changed: [], removed: [] };
      return { status: 'reloaded', agentId, agentVersion: file.served, servers, needRestart: [] };
    });
    served.push(node);
  }
  const [one, two, three] = served;
  if (!one || !two || !three) return expect.unreachable('there are three nodes');
  const renew = async (): Promise<void> => {
    for (let times = 0; times < RENEWALS; times += 1)
      for (const { membership } of served) await membership.refresh();
  };
  await renew();
  const write = (version: string): void => {
    for (const file of files) file.version = version;
  };
  return {
    one,
    two,
    three,
    files,
    write,
    renew,
    reload: () => one.bus.send('agent.reload', { agentId: 'a' }, ANYONE),
    async [Symbol.asyncDispose]() {
      for (const node of served) await node.agent.close();
    },
  };
}

it('says nothing of other nodes when all have read the same file', async () => {
  await using cluster = await nodes();
  cluster.write('new');
  expect(await cluster.reload()).not.toHaveProperty('notReloaded');
  await cluster.renew();
  expect(cluster.two.cluster.warnings).toEqual([]);
});

it('names the nodes that a reload did not reach, and asks them as soon as they can be reached', async () => {
  await using cluster = await nodes();
  const { one, files } = cluster;
  cluster.write('new');
  one.link.cut();
  const { notReloaded } = await cluster.reload();
  expect(notReloaded).toMatchObject([{ name: 'node 2' }, { name: 'node 3' }]);
  expect(notReloaded?.[0]?.reason).toContain('could not be reached');
  expect(one.log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  expect(files.map(({ reads }) => reads)).toEqual([1, 0, 0]);
  one.link.heal();
  await expect.poll(() => files.map(({ served }) => served)).toEqual(['new', 'new', 'new']);
  one.link.heal();
  await cluster.renew();
  expect(files.map(({ reads }) => reads)).toEqual([1, 1, 1]);
});

it('names the nodes that refuse their file or have another one, and does not ask them again', async () => {
  await using cluster = await nodes();
  const { one, files } = cluster;
  cluster.write('new');
  Object.assign(files[1] ?? {}, { isValid: false });
  Object.assign(files[2] ?? {}, { version: 'another' });
  const { notReloaded } = await cluster.reload();
  expect(notReloaded).toMatchObject([
    { name: 'node 2', reason: 'Not valid. line 1' },
    { name: 'node 3', reason: expect.stringContaining('version another') },
  ]);
  one.link.heal();
  await cluster.renew();
  expect(files.map(({ reads }) => reads)).toEqual([1, 1, 1]);
});

it('warns at each node of other versions, as long as there are some', async () => {
  await using cluster = await nodes();
  const { one, two, files } = cluster;
  Object.assign(files[0] ?? {}, { version: 'new' });
  await cluster.reload();
  await cluster.renew();
  expect(one.cluster.warnings).toMatchObject([
    expect.stringContaining('node 2 serves the version old of the agent a'),
    expect.stringContaining('node 3 serves the version old of the agent a'),
  ]);
  expect(two.cluster.warnings).toMatchObject([expect.stringContaining('node 1 serves the version new')]);
  expect(await two.bus.send('node.list', {}, ANYONE)).toMatchObject([
    { agents: { a: 'new' } },
    { agents: { a: 'old' } },
    { agents: { a: 'old' } },
  ]);
  cluster.write('new');
  await cluster.reload();
  await cluster.renew();
  expect([one, two].flatMap(({ cluster: { warnings } }) => warnings)).toEqual([]);
});
