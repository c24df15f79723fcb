import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { ServerFrame } from '../../../src/wire/frames.ts';
import { pairingFaults } from '../../support/log/paired-history.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { OpenAiUpstream, textReply, toolCallReply } from '../../support/models/openai-upstream.ts';
import { eventually } from '../../support/project/eventually.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf, viewOf } from '../../support/sessions/session-api.ts';
import { ResumingSocket } from '../../support/sockets/resuming-socket.ts';
import type { Client } from '../../support/sockets/websocket-client.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { GatedTools } from '../../support/tools/mcp/gated-tools.ts';
import { streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { verifies } from '../requirements.ts';

const RULES = `
approval:
  rules:
    - {server: bank, tool: "pay*", policy: ask}
    - {tool: steal, policy: deny}
mcpServers:
  bank: {type: stdio, command: none}
`;

async function start(yaml = '') {
  const model = new DirectedModel();
  const tools = new DirectedTools({ pay: {}, look: {}, steal: {} });
  const service = await RunningService.start({
    yaml: `${SCRIPTED}${RULES}${yaml}`,
    adapters: { model, connector: tools },
  });
  return { model, tools, service, [Symbol.asyncDispose]: () => service.close() };
}

const PAY = { name: 'pay', callId: 'c1', arguments: { to: 'Ann', sum: 5 } };
const PAY_HASH = createHash('sha256').update('{"sum":5,"to":"Ann"}').digest('hex');
const APPROVAL = '/api/sessions/default/approvals/c1';

const ofEvent = (frames: readonly ServerFrame[], event: ServerFrame['event']) =>
  frames.filter((frame) => frame.event === event);
const seen = (client: Client, event: ServerFrame['event']) =>
  client.until((frames) => ofEvent(frames, event).length > 0);

/** A client that has seen the question whether the tool may be run. */
async function asked({ model, service }: Awaited<ReturnType<typeof start>>): Promise<Client> {
  const client = await service.connect();
  client.say('pay Ann');
  (await model.call(0)).askFor(PAY);
  await seen(client, 'toolApproval');
  return client;
}

describe('a tool that asks first', () => {
  verifies('approval.ask', async () => {
    await using setup = await start();
    using client = await asked(setup);
    const call = { callId: 'c1', toolName: 'pay', serverId: 'bank', arguments: { to: 'Ann', sum: 5 } };
    expect(client.frames.slice(1)).toEqual([
      { event: 'toolCall', data: call },
      { event: 'toolApproval', data: { ...call, argumentsHash: PAY_HASH } },
    ]);
    expect(setup.tools.calls).toEqual([]);
  });

  verifies('approval.rest', async () => {
    await using setup = await start();
    using client = await asked(setup);
    const response = await setup.service.post(APPROVAL, { decision: 'approve', argumentsHash: PAY_HASH });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'approved',
      sessionId: 'default',
      callId: 'c1',
      timestamp: expect.stringMatching(/Z$/),
    });
    const call = await setup.tools.call(0);
    expect(call).toMatchObject({ toolName: 'pay', arguments: { to: 'Ann', sum: 5 } });
    call.answer('paid');
    (await setup.model.call(1)).answer('It is paid.');
    const frames = await client.settled();
    expect(ofEvent(frames, 'toolResult')).toHaveLength(1);
    expect(frames.at(-1)).toEqual({ event: 'response', data: { content: 'It is paid.' } });
  });

  verifies('approval.frame', async () => {
    await using setup = await start();
    using client = await asked(setup);
    client.send({ type: 'approve', callId: 'c1', argumentsHash: PAY_HASH });
    client.send({ type: 'deny', callId: 'c1' });
    await seen(client, 'error');
    expect(client.frames.at(-1)).toMatchObject({ data: { code: 'APPROVAL_NOT_FOUND' } });
    (await setup.tools.call(0)).answer('paid');
    (await setup.model.call(1)).answer('It is paid.');
    await seen(client, 'response');
    expect(setup.tools.calls).toHaveLength(1);
  });

  verifies('approval.deny', async () => {
    await using setup = await start();
    using client = await asked(setup);
    client.send({ type: 'deny', callId: 'c1', reason: 'not to Ann' });
    const next = await setup.model.call(1);
    expect(next.request.messages.at(-1)).toMatchObject({
      role: 'tool',
      callId: 'c1',
      text: expect.stringContaining('denied: not to Ann'),
    });
    next.answer('Then not.');
    const frames = await client.settled();
    expect(ofEvent(frames, 'toolResult')).toMatchObject([
      { data: { callId: 'c1', error: 'it was denied: not to Ann' } },
    ]);
    expect(setup.tools.calls).toEqual([]);
  });

  verifies('approval.hash', async () => {
    await using setup = await start();
    using client = await asked(setup);
    const other = { decision: 'approve', argumentsHash: 'f'.repeat(64) };
    expect(await errorOf(await setup.service.post(APPROVAL, other), 400)).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'argumentsHash', issue: expect.stringContaining(PAY_HASH) },
    });
    client.send({ type: 'approve', callId: 'c1', argumentsHash: 'f'.repeat(64) });
    await seen(client, 'error');
    expect(setup.tools.calls).toEqual([]);
    expect((await viewOf(setup.service, 'default')).approvals).toHaveLength(1);
  });

  verifies('approval.parallel', async () => {
    await using setup = await start();
    const { model, tools, service } = setup;
    using client = await service.connect();
    client.say('pay Ann and look');
    (await model.call(0)).askFor(PAY, { name: 'look', callId: 'c2' });
    (await tools.call(0)).answer('all fine');
    await seen(client, 'toolResult');
    expect(tools.calls.map(({ toolName }) => toolName)).toEqual(['look']);
    client.send({ type: 'approve', callId: 'c1' });
    (await tools.call(1)).answer('paid');
    (await model.call(1)).answer('Done.');
    await client.settled();
  });

  verifies('approval.cancel', async () => {
    await using setup = await start();
    using client = await asked(setup);
    await setup.service.post('/api/sessions/default/cancel');
    const frames = await client.settled();
    expect(frames.at(-1)).toMatchObject({ event: 'error', data: { code: 'TURN_CANCELLED' } });
    expect(ofEvent(frames, 'toolResult')).toMatchObject([
      { data: { error: expect.stringContaining('before the call was approved') } },
    ]);
    expect(await errorOf(await setup.service.post(APPROVAL, { decision: 'approve' }), 404)).toMatchObject({
      code: 'APPROVAL_NOT_FOUND',
    });
    client.say('go on');
    const call = await setup.model.callFor('go on');
    expect(pairingFaults(call.request.messages)).toEqual([]);
    call.answer('Gladly.');
    expect(setup.tools.calls).toEqual([]);
  });

  verifies('approval.view', async () => {
    await using setup = await start();
    using _ = await asked(setup);
    const { service, model, tools } = setup;
    const { openTurnId: turnId, approvals } = await viewOf(service, 'default');
    const call = { callId: 'c1', toolName: 'pay', serverId: 'bank' };
    const waiting = {
      ...call,
      turnId,
      arguments: PAY.arguments,
      argumentsHash: PAY_HASH,
      since: expect.stringMatching(/Z$/),
    };
    expect(approvals).toEqual([waiting]);
    await service.post(APPROVAL, { decision: 'approve' });
    (await tools.call(0)).answer('paid');
    (await model.call(1)).answer('Done.');
    using late = new ResumingSocket(`ws://127.0.0.1:${service.port}/?after=3`);
    const frames = await late.settled();
    expect(frames.slice(1, 5)).toMatchObject([
      { event: 'toolCall', seq: 4 },
      { event: 'toolApproval', seq: 5, data: { argumentsHash: PAY_HASH } },
      { event: 'toolApproved', seq: 6, data: { ...call, argumentsHash: PAY_HASH } },
      { event: 'toolResult', seq: 7 },
    ]);
    expect((await viewOf(service, 'default')).approvals).toEqual([]);
    expect((await viewOf(service, 'default', '?at=5')).approvals).toEqual([waiting]);
  });

  verifies('approval.stop', async () => {
    await using setup = await start('server: {drainTimeoutMs: 600000}');
    using client = await asked(setup);
    // Running turns would be given more time than this test has.
    await setup.service.close();
    expect(ofEvent(client.frames, 'error')).toEqual([]);
  });
});

