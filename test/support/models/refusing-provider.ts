import type { Image } from '../../../src/core/conversation/image.ts';
import type { AssistantPart, ModelMessage } from '../../../src/core/conversation/model-message.ts';
import type { Refused } from '../../../src/core/conversation/refused.ts';
import { pairingFaults } from '../log/paired-history.ts';

/** What this provider takes from nobody. */
export const POISON = {
  word: 'arsenic',
  image: { base64: 'bad1', mimeType: 'image/png' } satisfies Image,
  tool: 'hemlock',
  result: 'cyanide',
  opaque: { signature: 'expired' },
} as const;

export type Poison = keyof typeof POISON | 'length';

/** How a provider calls each of them. */
const named: Readonly<Record<Poison, Refused>> = {
  word: 'content',
  image: 'image',
  tool: 'request',
  result: 'request',
  opaque: 'request',
  length: 'context',
};

/** Refuses a request that holds poison, again and again, and throws on one that no provider would understand. */
export class RefusingProvider {
  readonly source = { api: 'refusing', provider: 'refusing', model: 'of-the-test' };
  readonly #maxCharacters: number;

  constructor(maxCharacters = Number.POSITIVE_INFINITY) {
    this.#maxCharacters = maxCharacters;
  }

  /** Null when the request is accepted. */
  poisonIn(messages: readonly ModelMessage[]): Poison | null {
    const faults = faultsOf(messages);
    if (faults.length > 0) throw new Error(`${faults.join('; ')} in ${JSON.stringify(messages, null, 2)}`);
    const found = messages.map(poisonOf).find((poison) => poison !== null);
    if (found) return found;
    return JSON.stringify(messages).length > this.#maxCharacters ? 'length' : null;
  }

  refusalOf(poison: Poison): Refused {
    return named[poison];
  }
}

function poisonOf(message: ModelMessage): Poison | null {
  switch (message.role) {
    case 'user':
      if (message.images?.some(({ base64 }) => base64 === POISON.image.base64)) return 'image';
      return message.text.includes(POISON.word) ? 'word' : null;
    case 'assistant':
      return message.parts.map(poisonOfPart).find((poison) => poison !== null) ?? null;
    case 'tool':
      return message.text.includes(POISON.result) ? 'result' : null;
    default:
      return message satisfies never;
  }
}

function poisonOfPart(part: AssistantPart): Poison | null {
  if (part.type === 'toolCall' && part.name === POISON.tool) return 'tool';
  return part.type === 'opaque' && part.data.signature === POISON.opaque.signature ? 'opaque' : null;
}

/** What the strictest of providers would say against the form of a request. */
function faultsOf(messages: readonly ModelMessage[]): string[] {
  const roles = messages.map(({ role }) => role);
  return [
    ...(roles[0] === 'user' ? [] : ['it does not begin with the user']),
    ...(roles.at(-1) === 'assistant' ? ['it ends with the model'] : []),
    ...roles.flatMap((role, index) => faultBetween(roles[index - 1], role)),
    ...pairingFaults(messages),
    ...messages.flatMap(faultsIn),
  ];
}

function faultBetween(before: string | undefined, role: string): string[] {
  if (role !== 'tool' && role === before) return [`two messages of the ${role}`];
  return before === 'tool' && role === 'user' ? ['the user speaks right behind a result'] : [];
}

function faultsIn(message: ModelMessage): string[] {
  if (message.leftOut) return ['something that was left out'];
  if (message.role !== 'assistant') {
    const isEmpty = message.text === '' && !('images' in message);
    return isEmpty ? ['an empty message'] : [];
  }
  const { parts, source, cut } = message;
  return [
    ...(parts.some(({ type }) => type === 'text' || type === 'toolCall') ? [] : ['an empty reply']),
    ...(parts.some(({ type }) => type === 'reasoning') ? ['reasoning'] : []),
    ...(parts.some(({ type }) => type === 'opaque') && !source ? ['opaque data of nobody'] : []),
    ...(cut ? ['a cut without its note'] : []),
  ];
}
