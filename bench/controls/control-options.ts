export interface ReplyPieces {
  readonly piece: string;
  readonly pieces: number;
}

/** What a control without a model service streams when the message is `stream`. */
export function piecesOf(env: NodeJS.ProcessEnv): ReplyPieces {
  return { piece: env.BENCH_PIECE ?? '', pieces: Number(env.BENCH_PIECES ?? 0) };
}
