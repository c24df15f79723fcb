import type { ModelReply } from '../../ports/language-model.ts';

/** How far a reply has come. */
export interface ReplyProgress {
  /** Whether a piece of the reply has come, even if it is only a part of a tool call. */
  readonly hasBegun: boolean;
  /** Whether something was passed on to the listener: from then on the request must not be repeated. */
  readonly hasSpoken: boolean;
  /** Whether the reply is complete. Its token counts may follow. */
  readonly hasEnding: boolean;
  /** Whether the provider said that nothing follows. */
  readonly isDone: boolean;
}

/** Reads one answer of a provider in the format of its interface. Throws a `ModelFailure` for every problem. */
export interface ReplyReader {
  readonly progress: ReplyProgress;
  event(data: string, name: string | undefined): void;
  /** Takes the answer of a server that does not stream, or its error with a success status. */
  whole(answer: unknown): void;
  /** The reply. Throws if it is incomplete: a stream may just stop. */
  finish(): ModelReply;
}
