import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import { checkImageSize, type MaxBytes } from '../../core/size-limits.ts';
import {
  ApproveFrame,
  CancelFrame,
  DenyFrame,
  IdempotencyKeyId,
  MessageFrame,
  ResetFrame,
} from '../../wire/requests.ts';
import { parseFields, parseJsonObject } from '../requests/request-fields.ts';

export type ClientFrame = MessageFrame | CancelFrame | ApproveFrame | DenyFrame | ResetFrame;

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

const IdentifiedMessage = z.object({ type: z.literal('message'), clientMessageId: IdempotencyKeyId });

/** The `clientMessageId` of a message, even if the rest of the frame is invalid. */
export function messageIdOf(text: string): string | undefined {
  try {
    return IdentifiedMessage.safeParse(JSON.parse(text)).data?.clientMessageId;
  } catch {
    return undefined; // Text that is not JSON has no id.
  }
}

function decodeMessage(frame: Record<string, unknown>, maxImageBytes: MaxBytes): MessageFrame {
  const message = parseFields(MessageFrame, frame);
  checkImageSize(message.imageData, maxImageBytes);
  return message;
}
