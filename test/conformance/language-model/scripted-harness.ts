import { scriptedModel } from '../../../src/adapters/scripted/scripted-model.ts';
import { LlmConfig } from '../../../src/config/schema/llm-config.ts';
import { type Answer, type Said, STILL_HERE } from './answers.ts';
import type { LanguageModelHarness } from './harness.ts';

const NO_PROVIDER = 'there is no provider behind a script';

/** The model that follows a script. A question tells by its number which answer it is to get. */
export const scriptedHarness: LanguageModelHarness = {
  name: 'the scripted model',
  lacks: {
    reasoning: 'a script has no thoughts',
    refusal: 'a script refuses nothing',
    image: NO_PROVIDER,
    endings: 'a script always comes to its end',
    truncation: NO_PROVIDER,
    'refused requests': NO_PROVIDER,
    'errors before the text': NO_PROVIDER,
    settings: NO_PROVIDER,
    'whole answers': NO_PROVIDER,
    packets: NO_PROVIDER,
    silence: NO_PROVIDER,
    'opaque parts': 'a script wants nothing back',
  },
  async open(answers) {
    const script = answers.map((answer, number) => ({ when: `^#${number}\\b`, ...ruleOf(answer) }));
    const llm = {
      provider: 'scripted',
      model: 'demo',
      script: [...script, { when: '.', reply: STILL_HERE }],
    };
    return {
      model: scriptedModel(LlmConfig.parse(llm)),
      requests: [],
      arrived: () => Promise.resolve(),
      answered: () => Promise.resolve(),
      idle: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  },
  bytesOf: () => new Uint8Array(),
  settingFields: {},
  imagePart: () => ({}),
  returned: '',
};

function ruleOf(answer: Answer): object {
  switch (answer.kind) {
    case 'reply':
      return { reply: textOf(answer.said), toolCalls: callsOf(answer.said) };
    case 'error':
      return { reply: textOf(answer.said), fail: 'the script says so' };
    default:
      throw new Error(`a script has no answer of kind ${answer.kind}`);
  }
}

function textOf(said: readonly Said[]): string {
  return said.map((piece) => (piece.type === 'text' ? piece.text : '')).join('');
}

function callsOf(said: readonly Said[]): object[] {
  return said.flatMap((piece) =>
    piece.type === 'call' ? [{ tool: piece.name, arguments: JSON.parse(piece.arguments) }] : [],
  );
}
