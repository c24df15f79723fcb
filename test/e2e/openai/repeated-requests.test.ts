import OpenAI from 'openai';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { type: 'function' as const, name: 'weather', parameters, strict: false };
const chatWeather = { type: 'function' as const, function: { name: 'weather', parameters } };
const model = 'default';
const key = (id: string) => ({ headers: { 'Idempotency-Key': id } });

async function start(options: ServiceOptions = {}) {
  const directed = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model: directed }, ...options });
  const baseURL = `http://127.0.0.1:${service.port}/v1`;
  const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0, timeout: 30_000 });
  return { model: directed, service, client, [Symbol.asyncDispose]: () => service.close() };
}

type Rig = Awaited<ReturnType<typeof start>>;
type AskedResponse = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'model'>;

/** Asks for a response, while the model answers its call of that number. */
async function answered(rig: Rig, call: number, answer: string, asked: AskedResponse) {
  const asking = rig.client.responses.create({ model, ...asked });
  (await rig.model.call(call)).answer(answer);
  return asking;
}

/** A response that waits for the weather, and the request that goes on with it. */
async function waitingResponse(rig: Rig, call = 0, place: { readonly conversation?: string } = {}) {
  const asking = rig.client.responses.create({
    model,
    input: 'Weather in Rome?',
    tools: [weather],
    ...place,
  });
  (await rig.model.call(call)).askFor({ name: 'weather', callId: 'w1', arguments: { city: 'Rome' } });
  const { id, output } = await asking;
  const [called] = output;
  if (called?.type !== 'function_call') throw new Error('there is no call');
  const outputOf = (output: string) => ({
    model,
    tools: [weather],
    previous_response_id: id,
    input: [{ type: 'function_call_output' as const, call_id: called.call_id, output }],
  });
  return outputOf;
}

/** A chat that waits for the weather, and the request that goes on with it. */
async function waitingChat(rig: Rig) {
  const question = { role: 'user' as const, content: 'Weather in Rome?' };
  const asking = rig.client.chat.completions.create({ model, messages: [question], tools: [chatWeather] });
  const call = await rig.model.call(0);
  call.say('Let me look.');
  call.askFor({ name: 'weather', callId: 'w1', arguments: { city: 'Rome' } });
  const [choice] = (await asking).choices;
  if (!choice) throw new Error('there is no choice');
  const id = choice.message.tool_calls?.[0]?.id ?? '';
  const resultOf = (content: string): OpenAI.ChatCompletionCreateParamsNonStreaming => ({
    model,
    tools: [chatWeather],
    messages: [question, choice.message, { role: 'tool', tool_call_id: id, content }],
  });
  return resultOf;
}

async function sessionsOf({ service }: Rig): Promise<readonly unknown[]> {
  return Object(await (await service.fetch('/api/sessions')).json()).sessions;
}

