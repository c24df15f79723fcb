import { expect, it } from 'vitest';
import { memoryEventStore } from '../../../../src/adapters/memory/memory-event-store.ts';
import { memoryKeys } from '../../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../../src/adapters/secret-key/sealed-box.ts';
import { announcedStore } from '../../../../src/app/cluster/announced-store.ts';
import { followOthers } from '../../../../src/app/cluster/follow-others.ts';
import type { ServerAuthorizations } from '../../../../src/ports/server-authorization.ts';
import { Cluster } from '../../../../src/runtime/cluster/cluster.ts';
import { LiveMachines } from '../../../../src/runtime/machines/live-machines.ts';
import { CredentialBook } from '../../../../src/runtime/tools/credential-book.ts';
import { McpSupervisor } from '../../../../src/runtime/tools/mcp-supervisor.ts';
import { ServerBook } from '../../../../src/runtime/tools/server-book.ts';
import { MemoryNetwork } from '../../../support/cluster/memory-link.ts';
import { MemoryClusterLog } from '../../../support/cluster/memory-membership.ts';
import { silentLog } from '../../../support/service/running-service.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';
import { connectionDouble } from '../../../support/tools/connection-double.ts';

const remote = { type: 'http', baseUrl: 'https://tools.example/mcp' } as const;

it('connects a tool server that waited for a person as soon as another node has the authorization', async () => {
  const shared = new MemoryClusterLog(memoryEventStore());
  const network = new MemoryNetwork();
  const memberships = [shared.join(), shared.join()];
  for (const membership of memberships) await membership.refresh();
  const box = sealedBox(memoryKeys());
  const [keeping, following] = memberships.map((membership) => {
    const { store } = membership;
    const cluster = new Cluster({ membership, link: network.connect(), store, log: recordingLog() });
    const announced = announcedStore(store, cluster);
    return { cluster, book: new CredentialBook(announced, box, silentLog, { isShared: true }) };
  });
  if (!keeping || !following) return expect.unreachable('there are two nodes');
  let isAuthorized = false;
  const authorizations: ServerAuthorizations = {
    returnTo: () => undefined,
    urlOf: () => undefined,
    finish: async () => null,
    authorizedElsewhere: async () => {
      isAuthorized = (await following.book.read('x')) !== null;
      return isAuthorized ? ['x'] : [];
    },
    forget: async () => undefined,
    keepOnly: async () => undefined,
  };
  const connector = {
    connect: async () => {
      if (!isAuthorized) throw new Error('the server asks for the authorization of a person');
      return connectionDouble({
        listTools: async () => [],
        callTool: () => Promise.reject(new Error('nobody calls it')),
        close: async () => undefined,
      });
    },
  };
  const supervisor = new McpSupervisor(
    // It does not try again by itself.
    { connector, authorizations, log: silentLog, machines: new LiveMachines(), retryDelayMs: () => 1e9 },
    new ServerBook(shared.log, box, silentLog, { isShared: true }),
  );
  await Promise.all(supervisor.start({ x: remote }).map(({ settled }) => settled));
  followOthers(following.cluster, '', { supervisor, grants: undefined, keys: undefined, log: silentLog });
  expect(supervisor.servers.records()).toMatchObject([{ status: 'error' }]);
  await keeping.book.keep('x', 'token');
  await expect.poll(() => supervisor.servers.records()).toMatchObject([{ status: 'connected' }]);
  await supervisor[Symbol.asyncDispose]();
});
