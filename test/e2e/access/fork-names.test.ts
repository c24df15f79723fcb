import { describe, expect } from 'vitest';
import { ForkResponse } from '../../../src/wire/responses.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}server: { drainTimeoutMs: 0 }\n`;

async function start() {
  const tokens = new KnownTokens({ ada: identity('ada'), root: identity('root', { roles: ['admin'] }) });
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model }, verifiers: [tokens] });
  /** An open turn, which does not go on in a fork, and who it is told. */
  const accepted = await service.post(
    '/api/message',
    { message: 'hello', sessionId: 'first' },
    bearer('ada'),
  );
  expect(accepted.status).toBe(200);
  await model.call(0);
  const fork = async (name: string, session: string) => {
    const path = `/api/sessions/${encodeURIComponent(session)}/fork`;
    const answer = await service.post(path, { sessionId: 'copy' }, bearer(name));
    return ForkResponse.parse(await answer.json());
  };
  const read = async (name: string) => {
    const path = '/api/sessions/copy/export';
    return (await service.fetch(path, { headers: bearer(name) })).text();
  };
  return { tokens, service, fork, read };
}

describe('a fork', () => {
  verifies('auth.isolation', 'it names the session that it was made from as its client does', async () => {
    const { service, fork, read } = await start();
    await using _closed = service;
    expect(await fork('ada', 'first')).toMatchObject({ sessionId: 'copy', from: 'first' });
    const lines = await read('ada');
    expect(lines).toContain('"from":"first"');
    expect(lines).toContain('this session was forked from first');
    expect(lines).not.toContain('acme/');
  });

  verifies('auth.isolation', 'it shows no id of a session that its client may not see any more', async () => {
    const { tokens, service, fork, read } = await start();
    await using _closed = service;
    await fork('root', 'acme/test:ada/first');
    expect(await read('root')).toContain('"from":"acme/test:ada/first"');
    tokens.identities.set('test-root', identity('root'));
    const lines = await read('root');
    expect(lines).toContain('"from":"hidden/hidden/hidden"');
    expect(lines).not.toContain('test:ada/');
  });
});
