import { describe, expect, it } from 'vitest';
import { type ProviderReply, providerReplies } from '../../../bench/support/provider-replies.ts';
import { MessagesReader, messagesTemplate } from '../../../src/adapters/anthropic/messages-reader.ts';
import { ChatReader, chatTemplate } from '../../../src/adapters/openai/chat/chat-reader.ts';
import { DeltaTemplates } from '../../../src/adapters/openai/responses/delta-templates.ts';
import { ResponsesReader } from '../../../src/adapters/openai/responses/responses-reader.ts';
import { LlmConfig, type ModelApi } from '../../../src/config/schema/llm-config.ts';
import { providerEndpoint } from '../../../src/model-http/provider/provider-endpoint.ts';
import { EventTemplate } from '../../../src/model-http/reply/event-template.ts';
import type { ReplyReader } from '../../../src/model-http/reply/reply-reader.ts';
import type { ReplyListener } from '../../../src/ports/language-model.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';

/*
 * Replies as providers send them, changed at random, and read twice: with a template for all of them, and with every
 * event parsed. Both have to say the same.
 */
const REPLIES = 600;
const PIECES = 20;
const CHANGED_SHARE = 0.2;

interface SentEvent {
  readonly data: string;
  readonly name: string | undefined;
}

interface Fuzzed {
  readonly random: () => number;
  readonly below: (limit: number) => number;
  readonly pick: <T>(values: readonly [T, ...T[]]) => T;
}

describe('events that are not parsed', () => {
  it.each(providerReplies)('of $shape mean what they mean when they are parsed', (shape) => {
    const fuzz = fuzzed(shape.shape.length * 7_919 + 1);
    const reader = templatedReaders(shape.api);
    let complete = 0;
    for (let reply = 0; reply < REPLIES; reply += 1) {
      const events = eventsOf(shape).map((event) =>
        fuzz.random() < CHANGED_SHARE ? changed(event, fuzz) : event,
      );
      const templated = read(events, reader.templated);
      expect(templated, JSON.stringify(events)).toEqual(read(events, reader.parsing));
      complete += templated.hasFailed ? 0 : 1;
    }
    expect(reader.hits()).toBeGreaterThan(REPLIES * 2);
    expect(complete).toBeGreaterThan(REPLIES / 20);
  });
});

describe('a reply whose events change in the middle', () => {
  it('keeps the tokens of the last chunk that had them', () => {
    const chunk = (content: string, tokens?: number): SentEvent => ({
      name: undefined,
      data: JSON.stringify({
        choices: [{ index: 0, delta: { content } }],
        ...(tokens !== undefined && { usage: { prompt_tokens: 7, completion_tokens: tokens } }),
      }),
    });
    const events = [chunk('a', 1), chunk('b', 2), chunk('c', 3), chunk('d'), chunk('e'), chunk('f')];
    const { templated, parsing, hits } = templatedReaders('chat');
    const done = { name: undefined, data: '[DONE]' };
    const { said } = read([...events, done], templated);
    expect(hits()).toBe(3);
    expect(said).toContain('"usage":{"inputTokens":7,"outputTokens":3}');
    expect(said).toBe(read([...events, done], parsing).said);
  });

  it('fails at an event of the name `error`, even if its data adds text', () => {
    const delta = (text: string, name?: string): SentEvent => ({
      name,
      data: JSON.stringify({ type: 'response.output_text.delta', output_index: 0, delta: text }),
    });
    const { templated, hits } = templatedReaders('responses');
    expect(read([delta('a'), delta('b'), delta('c', 'error')], templated)).toMatchObject({ hasFailed: true });
    expect(hits()).toBe(1);
  });
});

function eventsOf({ piecesOf, eventsOf: sent }: ProviderReply): SentEvent[] {
  return sent(piecesOf(PIECES))
    .join('')
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => ({
      name: /^event: (.*)$/m.exec(block)?.[1],
      data: /^data: (.*)$/m.exec(block)?.[1] ?? '',
    }));
}

type ReaderOf = (listener: ReplyListener) => ReplyReader;

/** Counts what the templates read. */
function templatedReaders(api: ModelApi): { templated: ReaderOf; parsing: ReaderOf; hits: () => number } {
  let hits = 0;
  const counted = <T extends EventTemplate>(template: T): T => {
    const textOf = template.textOf.bind(template);
    template.textOf = (data) => {
      const text = textOf(data);
      if (text !== undefined) hits += 1;
      return text;
    };
    return template;
  };
  const config = LlmConfig.parse({ provider: 'openai-compatible', model: 'm', baseURL: 'http://x/v1', api });
  const access = providerEndpoint(config, {});
  const request = { systemPrompt: '', messages: [], tools: [] };
  const readers = (chat: EventTemplate, messages: EventTemplate, deltas: DeltaTemplates): ReaderOf => {
    switch (api) {
      case 'chat':
        return (listener) => new ChatReader(access, request, listener, chat);
      case 'messages':
        return (listener) =>
          new MessagesReader(access, request, listener, {
            template: messages,
            onThinkingBlock: () => undefined,
          });
      case 'responses':
        return (listener) => new ResponsesReader(access, request, listener, deltas);
    }
  };
  const deltas = new DeltaTemplates();
  const known = new Map<number | undefined, EventTemplate>();
  const of = deltas.of.bind(deltas);
  deltas.of = (index) => {
    const template = of(index);
    if (known.get(index) !== template) known.set(index, counted(template));
    return template;
  };
  return {
    templated: readers(counted(chatTemplate()), counted(messagesTemplate()), deltas),
    parsing: readers(new NoTemplate(), new NoTemplate(), new NoTemplates()),
    hits: () => hits,
  };
}

