import { realModel } from '../../../src/app/adapters/real-model.ts';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import { type Answer, KEY, reply, STILL_HERE, says } from './answers.ts';
import type { LanguageModelHarness } from './harness.ts';
import type { ProviderFormat } from './provider-format.ts';
import { ProviderServer, type WireAnswer } from './provider-server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** A provider's model in front of a real server that speaks its interface. */
export function providerHarness(
  name: string,
  format: ProviderFormat,
  lacks: LanguageModelHarness['lacks'] = {},
): LanguageModelHarness {
  const { settingFields, imagePart, returned } = format;
  return {
    name,
    lacks,
    settingFields,
    imagePart,
    returned,
    bytesOf: (answer) => Buffer.from(wireAnswer(format, answer).packets.join('')),
    async open(answers, settings = {}) {
      const wire = answers.map((answer) => wireAnswer(format, answer));
      const server = await ProviderServer.listen(wire, wireAnswer(format, reply(...says(STILL_HERE))));
      const llm = { ...format.llm, apiKey: KEY, baseURL: server.baseURL, ...settings };
      return {
        model: realModel(LlmConfig.parse(llm), {}),
        requests: server.requests,
        arrived: (number) => server.arrived(number),
        answered: (number) => server.answered(number),
        idle: () => server.idle(),
        [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      };
    },
  };
}

function wireAnswer(format: ProviderFormat, answer: Answer): WireAnswer {
  switch (answer.kind) {
    case 'reply':
      return wireReply(format, answer);
    case 'truncated':
      return { packets: format.events(answer.said), lastly: answer.by };
    case 'unended': {
      const [ending = ''] = format.end(answer.said, 'stop');
      return { packets: [...format.events(answer.said), ending], lastly: answer.lastly };
    }
    case 'silent':
      return { packets: answer.said.length === 0 ? [] : format.events(answer.said), lastly: 'hang' };
    case 'refused': {
      const { status, body } = format.error(answer.error);
      return { status, headers: { ...JSON_TYPE, ...answer.headers }, packets: [JSON.stringify(body)] };
    }
    case 'error':
      return { packets: [...format.events(answer.said), format.errorEvent(answer.error)] };
    default:
      return answer satisfies never;
  }
}

function wireReply(
  format: ProviderFormat,
  { said, ending = 'stop', as }: Extract<Answer, { kind: 'reply' }>,
): WireAnswer {
  if (as === 'json') return { headers: JSON_TYPE, packets: [JSON.stringify(format.whole(said, ending))] };
  const events = [...format.events(said), ...format.end(said, ending)];
  if (as === undefined) return { packets: events };
  if (as === 'one packet') return { packets: [events.join('')] };
  const bytes = Buffer.from(events.join(''));
  return { packets: [bytes.subarray(0, as.splitAt), bytes.subarray(as.splitAt)] };
}
