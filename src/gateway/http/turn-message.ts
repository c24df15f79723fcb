import type { TurnMessage } from '../../ports/service-requests.ts';

type Optional = 'image' | 'whenBusy' | 'key' | 'trace';
type Said = Omit<TurnMessage, Optional | 'turnId'> & { [Field in Optional]?: TurnMessage[Field] | undefined };

/** What a client said, as a new turn. */
export function turnMessage({ sessionId, text, image, whenBusy, key, trace }: Said): TurnMessage {
  return {
    sessionId,
    turnId: crypto.randomUUID(),
    text,
    ...(image && { image }),
    ...(whenBusy && { whenBusy }),
    ...(key && { key }),
    ...(trace && { trace }),
  };
}
