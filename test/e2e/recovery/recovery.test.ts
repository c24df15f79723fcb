import { describe, expect } from 'vitest';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { keptOpen } from '../../support/log/crashing-store.ts';
import { pairingFaults } from '../../support/log/paired-history.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { OpenAiUpstream, textReply, toolCallReply } from '../../support/models/openai-upstream.ts';
import { byTurn, checkTurn } from '../../support/models/prescribed-turn.ts';
import { describeWays, type Way } from '../../support/project/describe-ways.ts';
import { eventually } from '../../support/project/eventually.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { type ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf, viewOf } from '../../support/sessions/session-api.ts';
import { connectClient } from '../../support/sockets/websocket-client.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { GatedTools } from '../../support/tools/mcp/gated-tools.ts';
import { streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { verifies } from '../requirements.ts';

/** A service process on a data directory; its model and its tools are in this process and outlive it. */
async function start({ script }: Way) {
  const upstream = await OpenAiUpstream.listen();
  const tools = new GatedTools({
    note: { readOnly: false },
    look: { readOnly: true },
    pay: { readOnly: false },
  });
  const toolServer = await streamableServer({ tools: tools.server });
  const folder = await agentFolder(
    JSON.stringify({
      llm: { provider: 'openai-compatible', model: 'm', baseURL: upstream.baseURL },
      mcpServers: { tools: { type: 'http', baseUrl: toolServer.url } },
      limits: { requestsPerMinute: false },
      server: { drainTimeoutMs: 0 },
    }),
  );
  const options = { cwd: folder.path, script };
  const launch = () => ServiceProcess.listening(['--agent', 'agent.yml', '--data-dir', 'data'], options);
  const dispose = async () => {
    await toolServer[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
  return { upstream, tools, launch, [Symbol.asyncDispose]: dispose };
}

async function kill(service: ListeningService): Promise<void> {
  service.process.kill('SIGKILL');
  expect(await service.process.ended).toMatchObject({ signal: 'SIGKILL' });
}

const idle = (service: ListeningService) =>
  eventually(
    () => viewOf(service, 's'),
    ({ status }) => status === 'idle',
  );

const say = (service: ListeningService, message: string) =>
  service.post('/api/message', { message, sessionId: 's' });

describeWays('a service that is killed', (way) => {
  verifies('recovery.model', async () => {
    await using setup = await start(way);
    const { upstream, launch } = setup;
    await using killed = await launch();
    using client = await connectClient(`ws://127.0.0.1:${killed.port}/?session=s`);
    upstream.replyWith({ stream: [{ text: 'Half an ans' }, { hang: true }] });
    client.say('tell me');
    await client.until((frames) => frames.some(({ event }) => event === 'chunk'));
    await say(killed, 'and then?');
    await kill(killed);

    upstream.replyWith(textReply('The whole answer.'), textReply('Then this.'));
    await using service = await launch();
    // Nobody asks: the request comes by itself.
    const { body } = await upstream.request(1);
    expect(body.messages.filter(({ role }) => role !== 'system')).toEqual([
      { role: 'user', content: 'tell me' },
    ]);
    const view = await idle(service);
    expect(view.turns).toEqual({ requested: 2, completed: 2, failed: 0, cancelled: 0, waiting: 0 });
    expect(view.history.map(({ content }) => content)).toEqual([
      ...['tell me', 'The whole answer.', 'and then?', 'Then this.'],
    ]);
    const events = await eventsOf(service, 's');
    expect(events.filter(({ event }) => event === 'turnResumed')).toMatchObject([
      { turnId: events[0]?.turnId, data: { attempt: 2 } },
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const [first = [], second = []] = byTurn(events).values();
    checkTurn(first, { message: 'tell me', reply: 'The whole answer.' });
    checkTurn(second, { message: 'and then?', reply: 'Then this.' });
    expect(upstream.requests).toHaveLength(3);
  });

  verifies('recovery.model', 'again and again, and counts the attempts', async () => {
    await using setup = await start(way);
    const { upstream, launch } = setup;
    upstream.otherwise = () => ({ hang: true });
    for (const attempt of [1, 2, 3]) {
      await using killed = await launch();
      if (attempt === 1) await say(killed, 'tell me');
      await upstream.request(attempt - 1);
      await kill(killed);
    }
    upstream.otherwise = () => textReply('At last.');
    await using service = await launch();
    expect((await idle(service)).history.at(-1)?.content).toBe('At last.');
    const resumed = (await eventsOf(service, 's')).filter(({ event }) => event === 'turnResumed');
    expect(resumed.map(({ data }) => data)).toEqual([2, 3, 4].map((attempt) => ({ attempt })));
  });

  verifies('recovery.tools', async () => {
    await using setup = await start(way);
    const { upstream, tools, launch } = setup;
    await using killed = await launch();
    using client = await connectClient(`ws://127.0.0.1:${killed.port}/?session=s`);
    upstream.replyWith(
      toolCallReply(
        ['note', 'look', 'pay'].map((name) => ({ id: `c-${name}`, name, arguments: {} })),
        { text: 'Working.' },
      ),
    );
    client.say('work');
    (await tools.call('note')).answer('noted');
    await Promise.all([tools.call('look'), tools.call('pay')]);
    await client.until((frames) => frames.some(({ event }) => event === 'toolResult'));
    await kill(killed);

    upstream.replyWith(textReply('All done.'));
    await using service = await launch();
    (await tools.call('look', 1)).answer('seen');
    const { messages } = (await upstream.request(1)).body;
    expect(pairingFaults(messages)).toEqual([]);
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
      { tool_call_id: 'c-note', content: 'noted' },
      { tool_call_id: 'c-look', content: 'seen' },
      { tool_call_id: 'c-pay', content: expect.stringContaining('may or may not have taken effect') },
    ]);
    const view = await idle(service);
    expect(pairingFaults(view.history)).toEqual([]);
    expect(view).toMatchObject({ turns: { requested: 1, completed: 1 }, toolCalls: 3 });
    expect(tools.calls.map(({ name }) => name).sort()).toEqual(['look', 'look', 'note', 'pay']);
    const events = await eventsOf(service, 's');
    expect(events.map(({ event }) => event)).toEqual([
      ...['message', 'thinking', 'stepCompleted', 'toolCall', 'toolCall', 'toolCall', 'toolResult'],
      ...['turnResumed', 'toolResult', 'toolResult', 'stepCompleted', 'response'],
    ]);
    checkTurn(events, {
      message: 'work',
      reply: 'Working.',
      calls: [
        { toolName: 'note', arguments: {}, text: 'noted' },
        { toolName: 'look', arguments: {}, text: 'seen' },
        { toolName: 'pay', arguments: {}, text: 'paid', mayBeInterrupted: true },
      ],
      afterTools: () => 'All done.',
    });
  });
});

/** On disk, as the process that is killed between the two halves of a deletion leaves it. */
async function halfDeleted(directory: string): Promise<void> {
  const log = await openSqliteEventStore({ directory, log: recordingLog() });
  const cutOff: EventStore = {
    ...keptOpen(log),
    erase: async () => {
      throw new Error('the process was killed');
    },
  };
  await using service = await RunningService.start({ yaml: SCRIPTED, adapters: { store: cutOff } });
  await service.post('/api/message-sync', { message: 'my secret', sessionId: 's' });
  const response = await service.fetch('/api/sessions/s', { method: 'DELETE' });
  await errorOf(response, 500);
  const refused = await service.post('/api/message-sync', { message: 'still there?', sessionId: 's' });
  await errorOf(refused, 500);
  await service.close();
  expect((await log.read('s', 0)).at(-1)?.event.type).toBe('session.deleted');
  await log[Symbol.asyncDispose]();
}

describe('a deletion that was cut off', () => {
  verifies('recovery.delete', async () => {
    await using directory = await tempDirectory();
    await halfDeleted(directory.path);
    const log = await openSqliteEventStore({ directory: directory.path, log: recordingLog() });
    const model = new DirectedModel();
    await using service = await RunningService.start({ adapters: { store: log, model } });
    await eventually(
      () => log.sessions(),
      (sessions) => sessions.length === 0,
    );
    await errorOf(await service.fetch('/api/sessions/s'), 404);
    expect(await log.read('s', 0)).toEqual([]);
    const sync = service.post('/api/message-sync', { message: 'anew', sessionId: 's' });
    const call = await model.call(0);
    expect(call.request.messages).toEqual([{ role: 'user', text: 'anew' }]);
    call.answer('hello');
    expect((await sync).status).toBe(200);
    expect((await eventsOf(service, 's')).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  verifies('recovery.delete', 'while clients use the id already', async () => {
    await using directory = await tempDirectory();
    await halfDeleted(directory.path);
    const model = new DirectedModel();
    await using service = await RunningService.start({ dataDir: directory.path, adapters: { model } });
    // At once, while the deletion is being finished.
    const posts = ['one', 'two'].map((message) =>
      service.post('/api/message-sync', { message, sessionId: 's' }),
    );
    for (const message of ['one', 'two']) (await model.callFor(message)).answer(`re: ${message}`);
    for (const post of posts) expect((await post).status).toBe(200);
    const { history, turns } = await viewOf(service, 's');
    expect(turns).toMatchObject({ requested: 2, completed: 2 });
    expect(history).toHaveLength(4);
  });
});
