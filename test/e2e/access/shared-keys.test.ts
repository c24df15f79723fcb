import { describe, expect } from 'vitest';
import { z } from 'zod';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { TextSocket } from '../../support/cluster/text-socket.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline', script: [{ when: '([^]*)', reply: 'heard $1' }] },
});
const PLAN = 'acme/test:ada/plan';
const MCP = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw client', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const Responded = z.looseObject({ id: z.string() });
const Exported = z.object({ event: z.object({ key: z.object({ id: z.string() }).optional() }) });

type Frame = TextSocket['frames'][number];

/** Ada's session, which Bob may talk in. */
async function start() {
  const people = new KnownTokens({
    ada: identity('ada'),
    bob: identity('bob'),
    root: identity('root', { roles: ['admin'] }),
  });
  const service = await RunningService.start({ yaml: YAML, verifiers: [people] });
  const ask = (who: string, path: string, body: object, headers: Record<string, string> = {}) =>
    service.post(path, body, { ...bearer(who), ...headers });
  await ask('ada', '/api/message-sync', { message: 'hello', sessionId: 'plan' });
  await ask('ada', '/api/sessions/plan/grants', { principal: 'test:bob', access: 'talk' });
  const connect = async (who: string, name: string) => {
    const { ticket } = (await (await ask(who, '/api/tickets', {})).json()) as { ticket: string };
    const query = `session=${encodeURIComponent(name)}&after=0&ticket=${ticket}`;
    return TextSocket.open(`ws://127.0.0.1:${service.port}/?${query}`);
  };
  const listed = async (who: string, name: string) => {
    const path = `/api/sessions/${encodeURIComponent(name)}/events?limit=1000`;
    const page = await service.fetch(path, { headers: bearer(who) });
    return ((await page.json()) as { events: Frame[] }).events;
  };
  const exportedKeys = async (who: string, name: string) => {
    const path = `/api/sessions/${encodeURIComponent(name)}/export`;
    const lines = await (await service.fetch(path, { headers: bearer(who) })).text();
    const events = lines
      .trim()
      .split('\n')
      .map((line) => Exported.parse(JSON.parse(line)));
    return events.flatMap(({ event }) => event.key?.id ?? []);
  };
  return { service, ask, connect, listed, exportedKeys, [Symbol.asyncDispose]: () => service.close() };
}

const said = (frames: readonly Frame[]) =>
  frames.flatMap((frame) =>
    frame.event === 'message' ? [[frame.data.content, frame.data.clientMessageId]] : [],
  );

type Ask = Awaited<ReturnType<typeof start>>['ask'];
type Say = (ask: Ask, who: string, sessionId: string, text: string) => Promise<Response>;

const DOORS: Readonly<Record<string, Say>> = {
  REST: (ask, who, sessionId, message) =>
    ask(who, '/api/message-sync', { message, sessionId }, { 'Idempotency-Key': 'k' }),
  responses: (ask, who, conversation, input) =>
    ask(who, '/v1/responses', { model: 'default', conversation, input }, { 'Idempotency-Key': 'r' }),
  A2A: (ask, who, contextId, text) => {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text }], contextId };
    return ask(who, '/a2a/message:send', { message }, { 'A2A-Version': '1.0' });
  },
  'AG-UI': (ask, who, threadId, content) =>
    ask(who, '/ag-ui', { threadId, runId: 'run', messages: [{ id: 'u', role: 'user', content }] }),
  MCP: (ask, who, sessionId, message) => {
    const _meta = { ...MCP, 'agent-service/idempotencyKey': 'k' };
    const params = { name: 'chat_with_agent', arguments: { message, sessionId }, _meta };
    return ask(
      who,
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      {
        Accept: 'application/json, text/event-stream',
        'Mcp-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': 'chat_with_agent',
      },
    );
  },
};

