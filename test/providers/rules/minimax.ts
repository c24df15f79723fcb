import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { isJsonText, objectIn, objectsIn, textIn } from './body-fields.ts';

/** MiniMax, as an OpenAI-compatible server. */
export const miniMaxRules: ProviderRules = {
  provider: 'openai-compatible',
  api: 'chat',
  rules: [
    {
      name: 'every tool result belongs to a tool call before it',
      source: 'https://github.com/zhayujie/CowAgent/issues/2690',
      refusal(body) {
        const called = new Set<string>();
        for (const message of objectsIn(body, 'messages')) {
          for (const call of objectsIn(message, 'tool_calls')) called.add(textIn(call, 'id'));
          const answered = textIn(message, 'tool_call_id');
          if (textIn(message, 'role') === 'tool' && !called.has(answered)) {
            return refusedBecause(`tool result's tool id(${answered}) not found`);
          }
        }
        return undefined;
      },
    },
    {
      name: 'the arguments of every tool call are JSON',
      source: 'https://github.com/NousResearch/hermes-agent/issues/12167',
      refusal(body) {
        const broken = objectsIn(body, 'messages')
          .flatMap((message) => objectsIn(message, 'tool_calls'))
          .find((call) => !isJsonText(textIn(objectIn(call, 'function'), 'arguments')));
        return broken === undefined
          ? undefined
          : refusedBecause(`invalid function arguments json string, tool_call_id: ${textIn(broken, 'id')}`);
      },
    },
    {
      // The report quotes these words and the number, not the whole body.
      name: 'every tool has parameters',
      source: 'https://github.com/QwenLM/qwen-code/issues/11905',
      refusal(body) {
        const hasBare = objectsIn(body, 'tools').some(
          (tool) => objectIn(tool, 'function').parameters === undefined,
        );
        return hasBare ? refusedBecause('function parameters is empty') : undefined;
      },
    },
  ],
};

function refusedBecause(problem: string): Refusal {
  return {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'bad_request_error', message: `invalid params, ${problem} (2013)`, http_code: '400' },
      request_id: '05feb714f6f25f0718e241240188e865',
    },
  };
}
