import type { MachineState } from '../../../core/machine-state.ts';
import { EXAMPLE_TIME } from './operation.ts';

/** The machine of a connected tool server. */
export const toolServerMachine: MachineState = {
  id: 'mcp-server:everything',
  machine: 'mcp-server',
  value: 'connected',
  context: { name: 'everything', failures: 0, toolCount: 15, error: null },
  event: null,
  status: 'active',
  time: EXAMPLE_TIME,
};
