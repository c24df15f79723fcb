import { isDeepStrictEqual } from 'node:util';
import OpenAI from 'openai';
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect } from 'vitest';
import { bearer, identity, KnownTokens, only } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  systemPrompt: 'Be brief.',
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const model = 'default';
const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};

async function start(options: ServiceOptions = {}) {
  const directed = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model: directed }, ...options });
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: 'none' });
  return { model: directed, service, client, [Symbol.asyncDispose]: () => service.close() };
}

type Rig = Awaited<ReturnType<typeof start>>;
type Asked = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'model'>;

/** Asks, while the model answers its call of that number. */
async function answered({ client, model: directed }: Rig, call: number, answer: string, asked: Asked) {
  const asking = client.responses.create({ model, ...asked });
  (await directed.call(call)).answer(answer);
  return asking;
}

/** The whole stream of a response, as text. */
async function streamOf({ service }: Rig, id: string, after?: number): Promise<string> {
  const from = after === undefined ? '' : `&starting_after=${after}`;
  const text = await (await service.fetch(`/v1/responses/${id}?stream=true${from}`)).text();
  // Comments are no events.
  return text.replaceAll(/^:\n\n/gm, '');
}

function eventsOf(stream: string): ResponseStreamEvent[] {
  return [...stream.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json));
}

const settled = (events: readonly ResponseStreamEvent[]) =>
  events.map(({ type }) => type.replace('response.', ''));

