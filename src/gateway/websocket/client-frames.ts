import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import { checkImageSize, type MaxBytes } from '../../core/size-limits.ts';
import {
  ApproveFrame,
  AuthFrame,
  CancelFrame,
  DenyFrame,
  IdempotencyKeyId,
  InputAnswerFrame,
  MessageFrame,
  ResetFrame,
  ToolResultFrame,
} from '../../wire/requests.ts';
import { parseRefused } from '../requests/json-text.ts';
import { parseFields, parseJsonObject } from '../requests/request-fields.ts';
import { refuseSessionInFrame } from '../requests/session-place.ts';
import type { FrameId } from '../stream/resumable-frames.ts';

const FRAMES = [
  ...([MessageFrame, CancelFrame, ApproveFrame, DenyFrame] as const),
  ...([ToolResultFrame, InputAnswerFrame, ResetFrame, AuthFrame] as const),
];

type FrameSchema = (typeof FRAMES)[number];
export type ClientFrame = z.infer<FrameSchema>;

const schemas: ReadonlyMap<unknown, FrameSchema> = new Map(
  FRAMES.map((schema) => [schema.shape.type.value, schema]),
);

interface FrameRules {
  /** Whether this is the session of the WebSocket. */
  readonly isSession: (named: string) => boolean;
  readonly maxImageBytes: MaxBytes;
  /** Only where clients are authenticated there is a frame with a credential. */
  readonly isAuthenticated: boolean;
}

/** Parses a text frame of a client. Throws a `ServiceError` for the client. */
export function decodeFrame(
  text: string,
  { isSession, maxImageBytes, isAuthenticated }: FrameRules,
): ClientFrame {
  const fields = parseJsonObject(text, 'frame');
  const schema = schemas.get(fields.type);
  if (!schema) throw unsupportedType(fields.type, isAuthenticated);
  refuseSessionInFrame(fields, isSession);
  const frame = parseFields(schema, fields);
  if (frame.type === 'message') checkImageSize(frame.imageData, maxImageBytes);
  return frame;
}

export function unsupportedType(type: unknown, isAuthenticated: boolean): ServiceError {
  const types = FRAMES.map(({ shape }) => shape.type.value);
  return new ServiceError('INVALID_MESSAGE_TYPE', 'The frame has an unsupported type.', {
    field: 'type',
    issue: type === undefined ? 'it is missing' : `it is ${JSON.stringify(type).slice(0, 100)}`,
    supported: types.filter((known) => known !== 'auth' || isAuthenticated),
  });
}

const FrameIds = z.object({
  type: z.unknown().optional(),
  clientMessageId: IdempotencyKeyId.optional().catch(undefined),
  commandId: IdempotencyKeyId.optional().catch(undefined),
});

/** The id of a message or of a command, even if the rest of the frame is invalid, or of a type that nobody knows. */
export function frameIdOf(text: string): FrameId | undefined {
  try {
    const { type, clientMessageId, commandId } = FrameIds.parse(parseRefused(text));
    if (commandId !== undefined && type !== 'message') return { commandId };
    const isMessage = type === 'message' || !schemas.has(type);
    return isMessage && clientMessageId !== undefined ? { clientMessageId } : undefined;
  } catch {
    return undefined; // Text that is no JSON object has no id.
  }
}
