import { z } from 'zod';
import type { TurnId } from '../../../core/ids.ts';
import type { TurnReply } from '../../requests/turn-end.ts';
import { ChatUsage } from './counted-tokens.ts';

/** What the answers of one turn have in common. */
export interface ChatPlace {
  readonly turnId: TurnId;
  /** The id of the agent. */
  readonly model: string;
  /** Seconds since the epoch. */
  readonly created: number;
}

const FinishReason = z.enum(['stop', 'length']);
type FinishReason = z.infer<typeof FinishReason>;

export const finishReason = ({ finishReason: reason }: TurnReply): FinishReason => reason ?? 'stop';

/** The answer to a request without `stream`. */
export const ChatCompletion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int().describe('Unix seconds.'),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string(),
        refusal: z.null(),
        annotations: z.array(z.never()),
      }),
      logprobs: z.null(),
      finish_reason: FinishReason,
    }),
  ),
  usage: ChatUsage.optional(),
});
export type ChatCompletion = z.infer<typeof ChatCompletion>;

export function chatCompletion(place: ChatPlace, reply: TurnReply, usage: ChatUsage | null): ChatCompletion {
  const { content } = reply;
  return {
    ...headOf(place, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: finishReason(reply),
      },
    ],
    ...(usage && { usage }),
  };
}

/** One event of a stream. */
export const ChatChunk = z.object({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int().describe('Unix seconds.'),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      delta: z.object({ role: z.literal('assistant').optional(), content: z.string().optional() }),
      logprobs: z.null(),
      finish_reason: FinishReason.nullable(),
    }),
  ),
  usage: ChatUsage.nullable()
    .optional()
    .describe('With `stream_options.include_usage`: null, but for the last one.'),
});
export type ChatChunk = z.infer<typeof ChatChunk>;
type ChatDelta = ChatChunk['choices'][number]['delta'];

/** Writes the events of a stream. */
export class ChatChunks {
  readonly #place: ChatPlace;
  readonly #hasUsage: boolean;
  /** The text before and after a piece, which is all that differs between most events. */
  readonly #around: readonly [string, string];

  /** @param hasUsage whether each event says how many tokens there were. */
  constructor(place: ChatPlace, hasUsage: boolean) {
    this.#place = place;
    this.#hasUsage = hasUsage;
    const [before = '', after = ''] = this.#event({ content: MARK }).split(JSON.stringify(MARK));
    this.#around = [before, after];
  }

  begin(): string {
    return this.#event({ role: 'assistant', content: '' });
  }

  piece(content: string): string {
    const [before, after] = this.#around;
    return before + JSON.stringify(content) + after;
  }

  /** The last events of a reply. */
  end(reply: TurnReply, usage: ChatUsage | null): string {
    const counted = this.#hasUsage ? this.#write({ choices: [], usage }) : '';
    return `${this.#event({}, finishReason(reply))}${counted}${DONE}`;
  }

  #event(delta: ChatDelta, finish_reason: FinishReason | null = null): string {
    return this.#write({
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(this.#hasUsage && { usage: null }),
    });
  }

  #write(rest: Pick<ChatChunk, 'choices' | 'usage'>): string {
    const chunk: ChatChunk = { ...headOf(this.#place, 'chat.completion.chunk'), ...rest };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}

/** In no id and no number. */
const MARK = '\u0000';
const DONE = 'data: [DONE]\n\n';

function headOf<T extends string>({ turnId, created, model }: ChatPlace, object: T) {
  return { id: `chatcmpl-${turnId}`, object, created, model };
}
