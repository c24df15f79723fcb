import { describe, expect, it } from 'vitest';
import type { MachineState } from '../../../../src/core/machine-state.ts';
import { ShownMachines } from '../../../../src/runtime/cluster/shown-machines.ts';

const A = 2;
const B = 3;

const turn = (value: string, status: MachineState['status'] = 'active', id = 't1'): MachineState => ({
  id,
  machine: 'turn',
  sessionId: 's',
  value,
  context: {},
  event: null,
  status,
  time: '2026-01-01T00:00:00.000Z',
});

function start() {
  const shown: string[] = [];
  const asked: (typeof machines.heard)[] = [];
  const machines = new ShownMachines(
    ({ id, value, status }) => shown.push(`${id} ${value} ${status}`),
    () => asked.push(machines.heard),
  );
  const hear = (node: number, n: number, ...states: MachineState[]): void =>
    machines.hear({ node, n, states, isAll: false });
  const hearAll = (node: number, n: number, ...states: MachineState[]): void =>
    machines.hear({ node, n, states, isAll: true });
  return { machines, shown, asked, hear, hearAll };
}

describe('the machines of other nodes', () => {
  it('are shown as their nodes tell', () => {
    const { shown, hear, hearAll, machines } = start();
    hearAll(A, 1, turn('thinking'));
    hear(A, 2, turn('streaming'));
    hear(A, 3, turn('completed', 'done'));
    expect(shown).toEqual(['t1 thinking active', 't1 streaming active', 't1 completed done']);
    expect(machines.heard).toEqual({ [A]: 3 });
  });

  it('are not set back by news that comes twice or late', () => {
    const { shown, hear, hearAll } = start();
    hearAll(A, 1, turn('thinking'));
    hear(A, 2, turn('completed', 'done'));
    hear(A, 2, turn('completed', 'done'));
    hearAll(A, 1, turn('thinking'));
    expect(shown).toEqual(['t1 thinking active', 't1 completed done']);
  });

  it('are asked for once when news was lost, and have ended if they are not among all', () => {
    const { shown, asked, hear, hearAll } = start();
    hearAll(A, 1, turn('thinking'), turn('thinking', 'active', 't2'));
    hear(A, 3, turn('streaming', 'active', 't2'));
    hear(A, 4, turn('running', 'active', 't2'));
    expect(asked).toEqual([{ [A]: 1 }]);
    hearAll(A, 5, turn('running', 'active', 't2'));
    expect(shown.slice(2)).toEqual(['t1 thinking stopped', 't2 running active']);
  });

  it('are not shown again when all are told and nothing has happened, but with each event', () => {
    const { shown, hear, hearAll } = start();
    hearAll(A, 1, turn('thinking'));
    hearAll(A, 2, turn('thinking'));
    expect(shown).toEqual(['t1 thinking active']);
    hear(A, 3, turn('thinking'));
    expect(shown).toEqual(['t1 thinking active', 't1 thinking active']);
  });

  it('go on at the node that has said so, when the node before says later that it stops', () => {
    const { shown, hear, hearAll } = start();
    hearAll(A, 1, turn('thinking'));
    hearAll(B, 1, turn('running'));
    hear(A, 2, turn('thinking', 'stopped'));
    expect(shown.at(-1)).toBe('t1 running active');
    hear(B, 2, turn('completed', 'done'));
    expect(shown.at(-1)).toBe('t1 completed done');
  });

  it('have ended with their node', () => {
    const { machines, shown, hearAll } = start();
    hearAll(A, 1, turn('thinking'));
    hearAll(B, 1, turn('running', 'active', 't2'));
    machines.keepNodes((node) => node === B);
    expect(shown.at(-1)).toBe('t1 thinking stopped');
    expect(machines.heard).toEqual({ [B]: 1 });
  });
});
