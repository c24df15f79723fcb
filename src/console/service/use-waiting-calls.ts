import type { MachineState } from '../../core/machine-state.ts';
import { useMachines } from './use-machines.ts';

/** The tool calls of all sessions that wait for approval, each as the ids of its turn and its call. */
export function useWaitingCalls(): readonly string[] {
  const { machines } = useMachines();
  return [...machines.values()].flatMap(waitingCallsOf);
}

function waitingCallsOf({ context: { turnId, awaiting } }: MachineState): string[] {
  return Array.isArray(awaiting) ? awaiting.map((callId) => `${turnId} ${callId}`) : [];
}
