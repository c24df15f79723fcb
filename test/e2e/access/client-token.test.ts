import { describe, expect } from 'vitest';
import { connect } from '../../../src/client/session-client.ts';
import { CreateKeyResponse } from '../../../src/wire/api-keys.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline', script: [{ when: '([^]*)', reply: 'you said $1' }] },
});

async function createKey(service: RunningService, name: string) {
  const answer = await service.post('/api/keys', { name, roles: ['user'] });
  return CreateKeyResponse.parse(await answer.json());
}

describe('the client of a service that authenticates', () => {
  verifies('auth.client', async () => {
    await using service = await RunningService.start({ yaml: YAML, apiKeys: true });
    const { key } = await createKey(service, 'ada');
    using session = connect({ url: service.url, token: key });
    expect(await session.ask('hello')).toBe('you said hello');
    using nobody = connect({ url: service.url });
    await expect(nobody.ready()).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
      details: { reason: 'missing' },
    });
    using wrong = connect({ url: service.url, token: 'as_wrong' });
    await expect(wrong.ready()).rejects.toMatchObject({ name: 'RefusedError', code: 'UNAUTHORIZED' });
    using badId = connect({ url: service.url, token: key, session: 'bad id' });
    await expect(badId.ready()).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'session' },
    });
  });

  verifies('auth.client', 'a revoked token is replaced by that of the function', async () => {
    await using service = await RunningService.start({ yaml: YAML, apiKeys: true });
    const first = await createKey(service, 'ada');
    const second = await createKey(service, 'ada');
    const keys = [first.key, second.key];
    using renewing = connect({ url: service.url, token: () => keys.shift() ?? 'none' });
    using fixed = connect({ url: service.url, token: first.key });
    expect(await renewing.ask('one')).toBe('you said one');
    await fixed.ready();
    const gone = expect(
      (async () => {
        for await (const _ of fixed);
      })(),
    ).rejects.toMatchObject({ code: 'UNAUTHORIZED', details: { reason: 'revoked' } });
    expect((await service.fetch(`/api/keys/${first.keyId}`, { method: 'DELETE' })).status).toBe(200);
    await gone;
    expect(await renewing.ask('two')).toBe('you said two');
    expect(keys).toEqual([]);
  });

  verifies('auth.client', 'a service without authentication needs none', async () => {
    await using service = await RunningService.start({ yaml: YAML });
    using session = connect({ url: service.url, token: 'as_unneeded' });
    expect(await session.ask('hello')).toBe('you said hello');
  });
});
