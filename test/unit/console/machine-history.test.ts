import { describe, expect, it } from 'vitest';
import {
  chosenMachine,
  MachineHistory,
  machineName,
} from '../../../src/console/statecharts/live/machine-history.ts';
import type { MachineState } from '../../../src/core/machine-state.ts';

const state = (change: Partial<MachineState>): MachineState => ({
  id: 't1',
  machine: 'turn',
  sessionId: 's',
  value: 'preparing',
  context: {},
  event: null,
  status: 'active',
  time: '2026-01-01T00:00:00.000Z',
  ...change,
});

const follow = { kind: 'follow' } as const;

describe('what the machines did', () => {
  it('begins with where they are, which is no move', () => {
    const { snapshot } = new MachineHistory([state({})]);
    expect(snapshot.moves).toEqual([]);
    expect(chosenMachine(follow, snapshot, 's')?.after).toBe('preparing');
  });

  it('keeps each move with where it came from, the newest first, also of machines that are over', () => {
    const history = new MachineHistory([state({})]);
    history.take(state({ event: 'turn.prepared', value: { callingModel: 'thinking' } }), true);
    history.take(state({ event: 'turn.completed', value: 'completed', status: 'done' }), true);
    const { moves } = history.snapshot;
    expect(moves.map(({ before, event, after }) => [before, event, after])).toEqual([
      [{ callingModel: 'thinking' }, 'turn.completed', 'completed'],
      ['preparing', 'turn.prepared', { callingModel: 'thinking' }],
    ]);
    expect(chosenMachine(follow, history.snapshot, 's')?.after).toBe('completed');
  });

  it('takes where a machine is told to be for no move, the first time and after a lost connection', () => {
    const history = new MachineHistory([]);
    const connected = state({ id: 'tools', machine: 'mcp-server', value: 'connected' });
    history.take(connected, false);
    history.take(connected, false);
    expect(history.snapshot.moves).toEqual([]);
    history.take(state({ id: 'tools', machine: 'mcp-server', event: 'server.lost', value: 'error' }), true);
    expect(history.snapshot.moves.map(({ before, after }) => [before, after])).toEqual([
      ['connected', 'error'],
    ]);
  });

  it('forgets what ran when the stream was lost, unless it still runs, and keeps what had ended', () => {
    const history = new MachineHistory(['ended', 'runs', 'gone'].map((id) => state({ id })));
    history.take(state({ id: 'ended', event: 'turn.completed', value: 'completed', status: 'done' }), true);
    history.forgetRunning();
    history.take(state({ id: 'runs' }), false);
    expect([...history.snapshot.machines.keys()]).toEqual(['ended', 'runs']);
    expect(history.snapshot.moves).toHaveLength(1);
  });

  it('keeps a hundred moves and a few ended machines, however many there are', () => {
    const history = new MachineHistory([]);
    for (let turn = 0; turn < 300; turn += 1) {
      history.take(state({ id: `t${turn}` }), true);
      history.take(
        state({ id: `t${turn}`, event: 'turn.completed', value: 'completed', status: 'done' }),
        true,
      );
    }
    const { moves, machines } = history.snapshot;
    expect(moves).toHaveLength(100);
    expect(machines.size).toBe(20);
    expect(moves[0]?.state.id).toBe('t299');
  });
});

describe('the machine that is shown', () => {
  const history = new MachineHistory([
    state({ id: 'weather', machine: 'mcp-server', sessionId: undefined, context: { name: 'weather' } }),
    state({ id: 'mine' }),
    state({ id: 'other', sessionId: 'o' }),
  ]);

  it("is the session's newest turn, until one is chosen", () => {
    expect(chosenMachine(follow, history.snapshot, 's')?.state.id).toBe('mine');
    history.take(state({ id: 'next' }), true);
    expect(chosenMachine(follow, history.snapshot, 's')?.state.id).toBe('next');
    const pinned = { kind: 'machine', id: 'weather', machine: 'mcp-server' } as const;
    expect(chosenMachine(pinned, history.snapshot, 's')?.state.id).toBe('weather');
  });

  it('is none when the session has none', () => {
    expect(chosenMachine(follow, history.snapshot, 'quiet')).toBeUndefined();
  });

  it('is called by its session, or by the name of the server', () => {
    const names = [...history.snapshot.machines.values()].map((move) => machineName(move.state));
    expect(names).toContain('weather');
    expect(names).toContain('Turn of s');
  });
});
