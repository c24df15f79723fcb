import OpenAI from 'openai';
import { afterEach, describe, expect, vi } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { contentHash } from '../../../src/core/content-hash.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const HOUR_MS = 3_600_000;
const model = 'default';
const key = { headers: { 'Idempotency-Key': 'daily' } };

/** At a time that stands still, and that `passHours` moves on. */
async function start() {
  vi.useFakeTimers({ toFake: ['Date'] });
  const directed = new DirectedModel();
  // The thread of SQLite has a clock of its own.
  const store = memoryEventStore(() => Date.now());
  const service = await RunningService.start({ yaml: YAML, adapters: { model: directed, store } });
  const baseURL = `http://127.0.0.1:${service.port}/v1`;
  const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0, timeout: 30_000 });
  return { model: directed, service, client, [Symbol.asyncDispose]: () => service.close() };
}

type Rig = Awaited<ReturnType<typeof start>>;

function passHours(hours: number): void {
  vi.setSystemTime(Date.now() + hours * HOUR_MS);
}

/** Sends a message with the key, and has it answered unless it was before. @returns the session. */
type Way = (rig: Rig, text: string) => Promise<string>;

const response: Way = async ({ client }, input) => {
  const { response: got } = await client.responses.create({ model, input }, key).withResponse();
  return got.headers.get('X-Session-Id') ?? '';
};
const chat: Way = async ({ client }, content) => {
  const messages = [{ role: 'user' as const, content }];
  const { response: got } = await client.chat.completions.create({ model, messages }, key).withResponse();
  return got.headers.get('X-Session-Id') ?? '';
};
const task: Way = async ({ service }, text) => {
  const message = { role: 'ROLE_USER', messageId: text, parts: [{ text }] };
  const answer = await service.post(
    '/a2a/message:send',
    { message },
    { ...key.headers, 'A2A-Version': '1.0' },
  );
  return Object(await answer.json()).task.contextId;
};

async function answered(rig: Rig, way: Way, text: string): Promise<string> {
  const asking = way(rig, text);
  (await rig.model.callFor(text)).answer('Yes.');
  return asking;
}

async function sessionsOf({ service }: Rig): Promise<string[]> {
  const { sessions } = Object(await (await service.fetch('/api/sessions')).json());
  return sessions.map(({ sessionId }: { sessionId: string }) => sessionId).toSorted();
}

describe('an OpenAI request with a key that was used more than a day ago', () => {
  afterEach(() => void vi.useRealTimers());

  for (const [what, way] of Object.entries({ response, chat, task }))
    verifies('openai.expired-key', `(${what})`, async () => {
      await using rig = await start();
      const ids: string[] = [];
      for (const text of ['my secret is 42', 'hello', 'hello again']) {
        const id = await answered(rig, way, text);
        expect((await rig.model.callFor(text)).request.messages).toMatchObject([{ text }]);
        passHours(23);
        expect(await way(rig, text)).toBe(id);
        ids.push(id);
        passHours(2);
      }
      expect(rig.model.calls).toHaveLength(3);
      expect(new Set(ids).size).toBe(3);
      expect(await sessionsOf(rig)).toEqual(ids.toSorted());
    });

  verifies('openai.expired-key', 'twice at once, and after what it began first was deleted', async () => {
    await using rig = await start();
    const ask = (input: string) => rig.client.responses.create({ model, input }, key);
    const first = ask('one');
    (await rig.model.callFor('one')).answer('Yes.');
    await first;
    passHours(25);
    const both = [ask('two'), ask('two')];
    (await rig.model.callFor('two')).answer('No.');
    const [second, same] = await Promise.all(both);
    expect(same).toEqual(second);
    expect(rig.model.calls).toHaveLength(2);
    // The first one is deleted, by its client or because it is old. The day of the second is not over.
    await rig.client.responses.delete((await first).id);
    expect(await ask('two')).toEqual(second);
    expect(rig.model.calls).toHaveLength(2);
  });

  verifies('openai.expired-key', 'in a fork', async () => {
    await using rig = await start();
    const ask = async (input: string, previous_response_id?: string) => {
      const options = previous_response_id ? key : {};
      const asking = rig.client.responses.create(
        { model, input, ...(previous_response_id && { previous_response_id }) },
        options,
      );
      (await rig.model.callFor(input)).answer('Yes.');
      return asking;
    };
    const first = await ask('one');
    await ask('two', first.id);
    passHours(25);
    const forked = await ask('three', first.id);
    passHours(25);
    const again = await ask('four', first.id);
    expect((await rig.model.callFor('four')).request.messages).toMatchObject([
      { text: 'one' },
      { parts: [{ text: 'Yes.' }] },
      { text: 'four' },
    ]);
    await rig.client.responses.delete(again.id);
    expect(await rig.client.responses.retrieve(forked.id)).toMatchObject({ status: 'completed' });
  });

  verifies('openai.expired-key', '(conversation)', async () => {
    await using rig = await start();
    const { conversations } = rig.client;
    const first = await conversations.create({ metadata: { day: '1' } }, key);
    // As earlier versions have named it: their keys are known after an upgrade.
    expect(first.id).toBe(`conv-${(await contentHash('daily')).slice(0, 32)}`);
    passHours(25);
    const second = await conversations.create({ metadata: { day: '2' } }, key);
    expect(second.id).not.toBe(first.id);
    expect(await conversations.create({ metadata: { day: '2' } }, key)).toEqual(second);
    expect(await conversations.retrieve(first.id)).toEqual(first);
  });
});
