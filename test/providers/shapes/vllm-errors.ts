import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

/** A chunk as vLLM writes it: with logprobs, and without the fields that nobody set. */
function piece(delta: object): object {
  return {
    id: 'chat-2487a8a959e2480081550c5c25694def',
    object: 'chat.completion.chunk',
    created: 1723032007,
    model: 'meta-llama/Meta-Llama-3-8B-Instruct',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
  };
}

export const vllmErrorsShapes: ProviderShapes = {
  provider: 'vllm',
  api: 'chat',
  shapes: [
    {
      name: 'tells an error in the stream with the object of the older versions inside',
      source: 'https://github.com/vllm-project/vllm/blob/v0.5.3/vllm/entrypoints/openai/serving_engine.py',
      answer: {
        body: events(
          {
            error: {
              object: 'error',
              message:
                "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
              type: 'BadRequestError',
              param: null,
              code: 400,
            },
          },
          DONE,
        ),
      },
      expected: { failure: /too long|context/i },
      sdk: 'agrees',
    },
    {
      name: 'tells in the middle of the stream that its engine died',
      source: 'https://github.com/vllm-project/vllm/issues/24495',
      answer: {
        body: events(
          piece({ role: 'assistant', content: '' }),
          piece({ content: 'Once upon' }),
          {
            error: {
              message: 'EngineCore encountered an issue. See stack trace (above) for the root cause.',
              type: 'Internal Server Error',
              param: null,
              code: 500,
            },
          },
          DONE,
        ),
      },
      expected: { failure: /trouble|later|overloaded|EngineCore/i, text: 'Once upon' },
      sdk: 'agrees',
    },
    {
      name: 'refuses a conversation that is too long, with a body that is the error itself',
      source: 'https://github.com/meta-llama/llama-verifications/issues/58',
      answer: {
        status: 400,
        body: JSON.stringify({
          object: 'error',
          message:
            "This model's maximum context length is 131072 tokens. However, you requested 156632 tokens (152536 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.",
          type: 'BadRequestError',
          param: null,
          code: 400,
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'refuses a conversation that is too long, in the words of the newer versions',
      source: 'https://github.com/AIDotNet/OpenCowork/issues/82',
      answer: {
        status: 400,
        body: JSON.stringify({
          error: {
            message:
              "This model's maximum context length is 262144 tokens. However, you requested 128000 output tokens and your prompt contains at least 134145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=134145)",
            type: 'BadRequestError',
            param: 'input_tokens',
            code: 400,
          },
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'refuses a prompt that is too long to fit into the model',
      source: 'https://github.com/vllm-project/vllm/issues/12165',
      answer: {
        status: 400,
        body: JSON.stringify({
          object: 'error',
          message:
            'The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.',
          type: 'BadRequestError',
          param: null,
          code: 400,
        }),
      },
      expected: { failure: /too long|context/i },
    },
    {
      name: 'refuses a conversation that leaves no token for the reply',
      source: 'https://github.com/vllm-project/vllm/issues/4667',
      answer: {
        status: 400,
        body: JSON.stringify({
          object: 'error',
          message: 'max_tokens must be at least 1, got -186.',
          type: 'BadRequestError',
          param: null,
          code: 400,
        }),
      },
      expected: { failure: /too long|context|max_tokens/i },
    },
    {
      name: 'was started without the flags that tools need',
      source: 'https://github.com/langchain4j/langchain4j/issues/3475',
      answer: {
        status: 400,
        body: '{"object":"error","message":"\\"auto\\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}',
      },
      expected: { failure: /--enable-auto-tool-choice/i },
    },
    {
      name: 'serves its model under another name',
      source: 'https://github.com/vllm-project/vllm/issues/3485',
      answer: {
        status: 404,
        body: '{"object":"error","message":"The model `Qwen1.5-14B-Chat-GPTQ-Int8` does not exist.","type":"NotFoundError","param":null,"code":404}',
      },
      expected: { failure: /model/i },
    },
  ],
};
