import type { McpServerEvent } from '../../../machines/mcp-server.machine.ts';
import type { TurnEvent } from '../../../machines/turn.machine.ts';

/** What the events of the machines mean, for people who see a machine for the first time. */
const meanings: Readonly<Record<TurnEvent['type'] | McpServerEvent['type'], string>> = {
  'turn.prepared': 'The service has tried each tool server once.',
  'step.streaming': 'The first text of the model has arrived.',
  'step.completed': 'The model has ended its reply, or asks for tools.',
  'output.rejected': 'The reply does not have the form that the client wants.',
  'step.timedOut': 'The model took too long.',
  'approval.requested': 'A tool call must be approved before it runs.',
  'approval.granted': 'Somebody approved a tool call. It runs now.',
  'tool-call.delegated': 'The client that lent the tool is asked to run the call.',
  'input.requested': 'A tool server asks a person something.',
  'input.answered': 'The question of a tool server has ended.',
  'tool-call.succeeded': 'A tool call has its result.',
  'tool-call.failed': 'A tool call failed or was denied. The model learns of it.',
  'tool-call.interrupted': 'A tool call was stopped while it ran.',
  'turn.completed': 'The reply is complete and in the log.',
  'turn.failed': 'The failure of the turn is in the log.',
  'turn.cancelled': 'The end of the cancelled turn is in the log.',
  CANCEL: 'Somebody cancels the turn.',
  CONNECT: 'The service is to connect, or to connect again.',
  DISCONNECT: 'The service is to disconnect.',
  OPENED: 'The tool server has answered, and its tools are known.',
  FAILED: 'The attempt to connect failed.',
  CLOSED: 'The connection ended.',
  TOOLS_CHANGED: 'The tool server has changed its list of tools.',
};

const known: ReadonlyMap<string, string> = new Map([
  ...Object.entries(meanings),
  ['start', 'The machine begins.'],
  ['begins', 'The machine begins.'],
  ['after retryDelay', 'The pause before the next attempt is over.'],
  ['after holdDelay', 'The connection has held. Former failures are forgotten.'],
  ['message', 'A message was accepted. Its turn has not begun yet.'],
  ['toolCall', 'The model asks for a tool. The turn knew this from its last step.'],
]);

/** The meaning of an event by its label in the chart; undefined for a label that says enough by itself. */
export function meaningOf(label: string): string | undefined {
  return known.get(label);
}