describe('a tool that is denied', () => {
  verifies('approval.never', async () => {
    await using setup = await start();
    const { model, tools, service } = setup;
    using client = await service.connect();
    client.say('steal');
    const call = await model.call(0);
    expect(call.request.tools.map(({ name }) => name)).toEqual(['pay', 'look']);
    call.askFor({ name: 'steal', callId: 'c1' });
    (await model.call(1)).answer('I may not.');
    const frames = await client.settled();
    expect(ofEvent(frames, 'toolResult')).toMatchObject([
      { data: { callId: 'c1', toolName: 'steal', error: 'the agent is not allowed to use this tool' } },
    ]);
    expect(tools.calls).toEqual([]);
  });
});

describe('an answer that does not fit', () => {
  verifies('approval.refused', async () => {
    await using setup = await start();
    const { service } = setup;
    const unknown = '/api/sessions/default/approvals/none';
    expect(await errorOf(await service.post(unknown, { decision: 'deny' }), 404)).toMatchObject({
      code: 'APPROVAL_NOT_FOUND',
      details: { callId: 'none' },
    });
    for (const [body, field] of [
      [{}, 'decision'],
      [{ decision: 'maybe' }, 'decision'],
      [{ decision: 'approve', argumentsHash: 'xyz' }, 'argumentsHash'],
      [{ decision: 'deny', reason: 7 }, 'reason'],
    ] as const)
      expect(await errorOf(await service.post(unknown, body), 400)).toMatchObject({ details: { field } });
    using client = await service.connect();
    client.send({ type: 'approve' });
    await seen(client, 'error');
    expect(client.frames).toMatchObject([
      { event: 'error', data: { code: 'MISSING_FIELD', details: { field: 'callId' } } },
    ]);
  });
});

