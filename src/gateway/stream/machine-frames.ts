import type { MachineState } from '../../core/machine-state.ts';
import type { MachineFrame } from '../../wire/frames.ts';

/** The states of all running machines, for a client that asked for them. */
export function encodeMachines(machines: readonly MachineState[]): string {
  return JSON.stringify({ event: 'machines', data: { machines } } satisfies MachineFrame);
}

/** The new state of a machine. */
export function encodeMachine(data: MachineState): string {
  return JSON.stringify({ event: 'machine', data } satisfies MachineFrame);
}
