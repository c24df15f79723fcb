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
