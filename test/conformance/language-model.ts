import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/contract/errors.ts';
import type { LanguageModel, ModelRequest } from '../../src/ports/language-model.ts';

/**
 * What each adapter's model must do when the last user message begins with one of these words. `slow` says
 * `one` in its first piece, and has more to say.
 */
export const scenarios = {
  say: { text: 'Grüße, world 👋 and all' },
  call: {
    text: 'Let me look.',
    toolCalls: [
      { name: 'search', arguments: { query: 'uWS "cork"', limit: 3 } },
      { name: 'files__read', arguments: {} },
    ],
  },
  quiet: { text: '', toolCalls: [{ name: 'search', arguments: { query: 'x' } }] },
  fail: { text: 'half a ' },
  slow: { text: 'one' },
} as const;

export interface LanguageModelHarness extends AsyncDisposable {
  readonly model: LanguageModel;
  /** What must never be seen outside: the key. */
  readonly secrets: readonly string[];
  /** Resolves when no request to a provider is under way any more. */
  idle(): Promise<void>;
}

/** Holds an adapter to the promises written at `LanguageModel`. */
export function languageModelSuite(name: string, makeHarness: () => Promise<LanguageModelHarness>): void {
  describe(`${name} keeps the promises of a language model`, () => {
    let harness: LanguageModelHarness;
    beforeEach(async () => {
      harness = await makeHarness();
    });
    afterEach(async () => {
      await harness[Symbol.asyncDispose]();
    });

    it('has a label of provider and model', () => {
      expect(harness.model.label).toMatch(/^\S+ \S+/);
    });

    it('streams pieces that are never empty and add up to the text', async () => {
      const heard = listener();
      const reply = await harness.model.generate(ask('say'), heard.onText, new AbortController().signal);
      expect(reply.text).toBe(scenarios.say.text);
      expect(heard.pieces.join('')).toBe(scenarios.say.text);
      expect(heard.pieces.length).toBeGreaterThan(1);
      expect(heard.pieces).not.toContain('');
    });

    it('never calls back before it has returned its promise', async () => {
      const heard = listener();
      const reply = harness.model.generate(ask('say'), heard.onText, new AbortController().signal);
      expect(heard.pieces).toEqual([]);
      await reply;
    });

    it('gives text and tool calls of one reply, arguments as JSON text, each call with an id of its own', async () => {
      const heard = listener();
      const reply = await harness.model.generate(ask('call'), heard.onText, new AbortController().signal);
      expect(reply.text).toBe(scenarios.call.text);
      expect(heard.pieces.join('')).toBe(scenarios.call.text);
      const calls = reply.toolCalls.map((call) => ({
        name: call.name,
        arguments: JSON.parse(call.arguments),
      }));
      expect(calls).toEqual(scenarios.call.toolCalls);
      expect(new Set(reply.toolCalls.map((call) => call.callId)).size).toBe(2);
      expect(reply.toolCalls.every((call) => call.callId !== '')).toBe(true);
    });

    it('says nothing when there is nothing but a tool call', async () => {
      const heard = listener();
      const reply = await harness.model.generate(ask('quiet'), heard.onText, new AbortController().signal);
      expect(heard.pieces).toEqual([]);
      expect(reply).toMatchObject({ text: '', toolCalls: [{ name: 'search' }] });
    });

    it('rejects with AGENT_ERROR and a reason, after the text that came before', async () => {
      const heard = listener();
      const error = await failureOf(
        harness.model.generate(ask('fail'), heard.onText, new AbortController().signal),
      );
      expect(error).toBeInstanceOf(ServiceError);
      expect(error).toMatchObject({ code: 'AGENT_ERROR', details: { reason: expect.stringMatching(/\S/) } });
      expect(heard.pieces.join('')).toBe(scenarios.fail.text);
    });

    it('shows neither key nor prompt in a failure', async () => {
      const error = await failureOf(
        harness.model.generate(ask('fail'), listener().onText, new AbortController().signal),
      );
      const shown = JSON.stringify(error instanceof ServiceError ? error.body : error) + everythingIn(error);
      for (const secret of [...harness.secrets, PROMPT, SYSTEM_PROMPT]) expect(shown).not.toContain(secret);
      expect(shown).toContain('AGENT_ERROR');
    });

    it('asks no provider when the signal is aborted beforehand', async () => {
      const heard = listener();
      await failureOf(harness.model.generate(ask('say'), heard.onText, AbortSignal.abort()));
      expect(heard.pieces).toEqual([]);
      await harness.idle();
    });

    it('rejects at once, says nothing more and ends the request when the signal aborts in the middle', async () => {
      const abort = new AbortController();
      const heard = listener(() => abort.abort());
      await failureOf(harness.model.generate(ask('slow'), heard.onText, abort.signal));
      expect(heard.pieces).toEqual([scenarios.slow.text]);
      await harness.idle();
      expect(heard.pieces).toEqual([scenarios.slow.text]);
    });

    it('answers several calls at a time, each to its own listener', async () => {
      const listeners = [listener(), listener(), listener()];
      const replies = await Promise.all(
        listeners.map(({ onText }) =>
          harness.model.generate(ask('say'), onText, new AbortController().signal),
        ),
      );
      expect(replies.map((reply) => reply.text)).toEqual(Array(3).fill(scenarios.say.text));
      for (const { pieces } of listeners) expect(pieces.join('')).toBe(scenarios.say.text);
    });

    it('takes a whole conversation, with tools, results, images and a reply that was cut off', async () => {
      const reply = await harness.model.generate(
        conversation,
        listener().onText,
        new AbortController().signal,
      );
      expect(reply.text).toBe(scenarios.say.text);
    });
  });
}

const PROMPT = 'my-prompt-7f3a';
const SYSTEM_PROMPT = 'my-system-prompt-91cc';

function ask(scenario: keyof typeof scenarios): ModelRequest {
  return { systemPrompt: SYSTEM_PROMPT, messages: [{ role: 'user', text: `${scenario} ${PROMPT}` }], tools };
}

const tools: ModelRequest['tools'] = [
  {
    name: 'search',
    description: 'Searches.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } } },
  },
  { name: 'files__read', description: '', inputSchema: { type: 'object' } },
];

const conversation: ModelRequest = {
  systemPrompt: SYSTEM_PROMPT,
  messages: [
    { role: 'user', text: 'call' },
    {
      role: 'assistant',
      text: '',
      toolCalls: [{ callId: 'call_1_1', name: 'search', arguments: { query: 'q' } }],
    },
    { role: 'tool', callId: 'call_1_1', name: 'search', text: 'found' },
    { role: 'assistant', text: 'Here is half of', toolCalls: [], cut: 'cancelled' },
    { role: 'user', text: 'say', image: { base64: 'iVBORw0KGgo=', mimeType: 'image/png' } },
  ],
  tools,
};

function listener(onPiece?: () => void): { pieces: string[]; onText: (text: string) => void } {
  const pieces: string[] = [];
  return {
    pieces,
    onText: (text) => {
      pieces.push(text);
      onPiece?.();
    },
  };
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => expect.unreachable('should have been rejected'),
    (error: unknown) => error,
  );
}

/** Message, stack and properties of an error and of all its causes: all that a log would print. */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.message} ${error.stack} ${JSON.stringify(error)} ${everythingIn(error.cause)}`;
}
