import type { ModelApi } from '../../src/config/schema/llm-config.ts';

export interface ReplyPieces {
  readonly piece: string;
  readonly pieces: number;
}

/** What a control without a model service streams when the message is `stream`. */
export function piecesOf(env: NodeJS.ProcessEnv): ReplyPieces {
  return { piece: env.BENCH_PIECE ?? '', pieces: Number(env.BENCH_PIECES ?? 0) };
}

/** The interface that the model service speaks. */
export function apiOf({ BENCH_API: api = 'chat' }: NodeJS.ProcessEnv): ModelApi {
  if (api === 'chat' || api === 'responses' || api === 'messages') return api;
  throw new Error(`BENCH_API is ${api}, which is no interface of a model service`);
}
