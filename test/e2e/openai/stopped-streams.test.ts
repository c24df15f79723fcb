import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { listSessions, viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
});

/** Requests that no client comes back to: one that leaves cancels its turn. */
const REQUESTS = {
  'a chat completion': {
    path: '/v1/chat/completions',
    body: { model: 'default', stream: true, messages: [{ role: 'user', content: 'talk' }] },
  },
  'a chat completion without a stream': {
    path: '/v1/chat/completions',
    body: { model: 'default', stream: false, messages: [{ role: 'user', content: 'talk' }] },
  },
  'a response': { path: '/v1/responses', body: { model: 'default', stream: true, input: 'talk' } },
  'a response without a stream': {
    path: '/v1/responses',
    body: { model: 'default', stream: false, input: 'talk' },
  },
};

async function start(dataDir: string) {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model }, dataDir });
  return { model, service, [Symbol.asyncDispose]: () => service.close() };
}

describe('a service that stops in the middle of a reply', () => {
  for (const [name, { path, body }] of Object.entries(REQUESTS))
    verifies('openai.stream-stopped', name, async () => {
      await using folder = await tempDirectory();
      let sessionId = '';
      {
        await using rig = await start(folder.path);
        const answer = rig.service.fetch(path, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        });
        answer.catch(() => undefined);
        (await rig.model.call(0)).say('I talk ');
        // A stream has begun, or its client waits for the whole answer.
        if (body.stream) await answer;
        const [session] = await eventually(
          () => listSessions(rig.service),
          (sessions) => sessions.length === 1,
        );
        sessionId = session?.sessionId ?? '';
        await rig.service.close();
        const { status, headers } = await answer;
        // A client that sent the request again would begin another turn.
        if (!body.stream)
          expect({ status, retry: headers.get('x-should-retry') }).toEqual({ status: 409, retry: 'false' });
      }
      await using rig = await start(folder.path);
      (await rig.model.call(0)).answer('Here again.');
      const view = await eventually(
        () => viewOf(rig.service, sessionId),
        ({ openTurnId }) => openTurnId === null,
      );
      expect(view.turns).toMatchObject({ completed: 1, cancelled: 0 });
      expect(view.history.at(-1)).toMatchObject({ content: 'Here again.' });
    });

  verifies(
    'openai.stream-stopped',
    'and the stream of a response says so, with the number of the event before',
    async () => {
      await using folder = await tempDirectory();
      await using rig = await start(folder.path);
      const { path, body } = REQUESTS['a response'];
      const answering = rig.service.fetch(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      (await rig.model.call(0)).say('I talk ');
      const { body: stream } = await answering;
      if (!stream) throw new Error('the answer has no body');
      let told = '';
      for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
        const hadEvent = told.includes('sequence_number');
        told += piece;
        // A stream that is cut off before its first event has no event before the error.
        if (!hadEvent && told.includes('sequence_number')) void rig.service.close();
      }
      const events = [...told.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json));
      const { error, ...event } = events.at(-1);
      const { code, message, param } = error;
      const sequence_number = events.at(-2)?.sequence_number;
      expect(event).toEqual({ type: 'error', sequence_number, code, message, param });
      expect(sequence_number).toEqual(expect.any(Number));
    },
  );
});
