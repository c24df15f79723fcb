import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { JsonObject } from '../../../core/json-object.ts';
import type { ForwardedRequest } from '../../../ports/tool-server.ts';
import { InvalidAnswerError } from '../peer/rpc-errors.ts';

const MAX_ROUNDS = 10;
/** Before a request is repeated for which nothing was asked: the server only wants time. */
const PAUSE_MS = 250;

const JsonRecord = z.record(z.string(), z.unknown());
const InputRequired = z.object({
  resultType: z.literal('input_required'),
  inputRequests: z
    .record(z.string(), z.object({ method: z.string(), params: JsonRecord.default({}) }))
    .default({}),
  requestState: z.string().optional(),
});
type InputRequired = z.infer<typeof InputRequired>;

export interface InputRounds {
  send(request: ForwardedRequest): Promise<JsonObject>;
  /** Rejects if nobody answers. Then the request ends, too. */
  answer(question: ForwardedRequest, signal: AbortSignal): Promise<JsonObject>;
  /** Aborts when nobody waits for the result any more. */
  readonly signal: AbortSignal;
}

/** Makes a request, answers what the server needs for it, and repeats it with the answers until it is done. */
export async function inRounds(request: ForwardedRequest, rounds: InputRounds): Promise<JsonObject> {
  let result = await rounds.send(request);
  for (let round = 1; result.resultType === 'input_required'; round += 1) {
    if (round > MAX_ROUNDS) throw new Error(`the server still asks for input after ${MAX_ROUNDS} rounds`);
    const params = { ...request.params, ...(await nextFields(inputRequired(result), rounds)) };
    result = await rounds.send({ method: request.method, params });
  }
  return result;
}

function inputRequired(result: JsonObject): InputRequired {
  const parsed = InputRequired.safeParse(result);
  if (!parsed.success) throw new InvalidAnswerError(parsed.error);
  return parsed.data;
}

/** The answers of a round, and the server's state exactly as it came. */
async function nextFields(
  { inputRequests, requestState }: InputRequired,
  rounds: InputRounds,
): Promise<JsonObject> {
  const state = requestState === undefined ? {} : { requestState };
  const questions = Object.entries(inputRequests);
  if (questions.length === 0) {
    await pause(PAUSE_MS, undefined, { signal: rounds.signal });
    return state;
  }
  const failed = new AbortController();
  const signal = AbortSignal.any([rounds.signal, failed.signal]);
  try {
    const answers = questions.map(
      async ([key, question]) => [key, await rounds.answer(question, signal)] as const,
    );
    const inputResponses = Object.fromEntries(await untilAborted(Promise.all(answers), rounds.signal));
    return { inputResponses, ...state };
  } finally {
    failed.abort();
  }
}

/** Whoever answers may never do so. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
