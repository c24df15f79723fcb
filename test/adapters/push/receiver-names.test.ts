import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { receiverNames } from '../../../src/adapters/push/receiver-names.ts';
import { NameServer } from '../../support/a2a/name-server.ts';

async function start(answers: Readonly<Record<string, string>>) {
  const server = await NameServer.start(answers);
  const names = (allowPrivateAddresses: boolean, timeoutMs?: number) =>
    receiverNames({ allowPrivateAddresses, nameServers: [server.address], ...(timeoutMs && { timeoutMs }) });
  return { server, names };
}

describe('the name of a receiver', () => {
  it('is asked of the name servers', async () => {
    const { server, names } = await start({ 'hooks.example': '192.0.2.7' });
    await using _ = server;
    expect(await names(false)('hooks.example')).toEqual([{ address: '192.0.2.7', family: 4 }]);
    expect(server.asked).toEqual(['hooks.example', 'hooks.example']);
  });

  it('whose servers keep silent is given up, and not looked up by the system', async () => {
    const { server, names } = await start({ 'silent.example': 'silent', 'hooks.example': '192.0.2.7' });
    await using _ = server;
    for (const allowPrivateAddresses of [true, false]) {
      // Long enough for the name that is answered, on a busy machine.
      const resolve = names(allowPrivateAddresses, 500);
      const silent = Array.from({ length: 50 }, () => resolve('silent.example'));
      expect(await resolve('hooks.example')).toHaveLength(1);
      const settled = await Promise.allSettled(silent);
      for (const one of settled)
        expect(one).toMatchObject({
          status: 'rejected',
          reason: { code: expect.stringMatching('ETIMEOUT|ECANCELLED') },
        });
    }
  });

  it('whose servers keep silent about one kind of address is not looked up by the system either', async () => {
    await using server = await NameServer.start({ 'half.example': 'half' });
    const resolve = receiverNames({
      allowPrivateAddresses: true,
      nameServers: [server.address],
      timeoutMs: 50,
      lookUp: () => expect.unreachable('the system is not asked'),
    });
    await expect(resolve('half.example')).rejects.toMatchObject({
      code: expect.stringMatching('ETIMEOUT|ECANCELLED'),
    });
  });

  it('that name servers do not know is looked up by the system, if it may be private: one at a time', async () => {
    await using server = await NameServer.start({});
    const nameServers = [server.address];
    const lookUps: PromiseWithResolvers<LookupAddress[]>[] = [];
    const lookUp = () => {
      const found = Promise.withResolvers<LookupAddress[]>();
      lookUps.push(found);
      return found.promise;
    };
    const forPublic = receiverNames({ allowPrivateAddresses: false, nameServers, lookUp });
    await expect(forPublic('receiver')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(lookUps).toHaveLength(0);
    const resolve = receiverNames({ allowPrivateAddresses: true, nameServers, lookUp });
    const first = resolve('receiver');
    const second = resolve('other');
    await expect.poll(() => server.asked.length).toBe(6);
    await expect.poll(() => lookUps.length).toBe(1);
    lookUps[0]?.resolve([{ address: '10.0.0.7', family: 4 }]);
    expect(await first).toEqual([{ address: '10.0.0.7', family: 4 }]);
    await expect.poll(() => lookUps.length).toBe(2);
    lookUps[1]?.reject(new Error('unknown'));
    await expect(second).rejects.toThrow('unknown');
  });

  it('localhost is this machine, whatever name servers say', async () => {
    const { server, names } = await start({ localhost: '192.0.2.7' });
    await using _ = server;
    const loopback = [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
    expect(await names(true)('localhost')).toEqual(loopback);
    expect(await names(true)('app.localhost')).toEqual(loopback);
    expect(server.asked).toEqual([]);
  });
});
