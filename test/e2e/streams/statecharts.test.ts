import { describe, expect } from 'vitest';
import { z } from 'zod';
import { connect } from '../../../src/client/session-client.ts';
import { MachineState } from '../../../src/core/machine-state.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { EventSourceStream } from '../../support/sockets/event-source.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}
server: {drainTimeoutMs: 0}
mcpServers:
  tools: {type: stdio, command: none}
`;

async function start() {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: {} });
  const service = await RunningService.start({ yaml: YAML, adapters: { model, connector: tools } });
  return { model, tools, service, [Symbol.asyncDispose]: () => service.close() };
}

const say = (service: RunningService, message: string, sessionId = 's') =>
  service.post('/api/message', { message, sessionId });

async function machinesOf(service: RunningService, query = '') {
  const response = await service.fetch(`/api/statecharts${query}`);
  return z
    .strictObject({ machines: z.array(MachineState), timestamp: z.string() })
    .parse(await response.json()).machines;
}

/** What the stream tells, up to the state of which `isLast` says so. */
async function watch(service: RunningService, query: string) {
  const source = await EventSourceStream.open(`${service.url}/api/statecharts${query}`);
  const events = source[Symbol.asyncIterator]();
  return {
    async until(isLast: (state: MachineState) => boolean): Promise<MachineState[]> {
      const states: MachineState[] = [];
      for (;;) {
        const state = MachineState.parse((await events.next()).value.frame);
        states.push(state);
        if (isLast(state)) return states;
      }
    },
    [Symbol.asyncDispose]: async () => {
      await events.return(undefined);
    },
  };
}

describe('where the machines are', () => {
  verifies('statecharts.now', async () => {
    await using setup = await start();
    const { service, model } = setup;
    await say(service, 'hello');
    await model.call(0);
    const machines = await machinesOf(service);
    expect(machines).toMatchObject([
      {
        machine: 'mcp-server',
        value: 'connected',
        context: { name: 'tools', toolCount: 1 },
        status: 'active',
      },
      { machine: 'turn', sessionId: 's', value: { callingModel: 'thinking' }, context: { step: 1 } },
    ]);
  });

  verifies('statecharts.live', async () => {
    await using setup = await start();
    const { service, model, tools } = setup;
    await say(service, 'look');
    const first = await model.call(0);
    await using watched = await watch(service, '?session=s');
    expect(await watched.until(({ machine }) => machine === 'turn')).toHaveLength(2);
    first.say('Let me see.');
    first.askFor({ name: 'look' });
    (await tools.call(0)).answer('seen');
    (await model.call(1)).answer('I have seen it.');
    const states = await watched.until(({ status }) => status === 'done');
    expect(states.map(({ event, value }) => [event, value])).toEqual([
      ['step.streaming', { callingModel: 'streaming' }],
      ['step.completed', { executingTools: 'running' }],
      ['tool-call.succeeded', { callingModel: 'thinking' }],
      ['step.streaming', { callingModel: 'streaming' }],
      ['step.completed', { callingModel: 'streaming' }],
      ['turn.completed', 'completed'],
    ]);
  });

  verifies('statecharts.live', 'of a tool server that is forgotten', async () => {
    await using setup = await start();
    const { service } = setup;
    await using watched = await watch(service, '');
    await service.fetch('/api/mcp/servers/tools', { method: 'DELETE' });
    await service.fetch('/api/mcp/servers/tools', { method: 'DELETE' });
    const states = await watched.until(({ status }) => status === 'stopped');
    expect(states.map(({ value, status }) => [value, status]).slice(-2)).toEqual([
      ['disconnected', 'active'],
      ['disconnected', 'stopped'],
    ]);
    expect(await machinesOf(service)).toEqual([]);
  });

  verifies('statecharts.live', 'of a tool server that is replaced while a turn uses it', async () => {
    const tools = new DirectedTools({ pay: {} });
    const agents = { only: YAML };
    await using service = await RunningService.start({ agents, adapters: { connector: tools } });
    await using watched = await watch(service, '');
    const servers = (states: readonly MachineState[]) =>
      states.filter(({ machine }) => machine === 'mcp-server').map(({ value, status }) => [value, status]);
    const isConnected = ({ value, status }: MachineState) => value === 'connected' && status === 'active';
    await watched.until(isConnected);
    const asked = service.post('/api/message-sync', { message: 'use pay {}' });
    const call = await tools.call(0);
    agents.only = YAML.replace('none', 'other');
    await service.post('/api/agents/only/reload');
    const replaced = servers(await watched.until(isConnected));
    expect(replaced[0]).toEqual(['connected', 'stopped']);
    expect(servers(await machinesOf(service))).toEqual([['connected', 'active']]);
    call.answer('paid');
    expect((await asked).status).toBe(200);
    // What was replaced has ended by now. The next that is told of is the end of what took its place.
    for (const _ of ['disconnects', 'forgets'])
      await service.fetch('/api/mcp/servers/tools', { method: 'DELETE' });
    expect(servers(await watched.until(({ status }) => status === 'stopped'))).toEqual([
      ['disconnected', 'active'],
      ['disconnected', 'stopped'],
    ]);
  });

  verifies('statecharts.socket', async () => {
    await using setup = await start();
    const { service, model } = setup;
    await say(service, 'one', 'other');
    const call = await model.call(0);
    const told: string[] = [];
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
    using client = connect({
      url: service.url,
      session: 'mine',
      onMachines: (states, isComplete) => {
        if (isComplete) told.push(`all: ${states.map(({ sessionId = 'tools' }) => sessionId).join(' ')}`);
        else told.push(...states.map(({ event }) => String(event)));
        if (states.some(({ status }) => status === 'done')) over();
      },
    });
    await client.ready();
    // The states follow the first frame, which has made the client ready.
    await expect.poll(() => told).toEqual(['all: tools other']);
    call.answer('done');
    await isOver;
    expect(told.slice(1)).toEqual(['step.streaming', 'step.completed', 'turn.completed']);
    expect(client.position.seq).toBe(0);
  });

  verifies('statecharts.session', async () => {
    await using setup = await start();
    const { service, model } = setup;
    await say(service, 'one', 'a');
    await say(service, 'two', 'b');
    await model.callFor('two');
    const of = async (query: string) =>
      (await machinesOf(service, query)).map(({ sessionId }) => sessionId ?? 'tools');
    expect(await of('')).toEqual(['tools', 'a', 'b']);
    expect(await of('?session=b')).toEqual(['tools', 'b']);
  });

  verifies('statecharts.content', async () => {
    await using setup = await start();
    const { service, model, tools } = setup;
    await using watched = await watch(service, '');
    await say(service, 'secret question');
    const call = await model.call(0);
    call.say('secret remark');
    call.askFor({ name: 'look', arguments: { at: 'secret place' } });
    (await tools.call(0)).answer('secret sight');
    (await model.call(1)).answer('secret answer');
    const states = await watched.until(({ status }) => status === 'done');
    expect(states.length).toBeGreaterThan(5);
    expect(JSON.stringify(states)).not.toContain('secret');
  });
});
