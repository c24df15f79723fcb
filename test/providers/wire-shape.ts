/**
 * One answer of a provider as it stood on the wire, and what the service must make of it. Each shape comes from a
 * published source: documentation, an SDK's fixture, or a bug report.
 */
export interface WireShape {
  /** States what is special about the answer, as a test title: `sends usage in every chunk`. */
  readonly name: string;
  /** Address of the documentation page, issue or file that shows the shape. */
  readonly source: string;
  readonly answer: WireAnswer;
  readonly expected: ExpectedReply | ExpectedFailure;
  /**
   * How the official SDK reads the same bytes: `agrees` on text, tool calls and the end, or differs for the reason
   * given here. Left out for error statuses, which the SDK only throws.
   */
  readonly sdk?: 'agrees' | { readonly differs: string };
  /** Fields of `llm` in the agent file that the shape needs, such as `keepReasoning`. */
  readonly llm?: Readonly<Record<string, unknown>>;
}

export interface WireAnswer {
  /** 200 when left out. */
  readonly status?: number;
  /** `content-type` is `text/event-stream` for a 200 and `application/json` otherwise, when left out. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, or its packets in their order. */
  readonly body: string | readonly (string | Uint8Array)[];
  /** How the body ends: properly, or with a reset connection. */
  readonly end?: 'whole' | 'reset';
}

export interface ExpectedReply {
  /** What the user reads; a refusal counts as text. */
  readonly text: string;
  /** What the model thought aloud. */
  readonly reasoning?: string;
  /** In the order in which they are to be run. Arguments as parsed JSON; a string where they are no JSON object. */
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: unknown }[];
  /** Set when a token limit cut the reply. */
  readonly finishReason?: 'length';
  /** `inputTokens` includes what came from a cache, `outputTokens` includes reasoning. */
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cachedTokens?: number;
    readonly reasoningTokens?: number;
  };
}

export interface ExpectedFailure {
  /** What the user is told in `details.reason`, and must be able to act on. */
  readonly failure: RegExp;
  /** What was streamed before, as in `ExpectedReply.text`. */
  readonly text?: string;
}

/** All shapes of one provider, over one of its interfaces. */
export interface ProviderShapes {
  /** As in `llm.provider`. */
  readonly provider: string;
  /** `chat` is OpenAI's chat completions, `responses` its Responses API, `messages` Anthropic's Messages API. */
  readonly api: 'chat' | 'responses' | 'messages';
  readonly shapes: readonly WireShape[];
}

/** Server-sent events with nothing but data: an object becomes JSON, a string is taken as it is. */
export function events(...data: readonly (object | string)[]): string {
  return data.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('');
}

/** Server-sent events that are named by the `type` of their data, as Anthropic and the Responses API send them. */
export function namedEvents(...data: readonly { readonly type: string }[]): string {
  return data.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('');
}

export const DONE = '[DONE]';

/** A chunk of OpenAI's chat completions with one choice. `more` is merged into the chunk itself. */
export function chunk(delta: object | null, finishReason: string | null = null, more: object = {}): object {
  return {
    id: 'chatcmpl-123',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'model',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...more,
  };
}
