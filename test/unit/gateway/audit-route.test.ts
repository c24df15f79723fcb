import { expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/core/access/audit-entry.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { auditRoute } from '../../../src/gateway/routes/audit-route.ts';

it('breaks the audit trail off when the credential that reads it has ended', async () => {
  const credential = new AbortController();
  const told: number[] = [];
  async function* entries(): AsyncGenerator<AuditEntry, void, void> {
    for (let index = 0; index < 1_000; index += 1) {
      told.push(index);
      if (index === 500) credential.abort(new Error('revoked'));
      const reason = `${index} ${'x'.repeat(1_000)}`;
      yield { time: new Date(0).toISOString(), what: 'turn.start', outcome: 'ok', reason };
    }
  }
  const route = auditRoute({ record: () => undefined, read: async () => entries() });
  const { body } = await route.handler(
    {
      method: 'GET',
      path: '/api/audit',
      query: '',
      headers: new Map(),
      peerAddress: '127.0.0.1',
      body: async () => new Uint8Array(),
      context: ANYONE,
      credential: {
        lost: credential.signal,
        hold: () => undefined,
        release: () => undefined,
        checkBy: () => undefined,
        onRefused: () => undefined,
      },
    },
    {},
  );
  if (!(body instanceof ReadableStream)) throw new Error('the answer is no stream');
  await expect(Array.fromAsync(body)).rejects.toThrow('revoked');
  expect(told).toHaveLength(501);
});
