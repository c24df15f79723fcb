import type { JsonObject } from '../json-object.ts';

/** What a tool server may ask of its client while it works on a request. */
export type QuestionMethod = 'sampling/createMessage' | 'elicitation/create' | 'roots/list';

export interface ServerQuestion {
  readonly method: QuestionMethod;
  /** As MCP has them for this method. */
  readonly params: JsonObject;
}

/**
 * Answers a question of a tool server with MCP's result of the method. Rejects with a `JsonRpcError` to refuse it.
 * `signal` aborts when nobody waits for the answer any more.
 */
export type AnswerQuestion = (question: ServerQuestion, signal: AbortSignal) => Promise<JsonObject>;
