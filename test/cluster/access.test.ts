import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Cluster } from '../support/cluster/cluster.ts';
import { clusterAgent } from '../support/cluster/cluster-agent.ts';
import { ClusterEngines } from '../support/cluster/cluster-engines.ts';
import type { ClusterNode } from '../support/cluster/cluster-node.ts';
import { awaited } from '../support/cluster/deadline.ts';
import { TextSocket } from '../support/cluster/text-socket.ts';
import { type TempDirectory, tempDirectory } from '../support/service/temp-directory.ts';

/** Within which what one node was told is known to all. */
const SPREAD_MS = 2_000;
const Created = z.looseObject({ key: z.string(), keyId: z.string() });
const Granted = z.looseObject({ grant: z.looseObject({ grantId: z.string() }) });
const Ticket = z.looseObject({ ticket: z.string() });

let engines: ClusterEngines;
let ledger: TempDirectory;
let cluster: Cluster;
beforeAll(async () => {
  engines = await ClusterEngines.start();
  ledger = await tempDirectory();
  cluster = await Cluster.start({ engines, agent: clusterAgent(ledger.path), hasKeys: true });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
});

/** Somebody with an API key, who asks any node. */
class KeyHolder {
  readonly key: string;
  readonly keyId: string;

  constructor({ key, keyId }: z.infer<typeof Created>) {
    this.key = key;
    this.keyId = keyId;
  }

  /** @param node of which the key is asked for. */
  static async of(node: ClusterNode, name: string): Promise<KeyHolder> {
    const response = await node.post('/api/keys', { name, roles: ['user'] });
    return new KeyHolder(Created.parse(await response.json()));
  }

  ask(node: ClusterNode, method: string, path: string, body?: object): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.key}`, 'Content-Type': 'application/json' };
    return node.fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }

  async statusOf(...request: Parameters<KeyHolder['ask']>): Promise<number> {
    const response = await this.ask(...request);
    await response.text();
    return response.status;
  }
}

/** Resolves when every node answers this status. */
async function everywhere(
  what: string,
  status: number,
  ask: (node: ClusterNode) => Promise<number>,
): Promise<void> {
  for (const node of cluster.nodes)
    await awaited(
      SPREAD_MS,
      `${what} on node ${node.number}`,
      () => ask(node),
      (answer) => answer === status,
    );
}

describe('clients with keys', () => {
  it('have a key that counts on every node, until it is revoked on any of them', async () => {
    const ann = await KeyHolder.of(cluster.node(0), 'ann');
    await everywhere('the key counts', 200, (node) => ann.statusOf(node, 'GET', '/api/sessions'));
    const revoked = await cluster.node(2).fetch(`/api/keys/${ann.keyId}`, { method: 'DELETE' });
    expect(revoked.status).toBe(200);
    await everywhere('the key is revoked', 401, (node) => ann.statusOf(node, 'GET', '/api/sessions'));
  });

  it('share a session by a grant that any node takes and every node knows', async () => {
    const [owner, second, third] = [cluster.node(0), cluster.node(1), cluster.node(2)];
    const ada = await KeyHolder.of(owner, 'ada');
    const bob = await KeyHolder.of(second, 'bob');
    await everywhere('the key counts', 200, (node) => bob.statusOf(node, 'GET', '/api/sessions'));
    await everywhere('the key counts', 200, (node) => ada.statusOf(node, 'GET', '/api/sessions'));
    // Another one with each try: the grant of a try that failed still counts.
    const plan = `plan-${randomUUID()}`;
    const message = { message: 'hello', sessionId: plan };
    expect(await ada.statusOf(owner, 'POST', '/api/message-sync', message)).toBe(200);
    const shared = `default/key:ada/${plan}`;
    const path = `/api/sessions/${encodeURIComponent(shared)}`;
    await everywhere('the session is not shared', 404, (node) => bob.statusOf(node, 'GET', path));
    const grant = { principal: 'key:bob', access: 'talk' };
    const made = await ada.ask(second, 'POST', `/api/sessions/${plan}/grants`, grant);
    const { grantId } = Granted.parse(await made.json()).grant;
    await everywhere('the session is shared', 200, (node) => bob.statusOf(node, 'GET', path));
    const lists = await Promise.all(
      cluster.nodes.map(async (node) =>
        (await (await ada.ask(node, 'GET', `/api/sessions/${plan}/grants`)).text()).replace(
          /"timestamp":.*/,
          '',
        ),
      ),
    );
    expect(lists).toEqual([lists[0], lists[0], lists[0]]);
    const talk = { message: 'and I', sessionId: shared };
    expect(await bob.statusOf(third, 'POST', '/api/message-sync', talk)).toBe(200);
    // A ticket of one node opens a WebSocket on another.
    const { ticket } = Ticket.parse(await (await bob.ask(owner, 'POST', '/api/tickets')).json());
    const session = encodeURIComponent(shared);
    using socket = await TextSocket.open(third.socketUrl(`?session=${session}&after=0&ticket=${ticket}`));
    await socket.first('response');
    expect(await ada.statusOf(second, 'DELETE', `/api/sessions/${plan}/grants/${grantId}`)).toBe(200);
    expect(await socket.closed).toBe(4404);
    await everywhere('the session is shared no more', 404, (node) => bob.statusOf(node, 'GET', path));
  });
});
