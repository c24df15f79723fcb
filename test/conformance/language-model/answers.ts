import type { ModelRequest } from '../../../src/ports/language-model.ts';

/** One piece of a reply as it goes over the wire. Pieces of one kind that follow one another are one part. */
export type Said =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  /** Of a format that signs what was thought, the signature follows the last piece. */
  | { readonly type: 'reasoning'; readonly text: string }
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      /** Raw: where this is no JSON, the reply ends in the middle of the call. */
      readonly arguments: string;
    };

export type Ending = 'stop' | 'length' | 'filtered' | 'unknown';

export type ErrorKind = 'key' | 'model' | 'quota' | 'rate' | 'overloaded' | 'context' | 'image';

/** How a provider answers one request, in no provider's format. */
export type Answer =
  | {
      readonly kind: 'reply';
      readonly said: readonly Said[];
      readonly ending?: Ending;
      /** Each piece in a packet of its own, when left out. */
      readonly as?: 'one packet' | 'json' | { readonly splitAt: number };
    }
  /** A stream that just ends, or whose connection breaks. */
  | { readonly kind: 'truncated'; readonly said: readonly Said[]; readonly by: 'end' | 'reset' }
  /** A stream with a finish reason, but without its end: nothing follows, or its connection breaks. */
  | { readonly kind: 'unended'; readonly said: readonly Said[]; readonly lastly: 'hang' | 'reset' }
  /** A stream that goes on without saying anything; without even a head when nothing was said. */
  | { readonly kind: 'silent'; readonly said: readonly Said[] }
  /** A status of failure instead of a reply. */
  | { readonly kind: 'refused'; readonly error: ErrorKind; readonly headers?: Record<string, string> }
  /** An error inside of a stream that began well. */
  | { readonly kind: 'error'; readonly said: readonly Said[]; readonly error: ErrorKind };

export function says(...pieces: readonly string[]): Said[] {
  return pieces.map((text) => ({ type: 'text', text }));
}

export function thinks(...pieces: readonly string[]): Said[] {
  return pieces.map((text) => ({ type: 'reasoning', text }));
}

export function calls(id: string, name: string, args: string): Said {
  return { type: 'call', id, name, arguments: args };
}

export function reply(...said: readonly Said[]): Answer {
  return { kind: 'reply', said };
}

/** What a provider says that answers whatever it is asked. */
export const STILL_HERE = 'Still here.';

export const KEY = 'sk-conformance-51d2';
export const PROMPT = 'my-prompt-7f3a';
export const SYSTEM_PROMPT = 'my-system-prompt-91cc';
/** The worst of providers: each of its errors quotes the key and the prompt. */
export const QUOTED = `you sent ${KEY} with ${PROMPT} and ${SYSTEM_PROMPT}`;
/** Even where others have codes and the names of fields. */
export const QUOTED_CODES = { metadata: { reason: KEY, code: QUOTED }, param: KEY };

const tools: ModelRequest['tools'] = [
  {
    name: 'search',
    description: 'Searches.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } } },
  },
  { name: 'files__read', description: '', inputSchema: { type: 'object' } },
];

/** A request with one message. @param number of the answer that it is to get, from 0. */
export function question(number = 0): ModelRequest {
  return { systemPrompt: SYSTEM_PROMPT, messages: [{ role: 'user', text: `#${number} ${PROMPT}` }], tools };
}
