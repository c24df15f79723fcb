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

/** @param early how often the model has been called while the log has not written the message yet. */
async function begin(
  [path, body]: (typeof BEGINNINGS)[keyof typeof BEGINNINGS],
  headers: Record<string, string>,
  early: number,
): Promise<void> {
  await using setup = await start();
  const { log, model, service } = setup;
  const held = log.holdNext('turn.requested');
  const answer = service.post(path, body, headers);
  await held.arrived;
  expect(model.calls).toHaveLength(early);
  held.release();
  (await model.call(0)).answer('Hello.');
  expect((await answer).status).toBe(200);
}

describe('a session whose id the service makes', () => {
  for (const [name, beginning] of Object.entries(BEGINNINGS))
    verifies('sessions.generated', name, () => begin(beginning, { 'A2A-Version': '1.0' }, 1));

  verifies(
    'sessions.generated',
    'but not one that is made from an idempotency key, which may have come before',
    () => begin(BEGINNINGS['a chat completion'], { 'Idempotency-Key': 'k' }, 0),
  );
});
