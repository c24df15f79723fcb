import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import {
  ApproveFrame,
  CancelFrame,
  DenyFrame,
  IdempotencyKeyId,
  MessageFrame,
  ResetFrame,
} from '../../wire/requests.ts';
import { parseFields, parseJsonObject } from '../requests/request-fields.ts';
import { checkImageSize } from '../requests/turn-message.ts';

export type ClientFrame = MessageFrame | CancelFrame | ApproveFrame | DenyFrame | ResetFrame;

/** Reads one text frame of a client. Throws the `ServiceError` that the client is to be told. */
export function decodeFrame(text: string, maxImageBytes: number | false): ClientFrame {
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
    case 'reset':
      return parseFields(ResetFrame, frame);
    default:
      throw new ServiceError('INVALID_MESSAGE_TYPE', 'The frame has an unsupported type.', {
        field: 'type',
        issue:
          frame.type === undefined ? 'it is missing' : `it is ${JSON.stringify(frame.type).slice(0, 100)}`,
        supported: ['message', 'cancel', 'approve', 'deny', 'reset'],
      });
  }
}

const NamedMessage = z.object({ type: z.literal('message'), clientMessageId: IdempotencyKeyId });

/** Which message a frame is, also if it cannot be accepted. */
export function messageIdOf(text: string): string | undefined {
  try {
    return NamedMessage.safeParse(JSON.parse(text)).data?.clientMessageId;
  } catch {
    return undefined; // Not JSON: it has no name.
  }
}

function decodeMessage(frame: Record<string, unknown>, maxImageBytes: number | false): MessageFrame {
  const message = parseFields(MessageFrame, frame);
  checkImageSize(message.imageData, maxImageBytes);
  return message;
}
