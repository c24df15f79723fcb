import { z } from 'zod';
import type { SessionId, TurnId } from '../../../core/ids.ts';
import type { TurnPause } from '../../turns/attended-turn.ts';
import { callIdFor } from '../client-tools.ts';
import { pieceWriter } from '../piece-writer.ts';
import { ChatUsage } from './counted-tokens.ts';

/** Where an answer is in the log, and what all that tells of it has in common. */
export interface ChatPlace {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  /** The first step of the answer within its turn. */
  readonly firstStep: number;
  /** The id of the agent. */
  readonly model: string;
  /** Seconds since the epoch. */
  readonly created: number;
}

const FinishReason = z.enum(['stop', 'length', 'tool_calls']);
type FinishReason = z.infer<typeof FinishReason>;

const ToolCall = z.object({
  id: z.string().describe('Answer with exactly this id: it also says in which session the call waits.'),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
type ToolCall = z.infer<typeof ToolCall>;

function finishReason({ calls, finishReason: reason }: TurnPause): FinishReason {
  return calls ? 'tool_calls' : (reason ?? 'stop');
}

function toolCalls({ calls = [] }: TurnPause, { sessionId }: ChatPlace): ToolCall[] {
  return calls.map(({ callId, toolName: name, arguments: args }) => ({
    id: callIdFor(callId, sessionId),
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
}

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
        content: z.string().nullable(),
        tool_calls: z.array(ToolCall).optional(),
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

export function chatCompletion(place: ChatPlace, pause: TurnPause, usage: ChatUsage | null): ChatCompletion {
  const calls = toolCalls(pause, place);
  const content = pause.content === '' && calls.length > 0 ? null : pause.content;
  const asked = calls.length > 0 && { tool_calls: calls };
  return {
    ...headOf(place, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, ...asked, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: finishReason(pause),
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
      delta: z.object({
        role: z.literal('assistant').optional(),
        content: z.string().optional(),
        tool_calls: z.array(ToolCall.extend({ index: z.int().min(0) })).optional(),
      }),
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
  /** Writes the event of a piece of the reply. */
  readonly piece: (content: string) => string;

  /** @param hasUsage whether each event says how many tokens there were. */
  constructor(place: ChatPlace, hasUsage: boolean) {
    this.#place = place;
    this.#hasUsage = hasUsage;
    this.piece = pieceWriter((content) => this.#event({ content }));
  }

  begin(): string {
    return this.#event({ role: 'assistant', content: '' });
  }

  /** The last events of an answer. */
  end(pause: TurnPause, usage: ChatUsage | null): string {
    const counted = this.#hasUsage ? this.#write({ choices: [], usage }) : '';
    const calls = toolCalls(pause, this.#place).map((call, index) => ({ index, ...call }));
    const asked = calls.length > 0 ? this.#event({ tool_calls: calls }) : '';
    return `${asked}${this.#event({}, finishReason(pause))}${counted}${DONE}`;
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

const DONE = 'data: [DONE]\n\n';

function headOf<T extends string>(place: ChatPlace, object: T) {
  const { created, model } = place;
  return { id: completionId(place), object, created, model };
}

/** Each answer has an id of its own: clients replace what they have by what comes with the same one. */
function completionId({ turnId, firstStep }: ChatPlace): string {
  return `chatcmpl-${turnId}${firstStep > 1 ? `.${firstStep}` : ''}`;
}
