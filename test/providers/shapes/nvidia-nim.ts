import { DONE, events, type ProviderShapes } from '../wire-shape.ts';

/** NVIDIA NIM at integrate.api.nvidia.com, as an OpenAI-compatible server. */
export const nvidiaNimShapes: ProviderShapes = {
  provider: 'openai-compatible',
  api: 'chat',
  shapes: [
    {
      name: 'ends with a tool call that has neither id nor name',
      source: 'https://github.com/anomalyco/opencode/issues/25970',
      answer: {
        body: events(
          {
            choices: [
              {
                index: 0,
                finish_reason: 'tool_calls',
                delta: { tool_calls: [{ function: { arguments: '{}' } }] },
              },
            ],
          },
          DONE,
        ),
      },
      expected: { failure: /name|tool/i },
      sdk: { differs: 'It ends normally, with a tool call that has no name.' },
    },
    {
      name: 'answers 200 without a choice where max_tokens is missing',
      source: 'https://github.com/NousResearch/hermes-agent/pull/54885',
      answer: {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ object: 'chat.completion', model: 'minimaxai/minimax-m3', choices: [] }),
      },
      expected: { failure: /empty|nothing/i },
      sdk: 'agrees',
    },
    {
      name: 'describes an unknown model as a function not found, with the status at the top',
      source: 'https://github.com/Alishahryar1/free-claude-code/issues/1021',
      answer: {
        status: 404,
        body: JSON.stringify({
          status: 404,
          title: 'Not Found',
          detail:
            "Function '23d4f03a-b8a6-4adb-a183-7daa083a09cc': Not found for account 'Qawmu2vUw3rdcREnubcAVqe1c55nUTb1hCogKQx4BCA'",
        }),
      },
      expected: { failure: /model/i },
    },
    {
      name: 'describes a wrong key with 403 and a detail',
      source: 'https://github.com/dmMaze/BallonsTranslator/issues/1233',
      answer: {
        status: 403,
        body: JSON.stringify({ status: 403, title: 'Forbidden', detail: 'Authorization failed' }),
      },
      expected: { failure: /key/i },
    },
  ],
};
