import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

export const togetherShapes: ProviderShapes = {
  provider: 'together',
  api: 'chat',
  shapes: [
    {
      name: 'sends each piece twice, as text and in the delta, and ends with finish_reason eos',
      source:
        'https://github.com/lzell/AIProxySwift/blob/main/Tests/AIProxyTests/TogetherAIChatCompletionStreamingChunkTests.swift',
      answer: {
        // The seed is a number that JavaScript cannot hold exactly.
        body: events(
          '{"id":"8b43a5cfadf99e5c-SJC","object":"chat.completion.chunk","created":1723834621,"choices":[{"index":0,"text":"ABC","logprobs":null,"finish_reason":null,"seed":null,"delta":{"token_id":30,"role":"assistant","content":"ABC","tool_calls":null}}],"model":"meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo","usage":null}',
          '{"id":"8b43a5cfadf99e5c-SJC","object":"chat.completion.chunk","created":1723834621,"choices":[{"index":0,"text":"DEF","logprobs":null,"finish_reason":"eos","seed":2039908639335532000,"delta":{"token_id":128009,"role":"assistant","content":"DEF","tool_calls":null}}],"model":"meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo","usage":{"prompt_tokens":12,"completion_tokens":27,"total_tokens":39}}',
          DONE,
        ),
      },
      expected: { text: 'ABCDEF', usage: { inputTokens: 12, outputTokens: 27 } },
      sdk: 'agrees',
    },
  ],
};