describe('a service that is killed while a call waits for approval', () => {
  for (const decision of ['approve', 'deny'] as const)
    verifies(
      'approval.restart',
      `${decision === 'approve' ? 'approved' : 'denied'} before the tool servers of the restarted service are there`,
      async () => {
        await using directory = await tempDirectory();
        const yaml = `${SCRIPTED}${RULES}`;
        const launch = async (open = Promise.resolve()) => {
          const [model, tools] = [new DirectedModel(), new DirectedTools({ pay: {} })];
          tools.open = open;
          const adapters = { model, connector: tools };
          const service = await RunningService.start({ yaml, dataDir: directory.path, adapters });
          return { model, tools, service, [Symbol.asyncDispose]: () => service.close() };
        };
        {
          await using setup = await launch();
          using _ = await asked(setup);
        }
        const connected = Promise.withResolvers<void>();
        await using setup = await launch(connected.promise);
        const { service, tools, model } = setup;
        expect((await service.post(APPROVAL, { decision })).status).toBe(200);
        connected.resolve();
        if (decision === 'approve') (await tools.call(0)).answer('done');
        (await model.call(0)).answer('So be it.');
        const { history } = await eventually(
          () => viewOf(service, 'default'),
          ({ status }) => status === 'idle',
        );
        expect(history.at(-1)).toEqual({ role: 'assistant', content: 'So be it.' });
        expect(tools.calls).toHaveLength(decision === 'approve' ? 1 : 0);
      },
    );

  verifies('approval.restart', async () => {
    await using upstream = await OpenAiUpstream.listen();
    const tools = new GatedTools({ pay: { readOnly: false } });
    await using toolServer = await streamableServer({ tools: tools.server });
    await using folder = await agentFolder(
      JSON.stringify({
        llm: { provider: 'openai-compatible', model: 'm', baseURL: upstream.baseURL },
        mcpServers: { bank: { type: 'http', baseUrl: toolServer.url } },
        approval: { default: 'ask' },
      }),
    );
    const launch = () =>
      ServiceProcess.listening(['--agent', 'agent.yml', '--data-dir', 'data'], { cwd: folder.path });
    const waiting = (service: { fetch(path: string): Promise<Response> }) =>
      eventually(
        () => viewOf(service, 's'),
        ({ approvals }) => approvals.length === 1,
      );

    await using killed = await launch();
    upstream.replyWith(toolCallReply([{ id: 'c1', name: 'pay', arguments: {} }]), textReply('Paid.'));
    await killed.post('/api/message', { message: 'pay', sessionId: 's' });
    const before = await waiting(killed);
    killed.process.kill('SIGKILL');
    await killed.process.ended;

    await using service = await launch();
    const after = await waiting(service);
    expect(after.approvals).toEqual(before.approvals);
    expect(tools.calls).toEqual([]);
    const callId = after.approvals[0]?.callId;
    const answer = await service.post(`/api/sessions/s/approvals/${callId}`, { decision: 'approve' });
    expect(answer.status).toBe(200);
    (await tools.call('pay')).answer('done');
    const view = await eventually(
      () => viewOf(service, 's'),
      ({ status }) => status === 'idle',
    );
    expect(view.history.at(-1)).toEqual({ role: 'assistant', content: 'Paid.' });
    expect(tools.calls).toHaveLength(1);
    expect((await eventsOf(service, 's')).map(({ event }) => event)).toEqual([
      'message',
      'thinking',
      'stepCompleted',
      'toolCall',
      'toolApproval',
      'turnResumed',
      'toolApproved',
      'toolResult',
      'stepCompleted',
      'response',
    ]);
  });
});
