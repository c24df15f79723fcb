import { type Item, newestTurn } from './read-conversation.ts';
import { type Saying, thought } from './voice.ts';

/** What the user asks for in a turn of these tests, and what the fakes then do. */
export type Command =
  /** Says something, and thinks aloud before. */
  | 'talk'
  /** Calls two tools at once. */
  | 'tools'
  /** Calls one tool after some words, without a thought where the model can do without. */
  | 'sum'
  /** Looks at the image that came with it. */
  | 'look'
  /** Answers with an error. */
  | 'error'
  /** Calls a tool, and answers its result with an error. */
  | 'trouble'
  /** Calls a tool, and breaks its next answer off. */
  | 'break';

/** A user's text. It names the session too, so that a fake can tell what belongs together. */
export function wordsOf(session: string, command: Command): string {
  return `${session}#${command}`;
}

export interface Asked {
  readonly session: string;
  readonly command: string;
  /** What the tools have answered since. */
  readonly results: readonly string[];
}

/** A message that was not answered is joined with the next one: the last command counts. */
export function askedIn(items: readonly Item[]): Asked {
  const { said, since } = newestTurn(items);
  const [, session = '', command = ''] = [...said.matchAll(/(\w+)#(\w+)/g)].at(-1) ?? [];
  const results = since.flatMap((item) => (item.kind === 'result' ? [item.text] : []));
  return { session, command, results };
}

export type Reply = { readonly saying: Saying; readonly isBroken?: true } | 'error';

/** @param alwaysThinks whether the model cannot call a tool without a thought. */
export function replyTo({ command, results }: Asked, mark: string, alwaysThinks: boolean): Reply {
  const reasoning = thought(mark);
  const saying = { reasoning, text: '', calls: [] };
  const isAnswered = results.length > 0;
  switch (command) {
    case 'talk':
      return { saying: { ...saying, text: TALK } };
    case 'look':
      return { saying: { ...saying, text: LOOK } };
    case 'tools':
      if (isAnswered) return { saying: { ...saying, text: resultsText(...results) } };
      return { saying: { ...saying, calls: [ECHO, SUM] } };
    case 'sum': {
      const silent = { ...saying, reasoning: alwaysThinks ? reasoning : '' };
      if (isAnswered) return { saying: { ...silent, text: resultsText(...results) } };
      return { saying: { ...silent, text: BEFORE_SUM, calls: [SUM] } };
    }
    case 'trouble':
      return isAnswered ? 'error' : { saying: { ...saying, calls: [SUM] } };
    case 'break':
      if (isAnswered) return { saying: { ...saying, text: BROKEN }, isBroken: true };
      return { saying: { ...saying, calls: [SUM] } };
    default:
      return 'error';
  }
}

/** `echo` answers later than `get-sum`: its result comes last, and stands first. */
const ECHO = { name: 'echo', arguments: { message: 'first "of" two' } };
const SUM = { name: 'get-sum', arguments: { a: 19, b: 23 } };
export const ECHO_RESULT = 'Echo: first "of" two';
export const SUM_RESULT = 'The sum of 19 and 23 is 42.';

export const TALK = 'Hello, I am well.';
export const LOOK = 'I see a single pixel.';
export const BEFORE_SUM = 'Let me add them.';
export const BROKEN = 'This sentence will never come to its end.';

export function resultsText(...results: readonly string[]): string {
  return `I was told: ${results.join(' | ')}`;
}
