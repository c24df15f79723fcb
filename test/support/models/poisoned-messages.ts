import type { PlannedStep, PlannedTurn } from '../sessions/refused-session.ts';
import { POISON, type Poison } from './refusing-provider.ts';

export type Random = () => number;

/** A turn, and the poison that it brings, if any. */
export interface Message {
  readonly plan: PlannedTurn;
  readonly poison: Poison | null;
}

const below = (random: Random, limit: number): number => Math.floor(random() * limit);
export const pick = <T>(random: Random, values: readonly [T, ...T[]]): T =>
  values[below(random, values.length)] ?? values[0];

const look = (result = 'seen'): PlannedStep => ({ calls: [{ name: 'look', result }] });
const DONE: PlannedStep = { calls: [] };

export function harmless(random: Random, name: string): PlannedTurn {
  const steps = Array.from(
    { length: below(random, 3) },
    (): PlannedStep => ({
      ...look(`seen ${'x'.repeat(below(random, 80))}`),
      ...(random() < 0.3 && { opaque: { signature: 'good' } }),
    }),
  );
  return {
    text: `${name} ${'x'.repeat(below(random, 120))}`,
    ...(random() < 0.2 && { image: { base64: 'good', mimeType: 'image/png' } as const }),
    steps: [...steps, { ...DONE, ...(random() < 0.3 && { opaque: { signature: 'good' } }) }],
  };
}

/** Each kind of poison, where such a turn has it. */
export const poisoned: Readonly<Record<Poison, (plan: PlannedTurn, random: Random) => PlannedTurn>> = {
  word: (plan) => ({ ...plan, text: `${plan.text} ${POISON.word}` }),
  image: (plan) => ({ ...plan, image: POISON.image }),
  tool: ({ steps, ...plan }) => ({
    ...plan,
    steps: [{ calls: [{ name: POISON.tool, result: 'drunk' }] }, ...steps],
  }),
  result: ({ steps, ...plan }) => ({ ...plan, steps: [look(POISON.result), ...steps] }),
  opaque: ({ steps, ...plan }, random) => {
    const at = below(random, steps.length);
    return {
      ...plan,
      steps: steps.map((step, index) => (index === at ? { ...step, opaque: POISON.opaque } : step)),
    };
  },
  length: ({ steps, ...plan }, random) => {
    const long = 'x'.repeat(3_000 * (1 + below(random, 5)));
    return random() < 0.5 ? { ...plan, text: long, steps } : { ...plan, steps: [look(long), ...steps] };
  },
};

/** A conversation in which about half of the turns bring poison. */
export function messages(
  random: Random,
  kinds: readonly [Poison, ...Poison[]],
  { mayGetLost = false } = {},
): Message[] {
  return Array.from({ length: 40 }, (_, index) => {
    const plain = harmless(random, `m${index}`);
    const poison = random() < 0.4 ? pick(random, kinds) : null;
    const plan = poison === null ? plain : poisoned[poison](plain, random);
    if (!mayGetLost || random() > 0.15) return { plan, poison };
    return { plan: { ...plan, lost: pick(random, ['failed', 'cancelled'] as const) }, poison };
  });
}
