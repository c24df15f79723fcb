import { describe, expect } from 'vitest';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import {
  chatCall,
  eventsOf,
  readAndCut,
  resumed,
  type SentEvent,
  toldText,
} from '../../support/tools/mcp/resumed-stream.ts';
import { initializeMcp, openMcp } from '../../support/tools/mcp-http.ts';
import { verifies } from '../requirements.ts';

const REVISION = '2025-03-26';
const SHARED = 'acme/test:ada/plan';
const YAML = `${SCRIPTED}server: { drainTimeoutMs: 0 }\n`;

const isFirstPiece = ({ message }: SentEvent): boolean => message?.method === 'notifications/progress';

/** Bob talks in a session of Ada's, with a call in a batch, and has lost its stream after the first piece. */
async function lostBatch() {
  const model = new DirectedModel();
  const verifiers = [new KnownTokens({ ada: identity('ada'), bob: identity('bob') })];
  const service = await RunningService.start({ yaml: YAML, adapters: { model }, verifiers });
  const { port } = service;
  const created = service.post('/api/message-sync', { message: 'hi', sessionId: 'plan' }, bearer('ada'));
  (await model.call(0)).answer('hello');
  await created;
  const grants = `/api/sessions/plan/grants`;
  const given = await service.post(grants, { principal: 'test:bob', access: 'talk' }, bearer('ada'));
  const { grant } = (await given.json()) as { readonly grant: { readonly grantId: string } };
  const opened = await initializeMcp(port, REVISION, bearer('bob'));
  const bob = { ...opened, ...bearer('bob'), 'Mcp-Protocol-Version': REVISION };
  const batch = [chatCall(2, 'and now?', { sessionId: SHARED }), { jsonrpc: '2.0', id: 3, method: 'ping' }];
  const stream = await openMcp(port, 'POST', bob, batch);
  const call = await model.call(1);
  call.say('the first ');
  const before = await readAndCut(stream, isFirstPiece);
  return {
    call,
    before,
    revoke: () => service.fetch(`${grants}/${grant.grantId}`, { method: 'DELETE', headers: bearer('ada') }),
    resume: () => resumed(port, bob, before.at(-1)?.id ?? ''),
    [Symbol.asyncDispose]: () => service.close(),
  };
}

describe('the stream of a batch with a call to a shared session', () => {
  verifies(
    'mcp.resume-access',
    'not by who may not read its session any more, if it is that of a batch',
    async () => {
      await using setup = await lostBatch();
      const { call, before, revoke, resume } = setup;
      call.say('and the secret');
      expect((await revoke()).status).toBe(200);
      const { status, body } = await resume();
      expect(status).toBe(404);
      expect(toldText(before)).toBe('the first ');
      expect(await body).not.toContain('secret');
    },
  );

  verifies('mcp.resume-access', 'by who may read its session, if it is that of a batch', async () => {
    await using setup = await lostBatch();
    const rest = await setup.resume();
    setup.call.say('and the rest');
    setup.call.end();
    expect(toldText(eventsOf(await rest.body))).toBe('and the rest');
  });
});
