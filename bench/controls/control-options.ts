import type { ModelApi } from '../../src/config/schema/llm-config.ts';

export interface ReplyPieces {
  readonly piece: string;
  readonly pieces: number;
}

/** The reply that a control without a model service streams to the message `stream`. */
export function piecesOf(env: NodeJS.ProcessEnv): ReplyPieces {
  return { piece: env.BENCH_PIECE ?? '', pieces: Number(env.BENCH_PIECES ?? 0) };
}

/** The interface of the model service. */
export function apiOf({ BENCH_API: api = 'chat' }: NodeJS.ProcessEnv): ModelApi {
  if (api === 'chat' || api === 'responses' || api === 'messages') return api;
  throw new Error(`BENCH_API is ${api}, which is not an interface of a model service`);
}
