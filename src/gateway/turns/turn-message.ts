import type { TurnMessage } from '../../ports/service-requests.ts';

type Optional = 'image' | 'given' | 'options' | 'whenBusy' | 'key' | 'isNewSession';
type ClientMessage = Omit<TurnMessage, Optional | 'turnId'> & {
  [Field in Optional]?: TurnMessage[Field] | undefined;
};

/** A message of a client, with the id of a new turn. */
export function turnMessage({
  sessionId,
  text,
  image,
  given,
  options,
  whenBusy,
  key,
  isNewSession,
}: ClientMessage): TurnMessage {
  return {
    sessionId,
    turnId: crypto.randomUUID(),
    text,
    ...(image && { image }),
    ...(given && { given }),
    ...(options && { options }),
    ...(whenBusy && { whenBusy }),
    ...(key && { key }),
    ...(isNewSession && { isNewSession }),
  };
}
