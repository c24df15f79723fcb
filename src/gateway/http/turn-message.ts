import type { TurnMessage } from '../../ports/service-requests.ts';

type Optional = 'image' | 'whenBusy' | 'key';
type Said = Omit<TurnMessage, Optional | 'turnId'> & { [Field in Optional]?: TurnMessage[Field] | undefined };

/** What a client said, as a new turn. */
export function turnMessage({ sessionId, text, image, whenBusy, key }: Said): TurnMessage {
  return {
    sessionId,
    turnId: crypto.randomUUID(),
    text,
    ...(image && { image }),
    ...(whenBusy && { whenBusy }),
    ...(key && { key }),
  };
}
