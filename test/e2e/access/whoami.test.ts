import { describe, expect } from 'vitest';
import { WhoamiResponse } from '../../../src/wire/whoami.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

describe('GET /api/whoami', () => {
  verifies('auth.whoami', async () => {
    const expiresAt = Date.parse('2099-01-01T00:00:00.000Z');
    const ada = identity('ada', { roles: ['reader'], expiresAt });
    await using service = await RunningService.start({
      verifiers: [new KnownTokens({ ada, bob: identity('bob', { tenant: 'orbit' }) })],
    });
    const who = async (name: string) => {
      const answer = await service.fetch('/api/whoami', { headers: bearer(name) });
      return WhoamiResponse.strict().parse(await answer.json());
    };
    expect(await who('ada')).toMatchObject({
      principal: 'test:ada',
      tenant: 'acme',
      roles: ['reader'],
      scopes: ['sessions:read', 'servers:read'],
      expiresAt: '2099-01-01T00:00:00.000Z',
    });
    expect(await who('bob')).toMatchObject({ principal: 'test:bob', tenant: 'orbit' });
    expect(await who('bob')).not.toHaveProperty('expiresAt');
    expect((await service.fetch('/api/whoami')).status).toBe(401);
  });
});
