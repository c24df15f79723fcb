import type { StatelyInspectionEvent } from '@statelyai/inspect';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED, type ServiceOptions } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { Inspector } from '../../support/sockets/inspector.ts';
import { handshake, rawRequest } from '../../support/sockets/raw-http.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}
server: {drainTimeoutMs: 0}
mcpServers:
  tools: {type: stdio, command: none}
`;

async function start(options: ServiceOptions) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: {} });
  const service = await RunningService.start({
    yaml: YAML,
    adapters: { model, connector: tools },
    ...options,
  });
  return { model, tools, service, [Symbol.asyncDispose]: () => service.close() };
}

const inspect = (service: RunningService, query = '') =>
  new Inspector(`ws://127.0.0.1:${service.port}/inspect${query}`);

/** Of a handshake on that path. */
async function statusOf({ port }: RunningService, path: string, headers = {}): Promise<number> {
  const answer = await handshake(port, headers, path);
  if (!answer.accepted) return answer.response.status;
  answer.socket.destroy();
  return 101;
}

const stateIn = (event: StatelyInspectionEvent): unknown =>
  'snapshot' in event && 'value' in event.snapshot ? event.snapshot.value : undefined;

/** Says something, has the tool called, and answers. */
async function converse({ service, model, tools }: Awaited<ReturnType<typeof start>>): Promise<void> {
  await service.post('/api/message', { message: 'secret question' });
  const call = await model.call(0);
  call.say('secret remark');
  call.askFor({ name: 'look', arguments: { at: 'secret place' } });
  (await tools.call(0)).answer('secret sight');
  (await model.call(1)).answer('secret answer');
}

const isCompleted = (event: StatelyInspectionEvent): boolean =>
  event.type === '@xstate.snapshot' && stateIn(event) === 'completed';

describe('the inspector', () => {
  verifies('inspect.present', async () => {
    await using setup = await start({ inspect: 'states' });
    const { service, model } = setup;
    await service.post('/api/message', { message: 'hello' });
    await model.call(0);
    const inspector = inspect(service);
    const turn = await inspector.until(
      (event) => event.type === '@xstate.actor' && !event.name.startsWith('mcp'),
    );
    expect(inspector.events.map(({ type }) => type)).toEqual(['@xstate.actor', '@xstate.actor']);
    expect(inspector.events.map(stateIn)).toEqual(['connected', { callingModel: 'thinking' }]);
    const { definition } = z.object({ definition: z.string() }).parse(turn);
    expect(JSON.parse(definition)).toMatchObject({
      id: 'turn',
      states: { preparing: {}, callingModel: {}, executingTools: {} },
    });
  });

  verifies('inspect.live', async () => {
    await using setup = await start({ inspect: 'states' });
    const inspector = inspect(setup.service);
    await inspector.until(({ type }) => type === '@xstate.actor');
    await converse(setup);
    const last = await inspector.until(isCompleted);
    const states = inspector.events.filter(
      (event) => event.type === '@xstate.snapshot' && event.sessionId === last.sessionId,
    );
    expect(states.map(stateIn)).toEqual([
      'preparing',
      { callingModel: 'thinking' },
      { callingModel: 'streaming' },
      { executingTools: 'running' },
      { callingModel: 'thinking' },
      { callingModel: 'streaming' },
      { callingModel: 'streaming' },
      'completed',
    ]);
    expect(inspector.events).toContainEqual(
      expect.objectContaining({
        type: '@xstate.event',
        event: expect.objectContaining({ type: 'tool-call.succeeded', toolName: 'look' }),
      }),
    );
  });

  verifies('inspect.redacted', async () => {
    await using setup = await start({ inspect: 'states' });
    const inspector = inspect(setup.service);
    await inspector.until(({ type }) => type === '@xstate.actor');
    await converse(setup);
    await inspector.until(isCompleted);
    expect(JSON.stringify(inspector.events)).not.toContain('secret');
  });

  verifies('inspect.content', async () => {
    await using setup = await start({ inspect: 'content' });
    const inspector = inspect(setup.service);
    await inspector.until(({ type }) => type === '@xstate.actor');
    await converse(setup);
    await inspector.until(isCompleted);
    expect(JSON.stringify(inspector.events)).toContain('secret answer');
    expect(JSON.stringify(inspector.events)).toContain('secret sight');
  });

  verifies('inspect.off', async () => {
    await using setup = await start({});
    expect(await statusOf(setup.service, '/inspect')).toBe(400);
    const page = await rawRequest(setup.service.port, { path: '/inspect' });
    expect(parseEnvelope(page.text)).toMatchObject({
      details: { suggestion: expect.stringContaining('--inspect') },
    });
    await using on = await start({ inspect: 'states' });
    const plain = await rawRequest(on.service.port, { path: '/inspect' });
    expect(parseEnvelope(plain.text).message).toContain('is the WebSocket of an XState inspector');
  });

  verifies('inspect.local', async () => {
    await using setup = await start({ inspect: 'states', inspectToken: 'let-me-in' });
    const { service } = setup;
    const proxied = { 'X-Forwarded-For': '203.0.113.7' };
    expect(await statusOf(service, '/inspect')).toBe(101);
    expect(await statusOf(service, '/inspect', proxied)).toBe(403);
    expect(await statusOf(service, '/inspect?token=wrong', proxied)).toBe(403);
    expect(await statusOf(service, '/inspect?token=let-me-in', proxied)).toBe(101);
    expect(await statusOf(service, '/inspect', { Origin: 'https://elsewhere.example' })).toBe(403);
    expect(await statusOf(service, '/inspect', { Host: 'rebound.example' })).toBe(403);
  });

  verifies('inspect.gone', async () => {
    await using setup = await start({ inspect: 'states' });
    const { service } = setup;
    const answer = await handshake(service.port, {}, '/inspect');
    if (!answer.accepted) throw new Error('refused');
    answer.socket.destroy();
    await converse(setup);
    const inspector = inspect(service);
    expect(await inspector.until(({ type }) => type === '@xstate.actor')).toBeDefined();
  });

  verifies('inspect.present', 'of a real process', async () => {
    await using service = await ServiceProcess.listening(['--inspect', '--data-dir', ':memory:']);
    const inspector = new Inspector(`ws://127.0.0.1:${service.port}/inspect`);
    expect(await inspector.until(({ type }) => type === '@xstate.actor')).toMatchObject({
      name: 'mcp-server:everything',
    });
  });
});
