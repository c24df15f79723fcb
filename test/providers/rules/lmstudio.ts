import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { isDevstral, takesTurnsBesideTools } from './chat-templates.ts';
import { grammarRule } from './tool-grammar.ts';

export const lmstudioRules: ProviderRules = {
  provider: 'lmstudio',
  api: 'chat',
  rules: [
    {
      name: 'the choice of tools is a word, not the name of one',
      source: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670',
      refusal(body) {
        return typeof body.tool_choice === 'object' && body.tool_choice !== null
          ? refusedBecause(
              "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
            )
          : undefined;
      },
    },
    grammarRule(refusedBecause),
    {
      name: 'user and assistant take turns for Devstral, beside calls and results',
      source: 'https://github.com/mcowger/generic-copilot/pull/43',
      refusal(body) {
        return isDevstral(body) && !takesTurnsBesideTools(body)
          ? refusedBecause(
              'Error rendering prompt with jinja template: "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.".',
            )
          : undefined;
      },
    },
  ],
};

function refusedBecause(error: string): Refusal {
  return { status: 400, body: { error } };
}
