import { describe, expect, it } from 'vitest';
import { InspectFront } from '../../../src/gateway/console/inspect-front.ts';
import { HeldCredentials } from '../../../src/gateway/security/held-credentials.ts';
import { OriginPolicy } from '../../../src/gateway/security/origin-policy.ts';

function isAdmitted(peerAddress: string, more: Readonly<Record<string, string>> = {}, query = ''): boolean {
  const originPolicy = new OriginPolicy({ listenHost: '::', allowedHosts: [], allowedOrigins: [] });
  const front = new InspectFront({ originPolicy, token: 'secret', attach: () => () => undefined });
  const headers = new Map(Object.entries({ host: 'localhost', ...more }));
  const answer = front.admit({ method: 'GET', path: '/inspect', query, headers, peerAddress });
  return 'open' in answer;
}

describe('the inspector', () => {
  it.each([
    '127.0.0.1',
    '127.1.2.3',
    '::1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '::ffff:127.0.0.1',
    '0000:0000:0000:0000:0000:ffff:7f00:0001',
  ])('answers to this machine, however its address is written: %s', (address) => {
    expect(isAdmitted(address)).toBe(true);
  });

  it.each(['10.0.0.1', '128.0.0.1', '2001:db8::1', '::ffff:10.0.0.1', '::2', ''])(
    'refuses another machine: %s',
    (address) => {
      expect(isAdmitted(address)).toBe(false);
    },
  );

  it('refuses a proxy of this machine, which speaks for somebody else', () => {
    expect(isAdmitted('127.0.0.1', { 'x-forwarded-for': '127.0.0.1' })).toBe(false);
  });

  it('has whoever has the token in the audit trail, by the address', async () => {
    const entries: object[] = [];
    const front = new InspectFront({
      originPolicy: new OriginPolicy({ listenHost: '::', allowedHosts: [], allowedOrigins: [] }),
      token: 'secret',
      attach: () => () => undefined,
      clients: {
        authenticator: { authenticate: () => expect.unreachable('the token is enough') },
        credentials: new HeldCredentials(() => expect.unreachable('the token is never renewed')),
        audit: { record: (entry) => void entries.push(entry) },
        clientAddress: (address) => address,
      },
    });
    const headers = new Map([['host', 'localhost']]);
    const wanted = { method: 'GET', path: '/inspect', headers, peerAddress: '10.0.0.1' };
    await front.admit({ ...wanted, query: 'token=secret' });
    expect(entries).toEqual([{ address: '10.0.0.1', what: 'GET /inspect', outcome: 'ok' }]);
  });

  it('answers to everybody with the token, and to nobody else with another one', () => {
    expect(isAdmitted('10.0.0.1', {}, 'token=secret')).toBe(true);
    expect(isAdmitted('10.0.0.1', {}, 'token=secrets')).toBe(false);
  });
});