class NoTemplate extends EventTemplate {
  constructor() {
    super(() => undefined);
  }

  override textOf(): undefined {
    return undefined;
  }
}

class NoTemplates extends DeltaTemplates {
  override of(): EventTemplate {
    return new NoTemplate();
  }
}

function read(events: readonly SentEvent[], readerOf: ReaderOf): { said: string; hasFailed: boolean } {
  const said: unknown[] = [];
  const reader = readerOf({
    onText: (text) => said.push({ text }),
    onReasoning: (reasoning) => said.push({ reasoning }),
  });
  let hasFailed = false;
  try {
    for (const { data, name } of events) {
      reader.event(data, name);
      const { hasBegun, hasSpoken, hasEnding, isDone } = reader.progress;
      said.push([hasBegun, hasSpoken, hasEnding, isDone]);
    }
    said.push(reader.finish());
  } catch (error) {
    hasFailed = true;
    said.push(String(error), { ...Object(error) });
  }
  // Ids of tool calls without one are random.
  return { said: JSON.stringify(said).replace(/call_[\da-f]{32}/g, 'call_'), hasFailed };
}

function fuzzed(seed: number): Fuzzed {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  return { random, below, pick: (values) => values[below(values.length)] ?? values[0] };
}

const NUMBERS = [
  '0',
  '7',
  '-1',
  '007',
  '1.5',
  '2e3',
  '12345678901234567890',
  '123456789012345',
  'null',
  '"3"',
  '',
] as const;
const STRINGS = [
  '""',
  '"x"',
  '"\\u003c\\ud83d\\ude80"',
  '"\\x"',
  '"\\u12"',
  '"a\u0001"',
  '"a\tb"',
  '"\\\\"',
  '"\\"',
  '"é💡\u2028"',
  '"content"',
  '"stop"',
  '"error"',
  'null',
  '{}',
] as const;
const FIELDS = [
  '"content":"dup"',
  '"c\\u006fntent":"escaped"',
  '"delta":{"content":"dup"}',
  '"delta":{"type":"text_delta","text":"dup"}',
  '"delta":"dup"',
  '"text":"dup"',
  '"finish_reason":"stop"',
  '"finish_reason":""',
  '"error":{"message":"no"}',
  '"error":""',
  '"usage":{"prompt_tokens":3,"completion_tokens":4}',
  '"usage":{"completion_tokens":1}',
  '"usage":null',
  '"refusal":"no"',
  '"reasoning":""',
  '"tool_calls":[{"index":0,"id":"call_1","function":{"name":"f","arguments":"{}"}}]',
  '"output_index":1',
  '"index":2',
  '"type":"error"',
  '"created" \t: 5',
] as const;
const CHARACTERS = ['"', '\\', '{', '}', '[', ',', ':', ' ', '0', 'a', '\t', '\u0001', 'é', '💡'] as const;

/** The event with one thing changed. */
function changed({ data, name }: SentEvent, { below, pick, random }: Fuzzed): SentEvent {
  const replaceOne = (pattern: RegExp, value: string): string => {
    const found = [...data.matchAll(pattern)];
    const one = found[below(found.length)];
    return one ? data.slice(0, one.index) + value + data.slice(one.index + one[0].length) : data;
  };
  const at = below(data.length + 1);
  const value = /"[^"\\]*(?:\\.[^"\\]*)*"(?!\s*:)/g;
  return pick<() => SentEvent>([
    () => ({ name, data: data.slice(0, at) + data.slice(at + 1) }),
    () => ({ name, data: data.slice(0, at) }),
    () => ({ name, data: data.slice(0, at) + pick(CHARACTERS) + data.slice(at) }),
    () => ({ name, data: replaceOne(/(?<=[:[,])-?\d+/g, pick(NUMBERS)) }),
    () => ({ name, data: replaceOne(/(?<=[:[,])-?\d+/g, String(below(1e9))) }),
    () => ({ name, data: replaceOne(value, pick(STRINGS)) }),
    () => ({ name, data: replaceOne(value, JSON.stringify(`${random()}`)) }),
    () => ({ name, data: replaceOne(/[{](?=")/g, `{${pick(FIELDS)},`) }),
    () => ({ name, data: replaceOne(/(?<=["\]\dl])[}]/g, `,${pick(FIELDS)}}`) }),
    () => ({ name, data: replaceOne(/ *[}]/g, `${' '.repeat(below(4))}}`) }),
    () => ({ name, data: data.replaceAll('":', '": ') }),
    () => ({ name: pick(['error', 'ping', undefined]), data }),
  ])();
}
