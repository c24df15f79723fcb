import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const THOUGHTS =
  'https://github.com/coder/coder/blob/51a678d34ee7c2c599e19afbc63dc911ac9fe8e6/coderd/x/googleopenai/thoughts_test.go';
const THOUGHT = { google: { thought: true } };

/** A chunk of Gemini, with its fields in Gemini's order. */
function gemini(choice: object, usage?: object): object {
  return {
    choices: [{ ...choice, index: 0 }],
    created: 1_764_000_000,
    id: 'kXwkabHzLsKvqtsPm9eR6QU',
    model: 'gemini-3-flash-preview',
    object: 'chat.completion.chunk',
    ...(usage === undefined ? {} : { usage }),
  };
}

function counted(completion: number, prompt: number, total: number): object {
  return { completion_tokens: completion, prompt_tokens: prompt, total_tokens: total };
}

function said(content: string | null, more: object = {}): object {
  return { delta: { content, ...more, role: 'assistant' } };
}

/** A delta that ends the reply. */
function last(finishReason: string, delta: object): object {
  return { delta: { ...delta, role: 'assistant' }, finish_reason: finishReason };
}

/** How Gemini streams text, thoughts and usage over OpenAI's chat completions. */
export const googleChatShapes: ProviderShapes = {
  provider: 'google',
  api: 'chat',
  shapes: [
    {
      name: 'sends usage in every chunk and counts on',
      source: 'https://github.com/ogx-ai/ogx/issues/5122',
      answer: {
        body: events(
          gemini(said('Good'), counted(1, 8, 9)),
          gemini(said(' morning'), counted(2, 8, 10)),
          gemini(last('stop', { content: '!' }), counted(3, 8, 11)),
          DONE,
        ),
      },
      expected: { text: 'Good morning!', usage: { inputTokens: 8, outputTokens: 3 } },
      sdk: 'agrees',
    },
    {
      name: 'counts its thoughts in the total only',
      source: THOUGHTS,
      answer: {
        body: events(
          gemini(said('It is 42.'), counted(0, 16, 618)),
          gemini(last('stop', { content: null }), counted(9, 16, 627)),
          DONE,
        ),
      },
      expected: { text: 'It is 42.', usage: { inputTokens: 16, outputTokens: 611 } },
      sdk: 'agrees',
    },
    {
      name: 'marks its thoughts and closes them in the first delta of the answer',
      source: THOUGHTS,
      answer: {
        body: events(
          gemini(said('<thought>Seven times six.', { extra_content: THOUGHT })),
          gemini(said(' That is 42.', { extra_content: THOUGHT })),
          gemini(said('</thought>It is', { extra_content: null })),
          gemini(said(' 42.')),
          gemini(last('stop', { content: null })),
          DONE,
        ),
      },
      expected: { text: 'It is 42.', reasoning: 'Seven times six. That is 42.' },
      sdk: { differs: 'The SDK counts the thoughts and their marks as text.' },
    },
    {
      name: 'signs its thoughts in a last chunk without content',
      source: THOUGHTS,
      answer: {
        body: events(
          gemini(said('It is 42.')),
          gemini(
            last('stop', {
              content: null,
              extra_content: { google: { thought_signature: 'EjQKMgG+Pvb7nXq2' } },
            }),
          ),
          DONE,
        ),
      },
      expected: { text: 'It is 42.' },
      sdk: 'agrees',
    },
    {
      name: 'calls a tool without closing its thoughts',
      source: THOUGHTS,
      answer: {
        body: events(
          gemini(said('<thought>I need the weather.', { extra_content: THOUGHT })),
          gemini(
            last('tool_calls', {
              tool_calls: [
                {
                  extra_content: { google: { thought_signature: 'EkQKQgG+Pvb5kTs8' } },
                  function: { arguments: '{"city":"Oslo"}', name: 'weather' },
                  id: 'call_weather_1',
                  type: 'function',
                },
              ],
            }),
          ),
          DONE,
        ),
      },
      expected: {
        text: '',
        reasoning: 'I need the weather.',
        toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }],
      },
      sdk: { differs: 'The SDK throws on a tool call without an index.' },
    },
    {
      name: 'writes thoughts and answer into one content of a whole message',
      source: THOUGHTS,
      answer: {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          choices: [
            {
              finish_reason: 'stop',
              index: 0,
              message: {
                content: '<thought>Seven times six.</thought>It is 42.',
                extra_content: { google: { thought: true, thought_signature: 'EjQKMgG+Pvb9wLz4' } },
                role: 'assistant',
              },
            },
          ],
          created: 1_764_000_000,
          id: 'm3wkaZ6eNqWvkdUPs8KcuAE',
          model: 'gemini-3-flash-preview',
          object: 'chat.completion',
          usage: counted(5, 12, 40),
        }),
      },
      expected: {
        text: 'It is 42.',
        reasoning: 'Seven times six.',
        usage: { inputTokens: 12, outputTokens: 28 },
      },
      sdk: { differs: 'The SDK finds no event in the body.' },
    },
    {
      name: 'writes about the mark of a thought without thinking',
      source: THOUGHTS,
      answer: {
        body: events(
          gemini(said('<thought> is how a thought begins, ')),
          gemini(last('stop', { content: 'and </thought> is how it ends.' })),
          DONE,
        ),
      },
      expected: { text: '<thought> is how a thought begins, and </thought> is how it ends.' },
      sdk: 'agrees',
    },
    {
      name: 'thinks and then says nothing',
      source: THOUGHTS,
      answer: {
        body: events(
          gemini(said('<thought>Nothing to say.', { extra_content: THOUGHT })),
          gemini(last('stop', { content: null })),
          DONE,
        ),
      },
      expected: { failure: /empty|nothing/i, text: '' },
      sdk: { differs: 'The SDK counts the thoughts as text.' },
    },
    {
      name: 'fails to write a tool call and says so in its finish reason',
      source: 'https://github.com/coder/coder/pull/28470',
      answer: {
        body: events(
          gemini(said('<thought>I need the weather.', { extra_content: THOUGHT })),
          gemini(said('</thought>', { extra_content: null })),
          gemini(last('function_call_filter: MALFORMED_FUNCTION_CALL', { content: null })),
          DONE,
        ),
      },
      expected: { failure: /MALFORMED_FUNCTION_CALL/i, text: '' },
      sdk: { differs: 'The SDK leaves the finish reason to its caller.' },
    },
    {
      name: 'finishes with the word SAFETY of its own interface',
      source: 'https://github.com/HKUDS/Vibe-Trading/pull/308',
      answer: { body: events(gemini(said('It begins')), gemini(last('SAFETY', { content: null })), DONE) },
      expected: { failure: /filter|safety|refus/i, text: 'It begins' },
      sdk: { differs: 'The SDK leaves the finish reason to its caller.' },
    },
    {
      name: 'answers with a choice that has no message',
      source: 'https://github.com/evalstate/fast-agent/issues/184',
      answer: {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          choices: [{ finish_reason: 'stop', index: 0 }],
          created: 1_764_000_000,
          id: 'n4wkaP2hQoXwleVQt9LdvBF',
          model: 'gemini-2.5-pro',
          object: 'chat.completion',
          usage: { prompt_tokens: 8, total_tokens: 8 },
        }),
      },
      expected: { failure: /empty|nothing/i, text: '' },
      sdk: 'agrees',
    },
  ],
};
