import { describe, expect } from 'vitest';
import { connect } from '../../../src/client/session-client.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { eventsOf, viewOf } from '../../support/sessions/session-api.ts';
import { RecordingSocket } from '../../support/sockets/recording-socket.ts';
import { withAskingTools } from '../../support/tools/asking-tools.ts';
import { visitedServer } from '../../support/tools/mcp/visited-server.ts';
import { serverWith } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

/*
 * The servers here are the test's, connected without a process. A server over stdio and one over HTTP, built with the
 * SDK, belong to the tests of the adapter: `asks a person, the model and for roots through the adapter`.
 */

const yaml = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline', script: [{ when: '^hello$', reply: 'Assam' }] },
  roots: ['/srv/tea'],
  mcpServers: { asking: { command: 'none', sampling: { policy: 'auto', maxRequests: 1 } } },
});
const start = () => RunningService.start({ yaml, adapters: { connector: withAskingTools() } });

describe('what a tool server asks in the turn of a session', () => {
  verifies('questions.websocket', async () => {
    await using service = await start();
    using plain = new RecordingSocket(`ws://127.0.0.1:${service.port}/?session=tea`);
    using resuming = new RecordingSocket(`ws://127.0.0.1:${service.port}/?session=tea&after=0`);
    await Promise.all([plain.opened, resuming.until('resumed')]);
    plain.send({ type: 'message', content: 'use order_tea {}' });
    await Promise.all([plain.until('inputRequired'), resuming.until('inputRequired')]);
    const asked = plain.frames.find(({ event }) => event === 'inputRequired');
    expect(asked?.data).toMatchObject({
      serverId: 'asking',
      message: 'Which tea?',
      question: { mode: 'form' },
    });
    const { inputs = [] } = await viewOf(service, 'tea');
    const inputId = inputs[0]?.inputId ?? '';
    expect(inputs).toMatchObject([{ inputId, toolName: 'order_tea' }]);
    const listed = await (await service.fetch('/api/inputs')).json();
    expect(listed).toMatchObject({ inputs: [{ sessionId: 'tea', inputId }], count: 1 });

    plain.send({ type: 'inputAnswer', inputId, action: 'accept', content: { size: 'huge' } });
    await plain.until('error');
    expect(plain.frames.at(-1)?.data).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'content.size' },
    });
    resuming.send({
      type: 'inputAnswer',
      inputId,
      action: 'accept',
      content: { size: 'large' },
      commandId: 'c-1',
    });
    await Promise.all([plain.until('response'), resuming.until('done'), resuming.until('inputAnswered')]);
    expect(resuming.frames.find(({ event }) => event === 'inputAnswered')).toMatchObject({
      data: { inputId, action: 'accept', content: { size: 'large', hot: true } },
      cause: { kind: 'answered' },
      actor: { kind: 'client' },
    });
    expect(JSON.stringify(plain.frames.find(({ event }) => event === 'toolResult'))).toContain('large');
    plain.send({ type: 'inputAnswer', inputId, action: 'decline' });
    await plain.until('error', 2);
    expect(plain.frames.at(-1)?.data).toMatchObject({ code: 'INPUT_NOT_FOUND' });
    expect((await viewOf(service, 'tea')).inputs).toBeUndefined();
  });

  verifies('questions.rest', async () => {
    await using service = await start();
    for (const session of ['rest', 'client']) {
      using client = connect({ url: service.url, session });
      const reply = client.ask('use order_tea {}');
      for await (const { event, data } of client) {
        if (event !== 'inputRequired') continue;
        const { inputId } = data;
        if (session === 'client') await client.answerInput(inputId, { action: 'decline' });
        else {
          const path = `/api/sessions/rest/inputs/${encodeURIComponent(inputId)}`;
          const missing = await service.post(path, { action: 'accept' });
          expect(await missing.json()).toMatchObject({
            error: { code: 'MISSING_FIELD', details: { field: 'content.size' } },
          });
          const answered = await service.post(path, { action: 'decline' });
          expect(await answered.json()).toMatchObject({ status: 'answered', sessionId: 'rest', inputId });
        }
        break;
      }
      expect(await reply).toContain('"action":"decline"');
    }
  });

  verifies('questions.rest', 'also an address that somebody must open before the call', async () => {
    await using bank = await visitedServer(1);
    const servers = JSON.stringify({ bank: { type: 'http', baseUrl: bank.url } });
    await using service = await RunningService.start({ yaml: `${SCRIPTED}mcpServers: ${servers}` });
    await serverWith(service, 'bank', 'connected');
    using client = connect({ url: service.url, session: 'pay' });
    const reply = client.ask('use pay {}');
    const opened: unknown[] = [];
    for await (const { event, data } of client) {
      if (event === 'response') break;
      if (event !== 'inputRequired') continue;
      opened.push(data.question);
      await client.answerInput(data.inputId, { action: 'accept' });
    }
    expect(await reply).toContain('paid');
    expect(opened).toEqual(['a', 'b'].map((id) => ({ mode: 'url', url: `https://bank.example/${id}` })));
  });

  verifies('questions.model', async () => {
    await using service = await start();
    const say = async (message: string): Promise<unknown> =>
      (await service.post('/api/message-sync', { message, sessionId: 's' })).json();
    expect(JSON.stringify(await say('use find_tea {}'))).toContain('file:///srv/tea');
    expect(JSON.stringify(await say('use name_tea {}'))).toContain('Assam');
    const events = await eventsOf(service, 's');
    expect(events.find(({ event }) => event === 'sampled')).toMatchObject({
      data: { toolName: 'name_tea', serverId: 'asking', model: 'scripted offline' },
    });
  });

  verifies('questions.outside', async () => {
    await using service = await start();
    const execute = async (name: string): Promise<string> =>
      (await service.post(`/api/mcp/servers/asking/tools/${name}/execute`, {})).text();
    expect(await execute('find_tea')).toContain('file:///srv/tea');
    expect(await execute('order_tea')).toContain('only while the agent works on a message');
  });
});
