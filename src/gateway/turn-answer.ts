import { ServiceError } from '../contract/errors.ts';
import type { ReplyChunk } from '../contract/events.ts';
import type { SessionId, TurnId } from '../contract/ids.ts';
import type { Image } from '../contract/image.ts';
import type { Bus } from '../runtime/bus.ts';

export interface TurnMessage {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly text: string;
  readonly image?: Image;
}

/**
 * Starts a turn and waits for its settled answer. Rejects with the error the turn ended with.
 * @param onChunk hears the pieces of the reply as they come.
 */
export async function answerTurn(
  bus: Bus,
  message: TurnMessage,
  onChunk: (chunk: ReplyChunk) => void = () => undefined,
): Promise<string> {
  const answer = Promise.withResolvers<string>();
  const unsubscribe = bus.onSession(message.sessionId, (signal) => {
    if (!('event' in signal)) {
      if (signal.type === 'session.fault') answer.reject(errorOf(signal.error));
      else if (signal.turnId === message.turnId) onChunk(signal);
      return;
    }
    const { event } = signal;
    if (event.type === 'session.reset' || event.turnId !== message.turnId) return;
    if (event.type === 'turn.completed') answer.resolve(event.content);
    if (event.type === 'turn.failed') answer.reject(errorOf(event.error));
    if (event.type === 'turn.cancelled') answer.reject(turnCancelled(event.reason));
  });
  try {
    // Together, because a fault may settle the answer while the start is refused too.
    const [content] = await Promise.all([answer.promise, bus.send('turn.start', message)]);
    return content;
  } finally {
    unsubscribe();
  }
}

export function turnCancelled(reason: string): ServiceError {
  return new ServiceError('TURN_CANCELLED', 'The turn was cancelled before it was answered.', { reason });
}

function errorOf({ code, message, details }: ServiceError['body']): ServiceError {
  return new ServiceError(code, message, details);
}
