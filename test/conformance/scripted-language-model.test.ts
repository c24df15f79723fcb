import { scriptedModel } from '../../src/adapters/scripted/scripted-model.ts';
import { LlmConfig } from '../../src/contract/agent-config.ts';
import { languageModelSuite, scenarios } from './language-model.ts';

languageModelSuite('the scripted model', async () => ({
  model: scriptedModel(
    LlmConfig.parse({
      provider: 'scripted',
      model: 'demo',
      script: [
        { when: '^say', reply: scenarios.say.text },
        { when: '^call', reply: scenarios.call.text, toolCalls: toolCallsOf(scenarios.call) },
        { when: '^quiet', toolCalls: toolCallsOf(scenarios.quiet) },
        { when: '^fail', reply: scenarios.fail.text, fail: 'the script says so' },
        { when: '^slow', reply: `${scenarios.slow.text} and never more`, delayMs: 1 },
      ],
    }),
  ),
  secrets: [],
  idle: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
}));

function toolCallsOf({ toolCalls }: { toolCalls: readonly { name: string; arguments: object }[] }): object[] {
  return toolCalls.map((call) => ({ tool: call.name, arguments: call.arguments }));
}
