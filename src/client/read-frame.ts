import type { MachineFrame, ResumableFrame } from '../wire/frames.ts';
import { isObject } from './is-object.ts';
import { ProtocolError } from './session-errors.ts';

/** What the service sends to a client that resumes. */
export type StreamFrame = ResumableFrame | MachineFrame;

/**
 * Parses a frame. Checks only the fields that the client itself uses, so that newer services may send more.
 * @throws ProtocolError when it is not a frame.
 */
export function readFrame(data: unknown): StreamFrame {
  const frame = typeof data === 'string' ? parse(data) : undefined;
  if (isFrame(frame)) return frame;
  throw new ProtocolError(`the service sent something that is not a frame: ${String(data).slice(0, 100)}`);
}

type ErrorFrame = Extract<StreamFrame, { event: 'error' }>;

/** Whether the frame is an error that names neither an event nor a turn, nor a message or a command of this client. */
export function isUnnamedError(frame: StreamFrame): frame is ErrorFrame {
  if (frame.event !== 'error') return false;
  const { seq, turnId, clientMessageId, commandId } = frame;
  return [seq, turnId, clientMessageId, commandId].every((name) => name === undefined);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller reports it as something that is not a frame.
  }
}

type Fields = Readonly<Record<string, unknown>>;

function isFrame(value: unknown): value is StreamFrame {
  if (!isObject(value) || typeof value.event !== 'string' || !isObject(value.data)) return false;
  const { seq, turnId, step, offset } = value;
  return (
    [seq, step, offset].every((place) => place === undefined || isCount(place)) &&
    (turnId === undefined || typeof turnId === 'string') &&
    hasDataOf(value.event, value.data)
  );
}

function hasDataOf(event: string, data: Fields): boolean {
  switch (event) {
    case 'resumed':
      return isCount(data.after) && isCount(data.head);
    case 'chunk':
    case 'response':
    case 'stepCompleted':
      return typeof data.content === 'string';
    case 'thinking':
      return data.reasoning === undefined || typeof data.reasoning === 'string';
    case 'error':
      return typeof data.code === 'string' && typeof data.message === 'string' && isObject(data.details);
    case 'accepted':
      return typeof data.clientMessageId === 'string';
    case 'machines':
      return Array.isArray(data.machines) && data.machines.every(isMachineState);
    case 'machine':
      return isMachineState(data);
    case 'done':
      return typeof data.commandId === 'string';
    default:
      return true;
  }
}

function isMachineState(value: unknown): boolean {
  return isObject(value) && typeof value.id === 'string' && typeof value.status === 'string';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