describe('the idempotency keys in a shared session', () => {
  verifies('grants.keys', 'at every door, also where the text is the same', async () => {
    await using setup = await start();
    const { ask, listed } = setup;
    for (const [door, say] of Object.entries(DOORS)) {
      const [hers, his] = [`${door}-of-ada`, `${door}-of-bob`];
      expect(await (await say(ask, 'ada', 'plan', hers)).text()).toContain(hers);
      for (const _time of ['first', 'again'])
        expect(await (await say(ask, 'bob', PLAN, his)).text()).toContain(his);
      expect(await (await say(ask, 'ada', 'plan', hers)).text()).toContain(hers);
      const all = said(await listed('ada', 'plan')).flat();
      expect(all.filter((text) => text === hers || text === his)).toEqual([hers, his]);
    }
    const other = await DOORS.REST?.(ask, 'bob', PLAN, 'something else');
    if (!other) throw new Error('there is no such door');
    expect(await errorOf(other, 422)).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      details: { key: 'k' },
    });
  });

  verifies('grants.keys', 'with a response that follows another one', async () => {
    await using setup = await start();
    const { ask, listed } = setup;
    const respond = async (body: object, key: string) => {
      const headers = { 'Idempotency-Key': key };
      const response = await ask('bob', '/v1/responses', { model: 'default', ...body }, headers);
      return Responded.parse(await response.json());
    };
    const { id } = await respond({ conversation: PLAN, input: 'begin' }, 'r1');
    const next = { previous_response_id: id, input: 'go on' };
    const first = await respond(next, 'r2');
    expect(first).toMatchObject({ status: 'completed', previous_response_id: id });
    expect(await respond(next, 'r2')).toEqual(first);
    const all = said(await listed('ada', 'plan')).flat();
    expect(all.filter((text) => text === 'go on')).toHaveLength(1);
  });

  verifies('grants.keys', 'a fork of the session has none of them', async () => {
    await using setup = await start();
    const { ask, listed, exportedKeys } = setup;
    const say = (who: string, sessionId: string, message: string) =>
      ask(who, '/api/message-sync', { message, sessionId }, { 'Idempotency-Key': 'k' });
    await say('ada', 'plan', 'hers');
    await ask('bob', `/api/sessions/${encodeURIComponent(PLAN)}/fork`, { sessionId: 'copy' });
    expect(await exportedKeys('bob', 'copy')).toEqual([]);
    expect(said(await listed('bob', 'copy'))).toEqual([
      ['hello', undefined],
      ['hers', undefined],
    ]);
    expect(await (await say('bob', 'copy', 'his')).text()).toContain('heard his');
    expect(await exportedKeys('bob', 'copy')).toEqual(['k']);
  });

  verifies('grants.keys', async () => {
    await using setup = await start();
    const { connect, listed, exportedKeys } = setup;
    using ada = await connect('ada', 'plan');
    using bob = await connect('bob', PLAN);
    const ended = (count: number) => (frames: readonly Frame[]) =>
      frames.filter(({ event }) => event === 'response').length === count;
    ada.send({ type: 'message', content: 'A', clientMessageId: '1' });
    await ada.until('the reply to ada', ended(2));
    for (const _time of ['first', 'again']) bob.send({ type: 'message', content: 'A', clientMessageId: '1' });
    const { frame } = await bob.first('accepted');
    expect(frame).toMatchObject({ data: { clientMessageId: '1' } });
    await bob.until('the reply to bob', ended(3));
    await ada.until('the reply to bob', ended(3));
    const hers = [
      ['hello', undefined],
      ['A', '1'],
      ['A', undefined],
    ];
    const his = [
      ['hello', undefined],
      ['A', undefined],
      ['A', '1'],
    ];
    expect([said(ada.frames), said(bob.frames)]).toEqual([hers, his]);
    expect([said(await listed('ada', 'plan')), said(await listed('bob', PLAN))]).toEqual([hers, his]);
    using later = await connect('bob', PLAN);
    await later.until('all of it', ended(3));
    expect(said(later.frames)).toEqual(his);
    expect(await exportedKeys('ada', 'plan')).toEqual(['1']);
    expect(await exportedKeys('bob', PLAN)).toEqual(['1']);
    expect(await exportedKeys('root', PLAN)).toEqual(['1', 'of acme/test:bob/ 1']);
  });
});
