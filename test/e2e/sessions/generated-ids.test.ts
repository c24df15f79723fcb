import { describe, expect } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const hello = { role: 'user', content: 'hello' };
const said = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] } };

/** Requests that begin a session without naming one. */
const BEGINNINGS = {
  'a chat completion': ['/v1/chat/completions', { model: 'default', messages: [hello] }],
  'a response': ['/v1/responses', { model: 'default', input: 'hello' }],
  'a message of A2A': ['/a2a/message:send', said],
} as const;

/** Does not know which sessions there are, as a node of a cluster. */
async function start() {
  const log = new WatchedStore(memoryEventStore());
  const ids = Promise.withResolvers<string[]>();
  log.streamIds = () => ids.promise;
  const model = new DirectedModel();
  const service = await RunningService.start({ adapters: { store: log, model } });
  const close = (): Promise<void> => {
    ids.resolve([]);
    return service.close();
  };
  return { log, model, service, [Symbol.asyncDispose]: close };
}

describe('a session whose id the service makes', () => {
  for (const [name, [path, body]] of Object.entries(BEGINNINGS))
    verifies(
      'sessions.generated',
      async () => {
        await using setup = await start();
        const { log, model, service } = setup;
        const held = log.holdNext('turn.requested');
        const answer = service.post(path, body, { 'A2A-Version': '1.0' });
        await held.arrived;
        expect(model.calls).toHaveLength(1);
        held.release();
        (await model.call(0)).answer('Hello.');
        expect((await answer).status).toBe(200);
      },
      name,
    );

  verifies(
    'sessions.generated',
    async () => {
      await using setup = await start();
      const { log, model, service } = setup;
      const held = log.holdNext('turn.requested');
      const [path, body] = BEGINNINGS['a chat completion'];
      const answer = service.post(path, body, { 'Idempotency-Key': 'k' });
      await held.arrived;
      expect(model.calls).toHaveLength(0);
      held.release();
      (await model.call(0)).answer('Hello.');
      expect((await answer).status).toBe(200);
    },
    'but not one that is made from an idempotency key, which may have come before',
  );
});
