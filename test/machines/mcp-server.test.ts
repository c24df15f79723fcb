import { describe, expect, it } from 'vitest';
import { createActor, fromCallback, SimulatedClock } from 'xstate';
import {
  type ConnectionEffect,
  type McpServerEvent,
  mcpServerMachine,
} from '../../machines/mcp-server.machine.ts';
import { retryDelayMs } from '../../src/timing/retry-delay.ts';

function startServer(retryDelayMs = (failures: number) => failures * 100) {
  const effects: string[] = [];
  const track = (name: string) => () => {
    effects.push(`+${name}`);
    return () => effects.push(`-${name}`);
  };
  const clock = new SimulatedClock();
  const machine = mcpServerMachine.provide({
    actors: {
      open: fromCallback<McpServerEvent, ConnectionEffect>(track('open')),
      hold: fromCallback<McpServerEvent, ConnectionEffect>(track('hold')),
    },
    delays: { retryDelay: ({ context }) => retryDelayMs(context.failures) },
  });
  const actor = createActor(machine, { input: { name: 'srv' }, clock }).start();
  const tell = (...events: McpServerEvent[]) => {
    for (const event of events) actor.send(event);
    return actor.getSnapshot().value;
  };
  return { actor, clock, effects, tell };
}

const connect = { type: 'CONNECT' } as const;
const opened = { type: 'OPENED', toolCount: 2 } as const;
const closed = { type: 'CLOSED', reason: 'killed' } as const;
const failed = { type: 'FAILED', reason: 'no such command' } as const;

describe('the MCP server machine', () => {
  it('has exactly the four statuses of the interface', () => {
    expect(Object.keys(mcpServerMachine.states).toSorted()).toEqual([
      'connected',
      'connecting',
      'disconnected',
      'error',
    ]);
  });

  it('connects, and holds the connection until it is told to disconnect', () => {
    const { tell, effects, actor } = startServer();
    expect(tell(connect)).toBe('connecting');
    expect(tell(opened)).toBe('connected');
    expect(actor.getSnapshot().context.toolCount).toBe(2);
    expect(tell({ type: 'DISCONNECT' })).toBe('disconnected');
    expect(effects).toEqual(['+open', '-open', '+hold', '-hold']);
    expect(actor.getSnapshot().context).toMatchObject({ toolCount: 0, error: null });
  });

  it('tries again after a failure, later each time, and shows no error once it is connected', () => {
    const { tell, clock, actor } = startServer();
    expect(tell(connect, failed)).toBe('error');
    expect(actor.getSnapshot().context).toMatchObject({ error: 'no such command', failures: 1 });
    clock.increment(100);
    expect(tell(failed)).toBe('error');
    clock.increment(199);
    expect(actor.getSnapshot().value).toBe('error');
    clock.increment(1);
    expect(tell(opened)).toBe('connected');
    expect(actor.getSnapshot().context).toMatchObject({ error: null });
  });

  it('starts afresh only after a connection that has held for a minute', () => {
    const { tell, clock, actor, effects } = startServer();
    tell(connect, failed);
    clock.increment(100);
    tell(opened);
    clock.increment(59_999);
    tell(closed);
    expect(actor.getSnapshot().context.failures).toBe(2);
    clock.increment(199);
    expect(actor.getSnapshot().value).toBe('error');
    clock.increment(1);
    tell(opened);
    effects.length = 0;
    clock.increment(60_000);
    expect(actor.getSnapshot()).toMatchObject({ value: 'connected', context: { failures: 0, toolCount: 2 } });
    expect(effects).toEqual([]);
    tell(closed);
    expect(actor.getSnapshot().context.failures).toBe(1);
  });

  it.each([
    ['least', 0, [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]],
    ['most', 1, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]],
  ])('waits to the millisecond as long as it is told, where chance adds the %s', (_what, chance, waits) => {
    const { tell, clock, actor } = startServer((failures) => retryDelayMs(failures, () => chance));
    const expectWaits = () => {
      for (const ms of waits) {
        expect(tell(failed)).toBe('error');
        clock.increment(ms - 1);
        expect(actor.getSnapshot().value).toBe('error');
        clock.increment(1);
        expect(actor.getSnapshot().value).toBe('connecting');
      }
    };
    tell(connect);
    expectWaits();
    tell(opened);
    clock.increment(60_000);
    // From the first wait on.
    tell(closed);
    clock.increment(waits[0] ?? 0);
    expect(actor.getSnapshot()).toMatchObject({ value: 'connecting', context: { failures: 1 } });
    tell({ type: 'DISCONNECT' }, connect);
    expectWaits();
  });

  it('shows an error when a wanted connection is lost, and forgets its tools', () => {
    const { tell, actor } = startServer();
    expect(tell(connect, opened, closed)).toBe('error');
    expect(actor.getSnapshot().context).toMatchObject({ error: 'killed', toolCount: 0 });
  });

  it('does not try again when it is no longer wanted', () => {
    const { tell, clock, actor } = startServer();
    tell(connect, failed, { type: 'DISCONNECT' });
    clock.increment(10_000);
    expect(actor.getSnapshot().value).toBe('disconnected');
  });

  it('gives an attempt up when it is told to disconnect or to connect anew', () => {
    const { tell, effects } = startServer();
    tell(connect, connect);
    expect(effects).toEqual(['+open', '-open', '+open']);
    tell({ type: 'DISCONNECT' });
    expect(effects.at(-1)).toBe('-open');
  });

  it('keeps count of changed tools while connected', () => {
    const { tell, actor } = startServer();
    tell(connect, opened);
    expect(tell({ type: 'TOOLS_CHANGED', toolCount: 7 })).toBe('connected');
    expect(actor.getSnapshot().context.toolCount).toBe(7);
  });
});
