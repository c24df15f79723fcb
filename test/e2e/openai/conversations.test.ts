import OpenAI from 'openai';
import type { ConversationItem } from 'openai/resources/conversations/items';
import { describe, expect } from 'vitest';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
});
const model = 'default';

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

async function itemsOf({ client }: Rig, id: string, query: { limit?: number; order?: 'asc' | 'desc' } = {}) {
  const items: ConversationItem[] = [];
  for await (const item of client.conversations.items.list(id, { order: 'asc', ...query })) items.push(item);
  return items;
}

describe("OpenAI's conversations", () => {
  verifies('openai.conversations', 'whoever may not read the conversation begins none', async () => {
    const cleo = identity('cleo', { scopes: new Set(['sessions:write']) });
    const ada = identity('ada', { roles: ['admin'] });
    await using rig = await start({ verifiers: [new KnownTokens({ cleo, ada })] });
    const refused = await rig.service.post('/v1/conversations', {}, bearer('cleo'));
    expect(refused.status).toBe(403);
    const listed = await rig.service.fetch('/api/sessions', { headers: bearer('ada') });
    expect(await listed.json()).toMatchObject({ sessions: [] });
  });

  verifies('openai.conversations', async () => {
    await using folder = await tempDirectory();
    let id = '';
    {
      await using rig = await start({ dataDir: folder.path });
      const { conversations } = rig.client;
      const made = await conversations.create({ metadata: { topic: 'trip' } });
      expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'trip' } });
      expect(Math.abs(made.created_at - Date.now() / 1000)).toBeLessThan(60);
      expect(await conversations.retrieve(made.id)).toEqual(made);
      expect(await itemsOf(rig, made.id)).toEqual([]);
      expect(await conversations.update(made.id, { metadata: { topic: 'Rome', by: 'car' } })).toEqual({
        ...made,
        metadata: { topic: 'Rome', by: 'car' },
      });
      ({ id } = made);
    }
    await using rig = await start({ dataDir: folder.path });
    const { conversations } = rig.client;
    expect(await conversations.retrieve(id)).toMatchObject({ metadata: { topic: 'Rome', by: 'car' } });
    expect(await viewOf(rig.service, id)).toMatchObject({ metadata: { topic: 'Rome', by: 'car' } });
    expect(await conversations.update(id, { metadata: null })).toMatchObject({ metadata: {} });
    expect(await conversations.delete(id)).toEqual({ id, object: 'conversation.deleted', deleted: true });
    await expect(conversations.retrieve(id)).rejects.toMatchObject({
      status: 404,
      param: 'conversation_id',
    });
    await expect(
      rig.client.responses.create({ model, input: 'hello', conversation: id }),
    ).rejects.toMatchObject({ status: 404, param: 'conversation' });
  });

  verifies('openai.conversation-items', async () => {
    await using rig = await start();
    const { conversations, responses } = rig.client;
    const { id } = await conversations.create({
      items: [
        { type: 'message', role: 'user', content: 'I am Ann.' },
        { type: 'message', role: 'assistant', content: 'Hello Ann.' },
      ],
    });
    const first = await answered(rig, 0, 'Ann.', { input: 'Who am I?', conversation: id });
    expect((await rig.model.call(0)).request.messages).toMatchObject([
      { text: 'I am Ann.' },
      { parts: [{ text: 'Hello Ann.' }] },
      { text: 'Who am I?' },
    ]);
    expect(first.conversation).toEqual({ id });
    const added = await conversations.items.create(id, {
      items: [{ role: 'user', content: [{ type: 'input_text', text: 'I live in Rome.' }] }],
    });
    expect(added.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'I live in Rome.' }] },
    ]);
    const second = await answered(rig, 1, 'In Rome.', { input: 'Where?', conversation: { id } });
    expect((await rig.model.call(1)).userText).toMatch(/I live in Rome\.\s+Where\?/);
    const items = await itemsOf(rig, id);
    const texts = items.map((item) =>
      item.type === 'message' ? item.content.map((part) => ('text' in part ? part.text : '')).join('') : '',
    );
    expect(texts).toEqual([
      ...['I am Ann.', 'Hello Ann.', 'Who am I?', 'Ann.', 'I live in Rome.', 'Where?', 'In Rome.'],
    ]);
    const brought = await responses.inputItems.list(second.id);
    expect(items.slice(4)).toEqual([...added.data, ...brought.data, ...second.output]);
    expect(items[3]).toEqual(first.output[0]);
    for (const item of items)
      expect(await conversations.items.retrieve(item.id ?? '', { conversation_id: id })).toEqual(item);
    expect(await itemsOf(rig, id, { limit: 2 })).toEqual(items);
    expect(await itemsOf(rig, id, { limit: 3, order: 'desc' })).toEqual(items.toReversed());
    const page = await conversations.items.list(id, { limit: 2 });
    expect([page.data, page.has_more]).toEqual([items.toReversed().slice(0, 2), true]);
    // Behind items that were added, the conversation is another one.
    const aside = await answered(rig, 2, 'Ann.', { input: 'Me?', previous_response_id: first.id });
    expect((await rig.model.call(2)).request.messages).toHaveLength(5);
    expect(aside.output_text).toBe('Ann.');
    expect(await itemsOf(rig, id)).toEqual(items);
  });

  verifies(
    'openai.conversation-items',
    'with calls of tools; a conversation that was cleared has none',
    async () => {
      await using rig = await start();
      const { conversations, responses } = rig.client;
      const { id } = await conversations.create();
      const tools: OpenAI.Responses.FunctionTool[] = [
        { type: 'function', name: 'weather', parameters: { type: 'object' }, strict: false },
      ];
      const asking = responses.create({ model, input: 'Weather?', tools, conversation: id });
      (await rig.model.call(0)).askFor({ name: 'weather', callId: 'w', arguments: { city: 'Rome' } });
      const { output } = await asking;
      const [call] = output;
      if (call?.type !== 'function_call') throw new Error('there is no call');
      await expect(
        conversations.items.create(id, { items: [{ role: 'user', content: 'And in Paris?' }] }),
      ).rejects.toMatchObject({ status: 409, code: 'session_busy' });
      const { call_id } = call;
      const last = await answered(rig, 1, 'Sunny.', {
        tools,
        conversation: id,
        input: [{ type: 'function_call_output', call_id, output: 'sun' }],
      });
      expect(await itemsOf(rig, id)).toMatchObject([
        { type: 'message', role: 'user' },
        { type: 'function_call', call_id, id: call.id },
        { type: 'function_call_output', call_id, output: 'sun' },
        { ...last.output[0] },
      ]);
      await rig.service.post('/api/reset', { sessionId: id });
      expect(await itemsOf(rig, id)).toEqual([]);
    },
  );

  verifies('openai.conversation-items', 'the result of a call also later than the call', async () => {
    await using rig = await start();
    const { conversations } = rig.client;
    const called = { type: 'function_call', call_id: 'w', name: 'weather', arguments: '{}' } as const;
    const { id } = await conversations.create({ items: [{ role: 'user', content: 'Weather?' }, called] });
    const result = { type: 'function_call_output', call_id: 'w', output: 'sun' } as const;
    await conversations.items.create(id, { items: [result] });
    await answered(rig, 0, 'Sunny.', { input: 'So?', conversation: id });
    expect((await rig.model.call(0)).request.messages.slice(0, 3)).toMatchObject([
      { text: 'Weather?' },
      { parts: [{ type: 'toolCall', callId: 'w', name: 'weather' }] },
      { role: 'tool', callId: 'w', text: 'sun' },
    ]);
    expect(await itemsOf(rig, id)).toMatchObject([{ role: 'user' }, called, result, {}, {}]);
    await rig.service.post('/api/reset', { sessionId: id });
    await expect(conversations.items.create(id, { items: [result] })).rejects.toMatchObject({
      status: 400,
      param: 'items.0.call_id',
    });
  });

  verifies('openai.conversation-items', 'the result of a call also with the next response', async () => {
    await using rig = await start();
    const call = (call_id: string) =>
      ({ type: 'function_call', call_id, name: 'weather', arguments: '{}' }) as const;
    const result = (call_id: string) =>
      ({ type: 'function_call_output', call_id, output: `sun ${call_id}` }) as const;
    const user = (content: string) => ({ role: 'user', content }) as const;
    const { id } = await rig.client.conversations.create({ items: [user('Weather?'), call('a')] });
    await answered(rig, 0, 'Sunny.', { input: [result('a')], conversation: id });
    const told = [{ parts: [{ type: 'toolCall', callId: 'a' }] }, { role: 'tool', text: 'sun a' }];
    expect((await rig.model.call(0)).request.messages.slice(1)).toMatchObject(told);
    // What the request of a response brought counts, too.
    const first = await answered(rig, 1, 'Well.', { input: [user('Weather?'), call('b'), user('Go on.')] });
    const behind = { previous_response_id: first.id };
    await answered(rig, 2, 'Sunny.', { input: [result('b'), user('So?')], ...behind });
    expect((await rig.model.call(2)).request.messages).toMatchObject([
      { text: 'Weather?' },
      { parts: [{ type: 'toolCall', callId: 'b' }] },
      { role: 'tool', text: 'sun b' },
      {},
      { text: 'Go on.' },
      { parts: [{ text: 'Well.' }] },
      { text: 'So?' },
    ]);
    const none = rig.client.responses.create({ model, input: [result('c')], ...behind });
    await expect(none).rejects.toMatchObject({ status: 400, param: 'input.0.call_id' });
  });

  verifies('openai.conversation-errors', async () => {
    await using rig = await start();
    const { id } = await rig.client.conversations.create({ items: [{ role: 'user', content: 'hello' }] });
    const refused = async (path: string, body?: object, method = 'POST') => {
      const answer = await rig.service.fetch(`/v1/conversations${path}`, {
        method,
        ...(body && {
          body: JSON.stringify(body),
          headers: { 'Content-Type': 'application/json' },
        }),
      });
      const { error } = (await answer.json()) as { error: { param: string } };
      return [answer.status, error.param];
    };
    const pairs = (count: number, value = 'v') =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
    expect(await refused('', { metadata: pairs(17) })).toEqual([400, 'metadata']);
    expect(await refused('', { metadata: pairs(1, 'v'.repeat(513)) })).toEqual([400, 'metadata.k0']);
    expect(await refused('', { items: [{ role: 'system', content: 'Be brief.' }] })).toEqual([
      400,
      'items.0',
    ]);
    expect(await refused('', { items: [{ type: 'item_reference', id: 'msg_1' }] })).toEqual([
      404,
      'items.0.id',
    ]);
    expect(await refused(`/${id}`, {})).toEqual([400, 'metadata']);
    expect(await refused(`/${id}/items`, { items: [] })).toEqual([400, 'items']);
    expect(await refused(`/${id}/items?after=nobody`, undefined, 'GET')).toEqual([400, 'after']);
    expect(await refused(`/${id}/items/nobody`, undefined, 'GET')).toEqual([404, 'item_id']);
    const [item] = await itemsOf(rig, id);
    expect(await refused(`/${id}/items/${item?.id}`, undefined, 'DELETE')).toEqual([400, 'item_id']);
    for (const path of ['/nobody', '/nobody/items', '/a*b', '/nobody/items/x'])
      expect(await refused(path, undefined, 'GET')).toEqual([404, 'conversation_id']);
    expect(await refused('/nobody', { metadata: {} })).toEqual([404, 'conversation_id']);
    expect(await refused('/nobody/items', { items: [{ role: 'user', content: 'x' }] })).toEqual([
      404,
      'conversation_id',
    ]);
  });

  verifies('openai.conversations', 'made and added to once with a key', async () => {
    await using rig = await start();
    const body = { metadata: { a: 'b' }, items: [{ role: 'user' as const, content: 'hello' }] };
    const key = { headers: { 'Idempotency-Key': 'the-same' } };
    const [one, other] = [
      await rig.client.conversations.create(body, key),
      await rig.client.conversations.create(body, key),
    ];
    expect(other).toEqual(one);
    expect(await itemsOf(rig, one.id)).toHaveLength(1);
    const again = { headers: { 'Idempotency-Key': 'more' } };
    const more = { items: [{ role: 'user' as const, content: 'more' }] };
    const added = await rig.client.conversations.items.create(one.id, more, again);
    expect(await rig.client.conversations.items.create(one.id, more, again)).toEqual(added);
    expect(await itemsOf(rig, one.id)).toHaveLength(2);
  });

  verifies('openai.conversations', 'made with its key from one payload only', async () => {
    await using rig = await start();
    const key = { headers: { 'Idempotency-Key': 'the-same' } };
    const one = await rig.client.conversations.create({ metadata: { a: '1' } }, key);
    const items = [{ role: 'user' as const, content: 'hello' }];
    for (const other of [{ metadata: { a: '2' } }, { metadata: { a: '1' }, items }])
      await expect(rig.client.conversations.create(other, key)).rejects.toMatchObject({ status: 422 });
    expect(await rig.client.conversations.retrieve(one.id)).toEqual(one);
    expect(await itemsOf(rig, one.id)).toHaveLength(0);
  });

  verifies('openai.references', async () => {
    await using rig = await start();
    const { id } = await rig.client.conversations.create({ items: [{ role: 'user', content: 'I am Ann.' }] });
    const [named] = await itemsOf(rig, id);
    const other = await answered(rig, 0, 'Seven.', { input: 'Which number?' });
    const [said] = other.output;
    const reference = (item: { id?: string | null } | undefined) =>
      ({ type: 'item_reference', id: item?.id ?? '' }) as const;
    await answered(rig, 1, 'Yes.', {
      input: [reference(named), { id: said?.id ?? '' }, { role: 'user', content: 'Sure?' }],
    });
    expect((await rig.model.call(1)).request.messages).toMatchObject([
      { text: 'I am Ann.' },
      { parts: [{ text: 'Seven.' }] },
      { text: 'Sure?' },
    ]);
    // The model knows what is in the conversation that goes on.
    await answered(rig, 2, 'Ann.', {
      conversation: id,
      input: [reference(named), { role: 'user', content: 'Who am I?' }],
    });
    expect((await rig.model.call(2)).request.messages).toMatchObject([
      { text: expect.stringMatching(/^I am Ann\.\s+Who am I\?$/) },
    ]);
    for (const missing of ['msg_1', `msg_1~${id}`, 'msg_1~nobody'])
      await expect(
        rig.client.responses.create({ model, input: [{ type: 'item_reference', id: missing }] }),
      ).rejects.toMatchObject({ status: 404, param: 'input.0.id' });
  });
});