async function all(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe("OpenAI's responses", () => {
  verifies('openai.responses', async () => {
    await using rig = await start();
    const asking = rig.client.responses.create({
      model,
      input: 'hello',
      instructions: 'Speak French.',
      temperature: 0.5,
      max_output_tokens: 50,
      metadata: { purpose: 'test' },
    });
    const call = await rig.model.call(0);
    expect(call.request).toMatchObject({
      systemPrompt: 'Be brief.\n\nSpeak French.',
      settings: { temperature: 0.5, maxTokens: 50 },
      messages: [{ role: 'user', text: 'hello' }],
    });
    call.answerWithUsage({ inputTokens: 9, outputTokens: 2, cachedTokens: 4 }, 'Bonjour ', 'Ann.');
    const response = await asking;
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model,
      output_text: 'Bonjour Ann.',
      output: [{ type: 'message', role: 'assistant', status: 'completed' }],
      usage: {
        input_tokens: 9,
        output_tokens: 2,
        total_tokens: 11,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      },
      instructions: 'Speak French.',
      temperature: 0.5,
      max_output_tokens: 50,
      metadata: { purpose: 'test' },
      previous_response_id: null,
      error: null,
      access_programs: null,
    });
    expect(await rig.client.responses.retrieve(response.id)).toEqual({ ...response });
    const items = await rig.client.responses.inputItems.list(response.id);
    expect(items.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
    ]);
    await rig.client.responses.delete(response.id);
    await expect(rig.client.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
  });

  verifies(
    'openai.responses',
    'with a tool of the agent that fails, and as the input of another one',
    async () => {
      const tools = new DirectedTools({ look: {} });
      const mcpServers = { sky: { type: 'stdio', command: 'none' } };
      const yaml = JSON.stringify({ ...JSON.parse(YAML), mcpServers });
      const directed = new DirectedModel();
      await using rig = await start({ yaml, adapters: { model: directed, connector: tools } });
      const asking = rig.client.responses.create({ model, input: 'look' });
      (await directed.call(0)).askFor({ name: 'look', callId: 'c1' });
      (await tools.call(0)).settle({ status: 'failed', reason: 'it is dark' });
      (await directed.call(1)).answer('No idea.');
      const { output } = await asking;
      const content = [{ type: 'text', text: 'it is dark' }];
      expect(output).toMatchObject([
        {
          type: 'mcp_call',
          server_label: 'sky',
          name: 'look',
          status: 'failed',
          output: null,
          error: { type: 'mcp_tool_execution_error', content },
        },
        { type: 'message' },
      ]);
      // A client that keeps the conversation itself sends it back, also one that has errors of other servers, or older ones.
      const errors = [
        'at night',
        { type: 'http_error', code: 502, message: 'it is away' },
        { type: 'mcp_tool_execution_error', content: { at: 'night' } },
      ];
      const others = errors.map((error, index) => ({
        type: 'mcp_call',
        id: `o${index}`,
        server_label: 'sky',
        name: 'look',
        arguments: '{}',
        error,
      }));
      const input = [
        { role: 'user', content: 'look' },
        ...output,
        ...others,
        { role: 'user', content: 'And now?' },
      ];
      const again = rig.service.post('/v1/responses', { model, input });
      const call = await directed.call(2);
      const results = call.request.messages.filter(({ role }) => role === 'tool');
      expect(results).toMatchObject(
        ['it is dark', 'at night', 'it is away', '{"at":"night"}'].map((text) => ({ text })),
      );
      call.answer('Still dark.');
      expect((await again).status).toBe(200);
    },
  );

  verifies('openai.responses', 'cut by a limit, and failed', async () => {
    await using rig = await start();
    const cut = rig.client.responses.create({ model, input: 'long' });
    (await rig.model.call(0)).say('It is');
    (await rig.model.call(0)).end({ finishReason: 'length' });
    expect(await cut).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output_text: 'It is',
    });
    const failing = rig.client.responses.create({ model, input: 'fail' });
    (await rig.model.call(1)).fail(new Error('the provider is gone'));
    await expect(failing).rejects.toMatchObject({ code: 'agent_error', type: 'server_error' });
  });

  verifies('openai.responses', 'whoever may not read the reply begins nothing', async () => {
    const cleo = identity('cleo', { scopes: only('sessions:write') });
    const ada = identity('ada', { roles: ['admin'] });
    await using rig = await start({ verifiers: [new KnownTokens({ cleo, ada })] });
    const refused = await rig.service.post('/v1/responses', { model, input: 'hello' }, bearer('cleo'));
    expect(refused.status).toBe(403);
    const listed = await rig.service.fetch('/api/sessions', { headers: bearer('ada') });
    expect(await listed.json()).toMatchObject({ sessions: [] });
    expect(rig.model.calls).toHaveLength(0);
  });

  verifies('openai.responses-stream', async () => {
    await using rig = await start();
    const stream = rig.client.responses.stream({ model, input: 'hello' });
    const seen: ResponseStreamEvent[] = [];
    stream.on('event', (event) => seen.push(event));
    const call = await rig.model.call(0);
    call.say('Hé', 'llo "you"', '\nand 🙂', '🙂'.repeat(40));
    call.end({ usage: { inputTokens: 1, outputTokens: 2 } });
    const final = await stream.finalResponse();
    const text = `Héllo "you"\nand 🙂${'🙂'.repeat(40)}`;
    expect(final).toMatchObject({ status: 'completed', output_text: text, usage: { total_tokens: 3 } });
    expect(seen.map((event) => event.sequence_number)).toEqual(seen.map((_, index) => index));
    const types = settled(seen);
    const withoutDeltas = types.filter((type) => type !== 'output_text.delta');
    expect(withoutDeltas).toEqual([
      ...['created', 'in_progress', 'output_item.added', 'content_part.added'],
      ...['output_text.done', 'content_part.done', 'output_item.done', 'completed'],
    ]);
    const deltas = seen.flatMap((event) =>
      event.type === 'response.output_text.delta' ? [event.delta] : [],
    );
    expect(deltas.join('')).toBe(text);
    expect(deltas.length).toBeGreaterThan(3);
  });

  verifies('openai.responses-resumed', async () => {
    await using folder = await tempDirectory();
    let before = '';
    let id = '';
    {
      await using rig = await start({ dataDir: folder.path });
      const live = await rig.client.responses.create({ model, input: 'hello', stream: true });
      const reading = all(live);
      const call = await rig.model.call(0);
      for (const piece of 'One two three, and then some more of it.'.split(/(?=[a-z]{2})/)) call.say(piece);
      call.end();
      const events = await reading;
      const [created] = events;
      if (created?.type !== 'response.created') throw new Error('the first event is another one');
      ({ id } = created.response);
      before = await streamOf(rig, id);
      expect(eventsOf(before)).toEqual(events);
      for (const { sequence_number: after } of events) {
        const rest = await streamOf(rig, id, after);
        expect(before.endsWith(rest)).toBe(true);
        expect(eventsOf(rest)).toEqual(events.slice(after + 1));
      }
    }
    await using rig = await start({ dataDir: folder.path });
    expect(await streamOf(rig, id)).toBe(before);
  });

  verifies(
    'openai.responses-resumed',
    'in which a reply was interrupted: nobody takes the new one for its continuation',
    async () => {
      await using folder = await tempDirectory();
      let id = '';
      {
        await using rig = await start({ dataDir: folder.path });
        const response = await rig.client.responses.create({ model, input: 'go', background: true });
        ({ id } = response);
        (await rig.model.call(0)).say('What was said is lost');
      }
      await using rig = await start({ dataDir: folder.path });
      const reading = streamOf(rig, id, 5);
      (await rig.model.call(0)).answer('Another reply.');
      const events = eventsOf(await reading);
      expect(events.slice(0, 2)).toMatchObject([
        {
          type: 'response.output_item.done',
          output_index: 0,
          sequence_number: 1_000_000,
          item: { status: 'incomplete', content: [] },
        },
        { type: 'response.output_item.added', output_index: 1 },
      ]);
      const deltas = events.flatMap((event) =>
        event.type === 'response.output_text.delta' ? [event.delta] : [],
      );
      expect(deltas.join('')).toBe('Another reply.');
      expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
      expect(eventsOf(await streamOf(rig, id, 5))).toEqual(events);
    },
  );

  verifies(
    'openai.responses-resumed',
    'by a client that has heard the lost reply: the SDK ends it and goes on with the new one',
    async () => {
      await using folder = await tempDirectory();
      const heard: ResponseStreamEvent[] = [];
      let id = '';
      {
        await using rig = await start({ dataDir: folder.path });
        ({ id } = await rig.client.responses.create({ model, input: 'go', background: true }));
        const stream = await rig.client.responses.retrieve(id, { stream: true });
        (await rig.model.call(0)).say('What was said ', 'is lost ', 'soon');
        for await (const event of stream) {
          heard.push(event);
          if (event.type === 'response.output_text.delta') break;
        }
      }
      await using rig = await start({ dataDir: folder.path });
      const after = heard.at(-1)?.sequence_number ?? -1;
      const going = rig.client.responses.retrieve(id, { stream: true, starting_after: after });
      (await rig.model.call(0)).answer('Another reply.');
      heard.push(...(await all(await going)));
      const final = heard.reduce<OpenAI.Responses.Response | undefined>(
        (response, event) => accumulateResponse(event, response),
        undefined,
      );
      const shown = await rig.client.responses.retrieve(id);
      expect(shown.output_text).toBe('Another reply.');
      expect(final?.output).toEqual(shown.output);
      // As it comes through another node, to a client that stays connected.
      const whole = heard.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
      const headers = { 'content-type': 'text/event-stream' };
      const replayed = new OpenAI({
        baseURL: 'http://127.0.0.1:9/v1',
        apiKey: 'none',
        fetch: async () => new Response(whole, { headers }),
      });
      const last = await replayed.responses.stream({ model, input: 'go' }).finalResponse();
      expect(last.output_text).toBe('Another reply.');
      // Read from its beginning, it differs in the lost text alone.
      const again = eventsOf(await streamOf(rig, id));
      const isLost = (event: ResponseStreamEvent) => !again.some((one) => isDeepStrictEqual(one, event));
      expect(settled(heard.filter(isLost))).toEqual(['content_part.added', 'output_text.delta']);
      expect(heard.filter((event) => !isLost(event))).toEqual(again);
    },
  );

  verifies('openai.responses-follow', async () => {
    await using rig = await start();
    const first = await answered(rig, 0, 'I will.', { input: 'Remember 7.' });
    const second = await answered(rig, 1, '7.', { input: 'Which?', previous_response_id: first.id });
    expect((await rig.model.call(1)).request.messages).toMatchObject([
      { text: 'Remember 7.' },
      { parts: [{ text: 'I will.' }] },
      { text: 'Which?' },
    ]);
    const session = (id: string) => id.split('~').at(-1);
    expect(session(second.id)).toBe(session(first.id));
    expect(second.previous_response_id).toBe(first.id);
    // Asked again from the first one: the second one is no part of it.
    const other = await answered(rig, 2, 'Seven.', { input: 'In words?', previous_response_id: first.id });
    expect(session(other.id)).not.toBe(session(first.id));
    expect((await rig.model.call(2)).request.messages).toMatchObject([
      { text: 'Remember 7.' },
      { parts: [{ text: 'I will.' }] },
      { text: 'In words?' },
    ]);
    const last = await answered(rig, 3, 'Yes.', { input: 'Sure?', previous_response_id: second.id });
    expect(session(last.id)).toBe(session(first.id));
    await expect(rig.client.responses.delete(first.id)).rejects.toMatchObject({ status: 400 });
  });

  verifies('openai.responses-follow', 'two at once: neither hears of the other', async () => {
    await using rig = await start();
    const first = await answered(rig, 0, 'Ready.', { input: 'Begin.' });
    const both = ['left', 'right'].map((input) =>
      rig.client.responses.create({ model, input, previous_response_id: first.id }),
    );
    (await rig.model.callFor('left')).answer('to the left');
    (await rig.model.callFor('right')).answer('to the right');
    const [left, right] = await Promise.all(both);
    expect([left?.output_text, right?.output_text]).toEqual(['to the left', 'to the right']);
    for (const call of [1, 2]) expect((await rig.model.call(call)).request.messages).toHaveLength(3);
  });

  verifies('openai.responses-conversation', async () => {
    await using rig = await start();
    const conversation = 'trip';
    const first = await answered(rig, 0, 'Hello Ann.', { input: 'I am Ann.', conversation });
    expect(first.conversation).toEqual({ id: 'trip' });
    await answered(rig, 1, 'Ann.', {
      input: [{ role: 'user', content: 'Who am I?' }],
      conversation: { id: 'trip' },
    });
    expect((await rig.model.call(1)).request.messages).toHaveLength(3);
    expect(await viewOf(rig.service, 'trip')).toMatchObject({ turns: { completed: 2 } });
  });

  verifies('openai.responses-background', async () => {
    await using rig = await start();
    const { id, status } = await rig.client.responses.create({ model, input: 'work', background: true });
    expect(['queued', 'in_progress']).toContain(status);
    const reading = rig.client.responses.retrieve(id, { stream: true });
    (await rig.model.call(0)).answer('Done at last.');
    const events = await all(await reading);
    expect(settled(events).slice(0, 3)).toEqual(['created', 'queued', 'in_progress']);
    expect(events.at(-1)?.type).toBe('response.completed');
    expect(await rig.client.responses.retrieve(id)).toMatchObject({
      status: 'completed',
      background: true,
      output_text: 'Done at last.',
    });
    const second = await rig.client.responses.create({ model, input: 'more', background: true });
    const call = await rig.model.call(1);
    call.say('Work');
    expect(await rig.client.responses.cancel(second.id)).toMatchObject({ status: 'cancelled' });
    await call.aborted;
    expect(await rig.client.responses.retrieve(second.id)).toMatchObject({ status: 'cancelled' });
  });

  verifies(
    'openai.responses-background',
    'and ends with its client otherwise, unless that has sent a key with which it can come back',
    async () => {
      await using rig = await start();
      const leave = async (index: number, background: boolean, headers: Record<string, string> = {}) => {
        const stop = new AbortController();
        const stream = await rig.client.responses.create(
          { model, input: 'talk', stream: true, background },
          { headers, signal: stop.signal },
        );
        const call = await rig.model.call(index);
        call.say('I talk ', 'on');
        for await (const event of stream) if (event.type === 'response.output_text.delta') break;
        stop.abort();
        return call;
      };
      await (await leave(0, false)).aborted;
      const kept = await leave(1, true);
      kept.answer(' and on');
      await kept.reply;
      expect(kept.signal.aborted).toBe(false);
      const headers = { 'Idempotency-Key': 'k' };
      (await leave(2, false, headers)).answer(' and on');
      const again = await rig.client.responses.create(
        { model, input: 'talk', stream: true, background: false },
        { headers },
      );
      expect((await all(again)).at(-1)).toMatchObject({
        type: 'response.completed',
        response: { output: [{ content: [{ text: 'I talk on and on' }] }] },
      });
      expect(rig.model.calls).toHaveLength(3);
    },
  );

  verifies('openai.responses-background', 'without a stream, too', async () => {
    await using rig = await start();
    const leave = async (index: number, headers: Record<string, string> = {}, more: object = {}) => {
      const stop = new AbortController();
      const refused = expect(
        rig.client.responses.create({ model, input: 'talk', ...more }, { headers, signal: stop.signal }),
      ).rejects.toThrow();
      const call = await rig.model.call(index);
      stop.abort();
      await refused;
      return call;
    };
    const keyed = await leave(0, { 'Idempotency-Key': 'k' });
    // They have left last, so that the service knows by now of all three.
    await (await leave(1)).aborted;
    await (await leave(2, {}, { store: false })).aborted;
    expect(keyed.signal.aborted).toBe(false);
    keyed.answer('I talk');
    const again = await rig.client.responses.create(
      { model, input: 'talk' },
      { headers: { 'Idempotency-Key': 'k' } },
    );
    expect(again.output_text).toBe('I talk');
  });

  verifies('openai.responses-unstored', async () => {
    await using rig = await start();
    const sessions = async () => (await rig.service.fetch('/api/sessions')).text();
    const response = await answered(rig, 0, 'Hush.', { input: 'a secret', store: false });
    expect(response).toMatchObject({ store: false, output_text: 'Hush.' });
    expect(await sessions()).not.toContain('unstored');
    await expect(rig.client.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
    const streaming = all(
      await rig.client.responses.create({ model, input: 'a secret', store: false, stream: true }),
    );
    (await rig.model.call(1)).answer('Hush.');
    expect((await streaming).at(-1)?.type).toBe('response.completed');
    expect(await sessions()).not.toContain('unstored');
  });

  verifies('openai.responses-unstored', 'and a conversation that has a name stays', async () => {
    await using rig = await start();
    const stop = new AbortController();
    const stream = await rig.client.responses.create(
      { model, input: 'talk', conversation: 'kept', store: false, stream: true },
      { signal: stop.signal },
    );
    const call = await rig.model.call(0);
    call.say('I talk ', 'on');
    for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    stop.abort();
    await call.aborted;
    await answered(rig, 1, 'Yes.', { input: 'still there?', conversation: 'kept', store: false });
    expect(await viewOf(rig.service, 'kept')).toMatchObject({ turns: { cancelled: 1, completed: 1 } });
  });

  verifies(
    'openai.responses-unstored',
    'and so does what was stored before, where only the results of tools come with it',
    async () => {
      await using rig = await start();
      const asking = rig.client.responses.create({
        model,
        input: 'Weather?',
        tools: [weather],
        conversation: 'kept',
      });
      (await rig.model.call(0)).askFor({ name: 'weather', callId: 'w1', arguments: { city: 'Rome' } });
      const first = await asking;
      const [item] = first.output;
      if (item?.type !== 'function_call') throw new Error('there is no call');
      const second = await answered(rig, 1, 'Sunny.', {
        previous_response_id: first.id,
        store: false,
        input: [{ type: 'function_call_output', call_id: item.call_id, output: 'sunny' }],
      });
      expect(second).toMatchObject({ output_text: 'Sunny.' });
      expect(await viewOf(rig.service, 'kept')).toMatchObject({ status: 'idle' });
      expect(await rig.client.responses.retrieve(first.id)).toMatchObject({ id: first.id });
    },
  );

  verifies(
    'openai.responses-unstored',
    'also if it is refused after its conversation was copied',
    async () => {
      await using rig = await start();
      const first = await answered(rig, 0, 'Yes.', { input: 'hello' });
      const schema = { type: 'nonsense' };
      const format = { type: 'json_schema' as const, name: 'x', schema };
      await expect(
        rig.client.responses.create({
          model,
          input: 'and?',
          previous_response_id: first.id,
          store: false,
          text: { format },
        }),
      ).rejects.toMatchObject({ status: 400 });
      const { sessions } = Object(await (await rig.service.fetch('/api/sessions')).json());
      expect(sessions).toHaveLength(1);
    },
  );

  verifies(
    'openai.responses-unstored',
    'also if the service ends between the copy of its conversation and its turn',
    async () => {
      await using rig = await start();
      const first = await answered(rig, 0, 'Yes.', { input: 'hello' });
      const asking = rig.client.responses.create({
        model,
        input: 'and?',
        previous_response_id: first.id,
        store: false,
      });
      const call = await rig.model.call(1);
      const { sessions } = Object(await (await rig.service.fetch('/api/sessions')).json());
      const { sessionId } = sessions.find((one: { sessionId: string }) => /^unstored/.test(one.sessionId));
      const events = await (await rig.service.fetch(`/api/sessions/${sessionId}/export`)).text();
      // The next start finds it by this.
      expect(events).toMatch(/"type":"session.forked".*"ephemeral":true/);
      call.answer('No.');
      await asking;
    },
  );

  verifies(
    'openai.responses-unstored',
    'and nothing follows it while it waits for its deletion',
    async () => {
      await using rig = await start();
      const hidden = await rig.client.responses.create({
        model,
        input: 'a secret',
        store: false,
        background: true,
      });
      (await rig.model.call(0)).answer('Hush.');
      await eventually(
        () => rig.client.responses.retrieve(hidden.id),
        ({ status }) => status === 'completed',
      );
      const following = { model, input: 'and?', previous_response_id: hidden.id };
      await expect(rig.client.responses.create(following)).rejects.toMatchObject({ status: 404 });
      expect(rig.model.calls).toHaveLength(1);
    },
  );

  verifies(
    'openai.responses-tools',
    'also where the user says something else behind the results',
    async () => {
      await using rig = await start();
      const begin = async (call: number, place: object) => {
        const asking = rig.client.responses.create({ model, input: 'Weather?', tools: [weather], ...place });
        const tool = { name: 'weather', callId: 'w1', arguments: { city: 'Rome' } };
        (await rig.model.call(call)).askFor(tool);
        const response = await asking;
        const item = response.output.find((one) => one.type === 'function_call');
        if (!item) throw new Error('there is no call');
        return { response, callId: item.call_id };
      };
      const follow = async (callId: string, place: object, text: string) => {
        const asking = rig.client.responses.create({
          model,
          tools: [weather],
          ...place,
          input: [
            { type: 'function_call_output', call_id: callId, output: 'sunny' },
            { role: 'user', content: text },
          ],
        });
        const call = await rig.model.callFor(text);
        const results = call.request.messages.filter(({ role }) => role === 'tool');
        expect(results).toMatchObject([{ text: 'sunny' }]);
        call.answer('Sunny.');
        return asking;
      };
      const { response, callId } = await begin(0, {});
      const behind = { previous_response_id: response.id };
      expect(await follow(callId, behind, 'Be quick.')).toMatchObject({ output_text: 'Sunny.' });
      const named = { conversation: 'trip' };
      const inTrip = await begin(rig.model.calls.length, named);
      expect(await follow(inTrip.callId, named, 'Be brief.')).toMatchObject({ output_text: 'Sunny.' });
      expect(await viewOf(rig.service, 'trip')).toMatchObject({ status: 'idle' });
    },
  );

  verifies('openai.responses-tools', async () => {
    await using folder = await tempDirectory();
    const asked = { model, input: 'Weather in Rome?', tools: [weather] };
    let first: OpenAI.Responses.Response;
    {
      await using rig = await start({ dataDir: folder.path });
      const asking = rig.client.responses.create(asked);
      (await rig.model.call(0)).askFor({ name: 'weather', callId: 'w1', arguments: { city: 'Rome' } });
      first = await asking;
    }
    const [call] = first.output;
    expect(first.status).toBe('completed');
    if (call?.type !== 'function_call') throw new Error('there is no call');
    expect(JSON.parse(call.arguments)).toEqual({ city: 'Rome' });
    await using rig = await start({ dataDir: folder.path });
    const follow = (output: string) =>
      rig.client.responses.create({
        model,
        tools: [weather],
        previous_response_id: first.id,
        input: [{ type: 'function_call_output', call_id: call.call_id, output }],
      });
    await expect(
      rig.client.responses.create({ model, input: 'and?', previous_response_id: first.id }),
    ).rejects.toThrow(`No tool output found for function call ${call.call_id}.`);
    const going = follow('sunny');
    (await rig.model.call(0)).answer('It is sunny.');
    const second = await going;
    expect(second).toMatchObject({ output_text: 'It is sunny.', previous_response_id: first.id });
    const items = await rig.client.responses.inputItems.list(second.id);
    expect(items.data).toMatchObject([
      { type: 'function_call_output', call_id: call.call_id, output: 'sunny' },
    ]);
    const again = follow('rainy');
    const other = await rig.model.call(1);
    expect(other.request.messages).toMatchObject([
      { text: 'Weather in Rome?' },
      { parts: [{ type: 'toolCall', name: 'weather' }] },
      { role: 'tool', text: 'rainy' },
    ]);
    other.answer('It rains.');
    expect((await again).output_text).toBe('It rains.');
    expect(await rig.client.responses.retrieve(first.id)).toMatchObject({
      output: [{ type: 'function_call' }],
    });
  });

  verifies('openai.responses-tools', 'of a client that keeps the conversation itself', async () => {
    await using rig = await start();
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Weather in Rome?' }];
    const asking = rig.client.responses.create({ model, input, tools: [weather], store: false });
    (await rig.model.call(0)).askFor({ name: 'weather', arguments: { city: 'Rome' } });
    const { output } = await asking;
    for (const item of output)
      if (item.type === 'function_call') {
        input.push(item, { type: 'function_call_output', call_id: item.call_id, output: 'sunny' });
      }
    const going = rig.client.responses.create({ model, input, tools: [weather], store: false });
    (await rig.model.call(1)).answer('It is sunny.');
    expect((await going).output_text).toBe('It is sunny.');
    expect(await (await rig.service.fetch('/api/sessions')).text()).not.toContain('unstored');
  });

  verifies('openai.responses-output', async () => {
    await using rig = await start();
    const parsing = rig.client.responses.parse({
      model,
      input: 'a city',
      text: {
        format: {
          type: 'json_schema',
          name: 'city',
          strict: true,
          schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    });
    (await rig.model.call(0)).answer('Rome!');
    (await rig.model.call(1)).answer('{"city":"Rome"}');
    const parsed = await parsing;
    expect(parsed.output).toHaveLength(1);
    expect(parsed.output_text).toBe('{"city":"Rome"}');
  });

  verifies('openai.responses', 'and shows how it was asked for', async () => {
    await using rig = await start();
    const response = await answered(rig, 0, '{}', {
      input: 'hello',
      reasoning: { summary: 'detailed' },
      text: { format: { type: 'json_object' } },
      tools: [weather, { ...weather, name: 'strict-weather', strict: true }],
    });
    const asked = {
      text: { format: { type: 'json_object' } },
      tools: [
        { name: 'weather', strict: false },
        { name: 'strict-weather', strict: true },
      ],
      reasoning: { summary: 'detailed' },
    };
    expect(response).toMatchObject(asked);
    expect(await rig.client.responses.retrieve(response.id)).toMatchObject(asked);
  });

  verifies('openai.responses-reasoning', async () => {
    await using rig = await start();
    const ask = async (index: number, more: Partial<Asked>) => {
      const asking = rig.client.responses.create({ model, input: 'think', ...more });
      const call = await rig.model.call(index);
      call.think('Let me see.');
      call.answer('42');
      return asking;
    };
    const silent = await ask(0, {});
    expect(silent.output.map(({ type }) => type)).toEqual(['message']);
    const aloud = await ask(1, { reasoning: { summary: 'auto' } });
    const [reasoning] = aloud.output.filter(({ type }) => type === 'reasoning');
    expect(reasoning).toMatchObject({ summary: [{ type: 'summary_text', text: 'Let me see.' }] });
    expect(aloud.output_text).toBe('42');
    expect(await rig.client.responses.retrieve(aloud.id)).toMatchObject({ output: aloud.output });
  });

  verifies('openai.responses-compact', async () => {
    await using rig = await start();
    const first = await answered(rig, 0, 'I will.', { input: 'Remember 7.' });
    const compacting = rig.client.responses.compact({ model, previous_response_id: first.id });
    const call = await rig.model.call(1);
    expect(call.request).toMatchObject({ messages: [{ text: 'Remember 7.' }, {}, {}] });
    expect(call.userText).toMatch(/^Summarize our conversation/);
    call.answer('Remember: 7.');
    const { object, output } = await compacting;
    expect(object).toBe('response.compaction');
    expect(await (await rig.service.fetch('/api/sessions')).text()).not.toContain('unstored');
    const input: OpenAI.Responses.ResponseInput = [
      ...(output as OpenAI.Responses.ResponseInput),
      { role: 'user', content: 'Which number?' },
    ];
    expect(await answered(rig, 2, '7.', { input })).toMatchObject({ output_text: '7.' });
    expect((await rig.model.call(2)).request.messages).toMatchObject([
      { text: expect.stringMatching(/Remember: 7\.\s+Which number\?$/) },
    ]);
    const forged = { type: 'compaction', encrypted_content: 'Zm9yZ2Vk' };
    const refused = await rig.service.post('/v1/responses', { model, input: [forged] });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { param: 'input.0.encrypted_content' } },
    ]);
  });

  verifies('openai.responses-errors', async () => {
    await using rig = await start();
    const refused = async (body: object) => {
      const answer = await rig.service.post('/v1/responses', { model, input: 'hello', ...body });
      const { error } = (await answer.json()) as { error: { param: string; message: string } };
      return [answer.status, error.param];
    };
    expect(await refused({ model: 'nobody' })).toEqual([404, 'model']);
    expect(await refused({ input: [] })).toEqual([400, 'input']);
    expect(await refused({ input: [{ role: 'user', content: [{ type: 'input_file' }] }] })).toEqual([
      400,
      'input.0.content.0.type',
    ]);
    expect(await refused({ previous_response_id: 'resp_1' })).toEqual([404, 'previous_response_id']);
    expect(await refused({ previous_response_id: 'resp_1', conversation: 'a' })).toEqual([
      400,
      'conversation',
    ]);
    expect(await refused({ tools: [{ type: 'web_search' }] })).toEqual([400, 'tools.0.type']);
    for (const id of ['resp_1', 'resp_a.1~default~nobody', 'resp_a.1~default~default'])
      expect((await rig.service.fetch(`/v1/responses/${id}`)).status).toBe(404);
    expect(rig.model.calls).toHaveLength(0);
  });
});
