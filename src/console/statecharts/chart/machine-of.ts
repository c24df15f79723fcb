import type { AnyStateMachine } from 'xstate';
import { mcpServerMachine } from '../../../../machines/mcp-server.machine.ts';
import { turnMachine } from '../../../../machines/turn.machine.ts';
import type { MachineState } from '../../../core/machine-state.ts';

export type MachineKind = MachineState['machine'];

/** The definition of each kind of machine. */
export const machineOf: Readonly<Record<MachineKind, AnyStateMachine>> = {
  turn: turnMachine,
  'mcp-server': mcpServerMachine,
};
