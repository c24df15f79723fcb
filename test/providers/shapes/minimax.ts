import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

const flags = { input_sensitive: false, output_sensitive: false };

function miniMaxChunk(choice: object, more: object = {}) {
  return {
    choices: [{ index: 0, ...choice }],
    created: 1_771_279_826,
    object: 'chat.completion.chunk',
    usage: { total_tokens: 0, total_characters: 0 },
    ...flags,
    ...more,
  };
}

/** MiniMax, as an OpenAI-compatible server. */
export const miniMaxShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'sends an empty role, and a usage that counts no input',
      source: 'https://github.com/MiniMax-AI/MiniMax-M2.5/issues/2',
      answer: {
        body: events(
          miniMaxChunk({ delta: { role: '', reasoning_content: '' } }),
          miniMaxChunk({ delta: { role: '', content: 'Hello!' } }),
          miniMaxChunk({ finish_reason: 'stop', delta: { role: '', content: '' } }),
          DONE,
        ),
      },
      expected: { text: 'Hello!' },
      sdk: 'agrees',
    },
    {
      name: 'repeats the whole reply in a last event, which holds a message in place of a delta',
      source: 'https://github.com/lobehub/lobehub/issues/4054',
      answer: {
        body: events(
          {
            choices: [{ index: 0, delta: { content: 'If you need', role: 'assistant' } }],
            created: 1_726_905_773,
            model: 'abab6.5s-chat',
            object: 'chat.completion.chunk',
          },
          {
            choices: [
              {
                finish_reason: 'stop',
                index: 0,
                delta: { content: ' more help, ask me.', role: 'assistant' },
              },
            ],
            created: 1_726_905_773,
            model: 'abab6.5s-chat',
            object: 'chat.completion.chunk',
          },
          {
            choices: [
              {
                finish_reason: 'stop',
                index: 0,
                message: {
                  content: 'If you need more help, ask me.',
                  role: 'assistant',
                  name: 'MM智能助理',
                  audio_content: '',
                },
              },
            ],
            created: 1_726_905_773,
            model: 'abab6.5s-chat',
            object: 'chat.completion',
            usage: { total_tokens: 1268, total_characters: 0 },
            ...flags,
            input_sensitive_type: 0,
            output_sensitive_type: 0,
            output_sensitive_int: 0,
            base_resp: {
              status_code: 0,
              status_msg: 'Invalid parameters detected, json: unknown field "frequency_penalty"',
            },
          },
        ),
      },
      expected: { text: 'If you need more help, ask me.' },
      sdk: { differs: 'It throws on the last event, which has a message in place of a delta.' },
    },
    {
      name: 'sends its thoughts piece by piece in reasoning_details',
      source: 'https://github.com/MiniMax-AI/MiniMax-M2/issues/95',
      answer: {
        body: events(
          miniMaxChunk({
            delta: {
              role: 'assistant',
              content: '',
              reasoning_details: [{ type: 'reasoning.text', text: 'The user' }],
            },
          }),
          miniMaxChunk({
            delta: {
              role: 'assistant',
              content: '',
              reasoning_details: [
                { type: 'reasoning.text', text: ' is asking how I am, which is a simple greeting.' },
              ],
            },
          }),
          miniMaxChunk({ delta: { role: 'assistant', content: 'I am fine.' } }),
          miniMaxChunk({ finish_reason: 'stop', delta: { role: 'assistant', content: '' } }),
          DONE,
        ),
      },
      expected: {
        text: 'I am fine.',
        reasoning: 'The user is asking how I am, which is a simple greeting.',
      },
      sdk: 'agrees',
    },
    {
      name: 'writes its thoughts into the content between think tags',
      source: 'https://platform.minimax.io/docs/api-reference/text-openai-api',
      answer: {
        body: events(
          miniMaxChunk({ delta: { role: 'assistant', content: '<think>\nThe user' } }),
          miniMaxChunk({ delta: { role: 'assistant', content: ' greets me.\n</think>\n\nHel' } }),
          miniMaxChunk({ delta: { role: 'assistant', content: 'lo!' } }),
          miniMaxChunk({ finish_reason: 'stop', delta: { role: 'assistant', content: '' } }),
          DONE,
        ),
      },
      expected: { text: 'Hello!', reasoning: 'The user greets me.' },
      sdk: { differs: 'It takes the thoughts for text.' },
    },
    {
      name: 'answers 429 with insufficient_balance_error where the balance is used up',
      source: 'https://github.com/modelscope/modelscope/issues/1691',
      answer: {
        status: 429,
        body: JSON.stringify({
          error: {
            http_code: '429',
            message: 'insufficient balance (1008)',
            type: 'insufficient_balance_error',
          },
          request_id: 'xxxx',
        }),
      },
      expected: { failure: /quota|credit|billing|balance/i },
    },
    {
      name: 'wraps an error as Anthropic does, with the status as text inside',
      source: 'https://github.com/zhayujie/CowAgent/issues/2690',
      answer: {
        status: 400,
        body: JSON.stringify({
          type: 'error',
          error: {
            type: 'bad_request_error',
            message: "invalid params, tool result's tool id(call_function_yt8ros4e04r8_1) not found (2013)",
            http_code: '400',
          },
          request_id: '05feb714f6f25f0718e241240188e865',
        }),
      },
      expected: { failure: /refused|bad_request/i },
    },
  ],
};
