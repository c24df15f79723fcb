import { type Image, imageBytes } from '../../core/conversation/image.ts';
import { tooLarge } from '../../core/limit-errors.ts';
import type { TurnMessage } from '../../ports/service-requests.ts';

type Optional = 'image' | 'whenBusy' | 'key';
type ClientMessage = Omit<TurnMessage, Optional | 'turnId'> & {
  [Field in Optional]?: TurnMessage[Field] | undefined;
};

/** A message of a client, with the id of a new turn. */
export function turnMessage({ sessionId, text, image, whenBusy, key }: ClientMessage): TurnMessage {
  return {
    sessionId,
    turnId: crypto.randomUUID(),
    text,
    ...(image && { image }),
    ...(whenBusy && { whenBusy }),
    ...(key && { key }),
  };
}

/** Throws `RATE_LIMIT_EXCEEDED` for an image that is too large. The limit counts its bytes, not its base64. */
export function checkImageSize(image: Image | undefined, maxBytes: number | false): void {
  if (image && maxBytes !== false && imageBytes(image) > maxBytes) throw tooLarge('an image', maxBytes);
}
