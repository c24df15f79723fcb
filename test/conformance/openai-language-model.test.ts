import { openAiModel } from '../../src/adapters/openai/open-ai-model.ts';
import { LlmConfig } from '../../src/contract/agent-config.ts';
import {
  OpenAiUpstream,
  textReply,
  toolCallReply,
  type UpstreamReply,
  type UpstreamRequest,
} from '../support/openai-upstream.ts';
import { languageModelSuite, scenarios } from './language-model.ts';

const KEY = 'sk-conformance-51d2';

languageModelSuite('the OpenAI model', async () => {
  const upstream = await OpenAiUpstream.listen();
  upstream.otherwise = answer;
  const model = openAiModel(
    LlmConfig.parse({ provider: 'openai', model: 'gpt-test', apiKey: KEY, baseURL: upstream.baseURL }),
    { env: {} },
  );
  return {
    model,
    secrets: [KEY],
    idle: () => upstream.idle(),
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
});

function answer(request: UpstreamRequest): UpstreamReply {
  const message = JSON.stringify(request.body.messages.findLast(({ role }) => role === 'user')?.content);
  const scenario = Object.keys(scenarios).find((name) => message.includes(`"${name}`));
  switch (scenario) {
    case 'say':
      return textReply(...scenarios.say.text.split(/(?<= )/));
    case 'call':
      return toolCallReply(callsOf(scenarios.call), { text: scenarios.call.text });
    case 'quiet':
      return toolCallReply(callsOf(scenarios.quiet));
    case 'fail':
      // The worst of providers: its error quotes both the key and the prompt.
      return {
        stream: [
          { text: scenarios.fail.text },
          {
            error: { message: `${request.headers.authorization} sent ${message}`, code: message, type: KEY },
          },
        ],
      };
    case 'slow':
      return { stream: [{ text: scenarios.slow.text }, { hang: true }] };
    default:
      throw new Error(`no scenario for ${message}`);
  }
}

function callsOf({ toolCalls }: { toolCalls: readonly { name: string; arguments: object }[] }) {
  return toolCalls.map((call, index) => ({ ...call, id: `call_abc${index}` }));
}
