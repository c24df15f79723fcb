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
import { parseJson } from '../requests/json-text.ts';
import { parseFields, parseJsonObject } from '../requests/request-fields.ts';
import type { FrameId } from '../stream/resumable-frames.ts';

export type ClientFrame =
  | MessageFrame
  | CancelFrame
  | ApproveFrame
  | DenyFrame
  | ToolResultFrame
  | InputAnswerFrame
  | ResetFrame
  | AuthFrame;

/** Parses a text frame of a client. Throws a `ServiceError` for the client. */
export function decodeFrame(text: string, maxImageBytes: MaxBytes): ClientFrame {
  const frame = parseJsonObject(text, 'The frame');
  switch (frame.type) {
    case 'message':
      return decodeMessage(frame, maxImageBytes);
    case 'cancel':
      return parseFields(CancelFrame, frame);
    case 'approve':
      return parseFields(ApproveFrame, frame);
    case 'deny':
      return parseFields(DenyFrame, frame);
    case 'toolResult':
      return parseFields(ToolResultFrame, frame);
    case 'inputAnswer':
      return parseFields(InputAnswerFrame, frame);
    case 'reset':
      return parseFields(ResetFrame, frame);
    case 'auth':
      return parseFields(AuthFrame, frame);
    default:
      throw unsupportedType(frame.type);
  }
}

export function unsupportedType(type: unknown): ServiceError {
  return new ServiceError('INVALID_MESSAGE_TYPE', 'The frame has an unsupported type.', {
    field: 'type',
    issue: type === undefined ? 'it is missing' : `it is ${JSON.stringify(type).slice(0, 100)}`,
    supported: ['message', 'cancel', 'approve', 'deny', 'toolResult', 'inputAnswer', 'reset'],
  });
}

const IdentifiedFrame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), clientMessageId: IdempotencyKeyId }),
  z.object({
    type: z.enum(['cancel', 'approve', 'deny', 'toolResult', 'inputAnswer', 'reset', 'auth']),
    commandId: IdempotencyKeyId,
  }),
]);

/** The id of a message or of a command, even if the rest of the frame is invalid. */
export function frameIdOf(text: string): FrameId | undefined {
  try {
    const { data } = IdentifiedFrame.safeParse(parseJson(text));
    if (data === undefined) return undefined;
    return data.type === 'message'
      ? { clientMessageId: data.clientMessageId }
      : { commandId: data.commandId };
  } catch {
    return undefined; // Text that is not JSON has no id.
  }
}

function decodeMessage(frame: Record<string, unknown>, maxImageBytes: MaxBytes): MessageFrame {
  const message = parseFields(MessageFrame, frame);
  checkImageSize(message.imageData, maxImageBytes);
  return message;
}
