import type { ModelReply } from '../../ports/language-model.ts';

/**
 * Reads one answer of a provider, in the format of its interface. Whatever is wrong with it is thrown as a
 * `ModelFailure`.
 */
export interface ReplyReader {
  /** Whether a piece of the reply has come, be it only a part of a tool call. */
  readonly hasBegun: boolean;
  /** Whether something was passed on to the listener: from then on the request must not be repeated. */
  readonly hasSpoken: boolean;
  /** Whether the provider said that nothing follows. */
  readonly isDone: boolean;
  event(data: string, name: string | undefined): void;
  /** The answer of a server that does not stream, or its error with a status of success. */
  whole(answer: unknown): void;
  /** The reply, if it is a whole one. A stream that just stops is the silent way to fail. */
  finish(): ModelReply;
}