describe('an OpenAI request that is repeated with its key', () => {
  verifies('openai.key', 'follows the response that it followed first', async () => {
    await using folder = await tempDirectory();
    const asked = { model, input: 'Which?' };
    let first: OpenAI.Responses.Response;
    let second: OpenAI.Responses.Response;
    {
      await using rig = await start({ dataDir: folder.path });
      first = await answered(rig, 0, 'I will.', { input: 'Remember 7.' });
      const ask = () => rig.client.responses.create({ ...asked, previous_response_id: first.id }, key('k1'));
      const both = [ask(), ask()];
      (await rig.model.call(1)).answer('7.');
      const [one, two] = await Promise.all(both);
      expect(two).toEqual(one);
      second = await ask();
      expect(second).toEqual(one);
      const other = { ...asked, input: 'Other?', previous_response_id: first.id };
      await expect(rig.client.responses.create(other, key('k1'))).rejects.toMatchObject({ status: 422 });
      expect(await sessionsOf(rig)).toHaveLength(1);
    }
    await using rig = await start({ dataDir: folder.path });
    const again = await rig.client.responses.create({ ...asked, previous_response_id: first.id }, key('k1'));
    expect(again).toEqual(second);
    expect(rig.model.calls).toHaveLength(0);
  });

  verifies('openai.key', 'gets the calls of its tools, also where it waits behind another turn', async () => {
    await using rig = await start();
    const inSession = { headers: { 'Idempotency-Key': 'k1', 'X-Session-Id': 's' } };
    const busy = rig.service.post('/api/message-sync', { message: 'first', sessionId: 's' });
    const running = await rig.model.call(0);
    const messages = [{ role: 'user' as const, content: 'Weather in Rome?' }];
    const ask = () =>
      rig.client.chat.completions.create({ model, messages, tools: [chatWeather] }, inSession);
    const both = [ask(), ask()];
    await eventually(
      async () => (await eventsOf(rig.service, 's')).filter(({ event }) => event === 'message').length,
      (count) => count === 2,
    );
    both.push(ask());
    running.answer('Done.');
    await busy;
    (await rig.model.call(1)).askFor({ name: 'weather', callId: 'w1', arguments: { city: 'Rome' } });
    for (const { choices } of await Promise.all(both))
      expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls' });
    expect(rig.model.calls).toHaveLength(2);
  });

  const hello = { model, messages: [{ role: 'user' as const, content: 'hello' }] };
  const withUsage = { ...hello, stream_options: { include_usage: true } };
  const ways: [string, (client: OpenAI) => PromiseLike<OpenAI.ChatCompletion>][] = [
    ['chat completion', ({ chat }) => chat.completions.create(hello, key('k1'))],
    ['stream', ({ chat }) => chat.completions.stream(withUsage, key('k1')).finalChatCompletion()],
  ];
  for (const [what, ask] of ways)
    verifies('openai.key', `has the same tokens as the first ${what}`, async () => {
      await using rig = await start();
      const asking = ask(rig.client);
      (await rig.model.call(0)).answerWithUsage({ inputTokens: 5, outputTokens: 2 }, 'hi');
      const first = await asking;
      expect(first.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 2 });
      expect(await ask(rig.client)).toEqual({ ...first, created: expect.any(Number) });
      expect(rig.model.calls).toHaveLength(1);
    });

  verifies('openai.key', 'in flight, and in a fork', async () => {
    await using rig = await start();
    const first = await answered(rig, 0, 'Ready.', { input: 'Begin.' });
    const background = { model, input: 'Go on.', previous_response_id: first.id, background: true };
    const one = await rig.client.responses.create(background, key('k1'));
    const running = await rig.model.call(1);
    expect(await rig.client.responses.create(background, key('k1'))).toEqual(one);
    running.answer('Done.');
    expect((await rig.client.responses.create({ ...background }, key('k1'))).id).toBe(one.id);
    // Its place is taken now: another request is answered in a fork, twice the same one.
    const forked = { model, input: 'Or else?', previous_response_id: first.id };
    const ask = () => rig.client.responses.create(forked, key('k2'));
    const both = [ask(), ask()];
    (await rig.model.call(2)).answer('Else.');
    const [left, right] = await Promise.all(both);
    expect(right).toEqual(left);
    expect(await ask()).toEqual(left);
    expect(rig.model.calls).toHaveLength(3);
    expect(await sessionsOf(rig)).toHaveLength(2);
  });

  verifies('openai.key', 'brings the result of a tool of the client', async () => {
    await using folder = await tempDirectory();
    let asked: OpenAI.Responses.ResponseCreateParamsNonStreaming;
    let first: OpenAI.Responses.Response;
    {
      await using rig = await start({ dataDir: folder.path });
      const outputOf = await waitingResponse(rig);
      asked = outputOf('sunny');
      const ask = () => rig.client.responses.create(asked, key('k1'));
      const both = [ask(), ask()];
      const call = await rig.model.call(1);
      call.askFor({ name: 'weather', callId: 'w2', arguments: { city: 'Oslo' } });
      const [one, two] = await Promise.all(both);
      expect(two).toEqual(one);
      first = await ask();
      expect(first).toEqual(one);
      await expect(rig.client.responses.create(outputOf('rainy'), key('k1'))).rejects.toMatchObject({
        status: 422,
      });
    }
    await using rig = await start({ dataDir: folder.path });
    expect(await rig.client.responses.create(asked, key('k1'))).toEqual(first);
    // Without the key, and with another one, it is another request.
    const another = rig.client.responses.create(asked, key('k2'));
    (await rig.model.call(0)).answer('Sunny it is.');
    expect((await another).id).not.toBe(first.id);
  });

  for (const [what, isNamed] of Object.entries({ previous_response_id: false, conversation: true }))
    verifies('openai.key', `brings a result and a message behind it, with ${what}`, async () => {
      await using rig = await start();
      const named = isNamed ? { conversation: 'trip' } : {};
      const outputOf = await waitingResponse(rig, 0, named);
      const said = { role: 'user' as const, content: 'Be quick.' };
      const { previous_response_id, input = [], ...rest } = outputOf('sunny');
      const asked = {
        ...rest,
        input: [...input, said],
        ...(isNamed ? named : { previous_response_id }),
      };
      const ask = () => rig.client.responses.create(asked, key('k1'));
      const first = ask();
      (await rig.model.callFor('Be quick.')).answer('Sunny.');
      const answer = await first;
      const calls = rig.model.calls.length;
      expect(await ask()).toEqual(answer);
      expect(rig.model.calls).toHaveLength(calls);
    });

  verifies('openai.key', 'brings the result of a tool to a chat', async () => {
    await using folder = await tempDirectory();
    let asked: OpenAI.ChatCompletionCreateParamsNonStreaming;
    let first: OpenAI.ChatCompletion;
    {
      await using rig = await start({ dataDir: folder.path });
      const resultOf = await waitingChat(rig);
      asked = resultOf('sunny');
      const ask = () => rig.client.chat.completions.create(asked, key('k1'));
      const both = [ask(), ask()];
      const call = await rig.model.call(1);
      call.say('In Rome it is sunny.');
      call.askFor({ name: 'weather', callId: 'w2', arguments: { city: 'Oslo' } });
      const [one, two] = await Promise.all(both);
      first = { ...Object(one), created: 0 };
      expect(first.choices).toMatchObject([{ message: { content: 'In Rome it is sunny.' } }]);
      expect({ ...two, created: 0 }).toEqual(first);
      const other = rig.client.chat.completions.create(resultOf('rainy'), key('k1'));
      await expect(other).rejects.toMatchObject({ status: 422 });
      // The turn goes on, and ends.
      const [choice] = first.choices;
      const id = choice?.message.tool_calls?.[0]?.id ?? '';
      const messages = [
        ...asked.messages,
        ...(choice ? [choice.message] : []),
        { role: 'tool' as const, tool_call_id: id, content: 'cold' },
      ];
      const last = rig.client.chat.completions.create({ ...asked, messages });
      (await rig.model.call(2)).answer('Cold in Oslo.');
      await last;
      expect({ ...(await ask()), created: 0 }).toEqual(first);
    }
    await using rig = await start({ dataDir: folder.path });
    const again = await rig.client.chat.completions.create(asked, key('k1'));
    expect({ ...again, created: 0 }).toEqual(first);
    const streamed = rig.client.chat.completions.stream({ ...asked, stream: true }, key('k2'));
    (await rig.model.call(0)).answer('Sunny.');
    expect(await streamed.finalContent()).toBe('Sunny.');
    expect(await sessionsOf(rig)).toHaveLength(2);
  });

  verifies('openai.key', 'is not stored, and in flight', async () => {
    await using rig = await start();
    const asked = { model, input: 'Which?', store: false, stream: true as const };
    const ask = async () => {
      const stream = await rig.client.responses.create(asked, key('k1'));
      const events = stream[Symbol.asyncIterator]();
      const begun = await events.next();
      return { begun: begun.value?.type, rest: restOf(events) };
    };
    const all = await Promise.all([ask(), ask(), ask()]);
    expect(all.map(({ begun }) => begun)).toEqual(Array(3).fill('response.created'));
    (await rig.model.call(0)).answer('7.');
    for (const { rest } of all)
      expect((await rest).at(-1)).toMatchObject({
        type: 'response.completed',
        response: { output: [{ content: [{ text: '7.' }] }] },
      });
    expect(rig.model.calls).toHaveLength(1);
    await expect.poll(() => sessionsOf(rig)).toHaveLength(0);
  });
});

async function restOf<T>(events: AsyncIterator<T>): Promise<T[]> {
  const rest: T[] = [];
  for (let next = await events.next(); !next.done; next = await events.next()) rest.push(next.value);
  return rest;
}
