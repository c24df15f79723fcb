import { describe, expect, it } from 'vitest';
import { type Refused, refusedThings } from '../../../src/core/conversation/refused.ts';
import { tokenSums } from '../../../src/core/conversation/token-sums.ts';
import {
  harmless,
  type Message,
  messages,
  pick,
  poisoned,
  type Random,
} from '../../support/models/poisoned-messages.ts';
import { POISON, type Poison, RefusingProvider } from '../../support/models/refusing-provider.ts';
import { textOf } from '../../support/models/steps.ts';
import { seededRandom } from '../../support/project/seeded-random.ts';
import { type PlannedTurn, RefusedSession, type TurnEnd } from '../../support/sessions/refused-session.ts';

const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);
/** Characters that the provider takes in one request. The session's own window is wider. */
const LIMIT = 3_000;
const HISTORY_TOKENS = 20_000;

const everyKind = ['word', 'image', 'tool', 'result', 'opaque', 'length'] as const;
/** Those that are refused with the turn that brings them, and are gone with it. */
const ownKinds = ['word', 'image', 'tool', 'result'] as const;

interface Told {
  readonly message: Message;
  readonly end: TurnEnd;
}

function tell(session: RefusedSession, all: readonly Message[]): Told[] {
  return all.map((message) => ({ message, end: session.turn(message.plan) }));
}

/** Most harmless messages that were refused in a row, with nothing between them. */
function mostRefusedInARow(told: readonly Told[]): number {
  let [most, inARow] = [0, 0];
  for (const { message, end } of told) {
    inARow = end.type === 'refused' && message.poison === null ? inARow + 1 : 0;
    most = Math.max(most, inARow);
  }
  return most;
}

function refusedFor(told: readonly Told[]): (Poison | null)[] {
  return told.flatMap(({ end }) => (end.type === 'refused' ? [end.poison] : []));
}

describe('a session whose provider refuses what it is sent', () => {
  it('loses the messages that bring what is refused, and no other', () => {
    const all = new Set<Poison | null>();
    for (const seed of SEEDS) {
      const session = new RefusedSession(new RefusingProvider());
      const told = tell(session, messages(seededRandom(seed), ownKinds));
      const wrong = told.filter(({ message: { poison }, end }) => {
        if (end.type === 'refused') return end.poison !== poison;
        // After two refusals in a row an image is not sent at all.
        return poison !== null && poison !== 'image';
      });
      expect({ seed, wrong }).toEqual({ seed, wrong: [] });
      for (const poison of refusedFor(told)) all.add(poison);
    }
    expect(all).toEqual(new Set(ownKinds));
  });

  it('goes on showing all that was answered, where one such message comes at a time', () => {
    for (const seed of SEEDS) {
      const random = seededRandom(seed);
      const session = new RefusedSession(new RefusingProvider());
      const plain = Array.from({ length: 20 }, (_, index) => harmless(random, `m${index}.`));
      const ends = plain.flatMap((plan) => [
        session.turn(poisoned[pick(random, ownKinds)](plan, random)).type,
        session.turn(plan).type,
      ]);
      expect(ends).toEqual(plain.flatMap(() => ['refused', 'answered']));
      const shown = session.shown.map(textOf).join('\n');
      expect(plain.filter(({ text }) => !shown.includes(text))).toEqual([]);
      expect(shown).not.toMatch(new RegExp(`${POISON.word}|${POISON.result}`));
    }
  });

  it.each<[string, (random: Random, poison: Poison) => Refused]>([
    ['says what it refuses', (_, poison) => new RefusingProvider().refusalOf(poison)],
    ['does not say what it refuses', () => 'request'],
    ['takes everything for an image', () => 'image'],
    ['takes everything for too long', () => 'context'],
    ['calls it anything', (random) => pick(random, refusedThings)],
  ])('is refused three harmless messages in a row at most, where the provider %s', (_, naming) => {
    const all = new Set<Poison | null>();
    for (const seed of SEEDS) {
      const random = seededRandom(seed);
      const session = new RefusedSession(new RefusingProvider(LIMIT), {
        historyTokens: HISTORY_TOKENS,
        naming: (poison) => naming(random, poison),
      });
      const told = tell(session, messages(random, everyKind, { mayGetLost: true }));
      expect({ seed, most: mostRefusedInARow(told) }).toEqual({
        seed,
        most: expect.toSatisfy((most) => most <= 3),
      });
      for (const poison of refusedFor(told)) all.add(poison);
    }
    expect(all).toEqual(new Set(everyKind));
  });

  it('is not refused again for what an answered turn went without', () => {
    for (const seed of SEEDS) {
      const random = seededRandom(seed);
      // Not `context`: that makes the window smaller, and what is seldom shown is seldom refused.
      const naming = () => pick(random, ['image', 'content', 'request'] as const);
      const session = new RefusedSession(new RefusingProvider(), { naming });
      const told = tell(session, messages(random, [...ownKinds, 'opaque']));
      const again = told.filter(({ message, end }, index) => {
        const before = told[index - 1];
        // A reply may end with opaque data that are refused from then on.
        const wasAnswered = before?.end.type === 'answered' && before.message.poison !== 'opaque';
        return wasAnswered && message.poison === null && end.type !== 'answered';
      });
      expect({ seed, again }).toEqual({ seed, again: [] });
    }
  });
});

describe('the size of a conversation', () => {
  it('is what its messages add up to, whatever was left out of it or reset meanwhile', () => {
    for (const seed of SEEDS.slice(0, 2)) {
      const random = seededRandom(seed);
      const session = new RefusedSession(new RefusingProvider(LIMIT), { historyTokens: HISTORY_TOKENS });
      const check = (): void => {
        const { transcript } = session.log.state;
        expect(tokenSums(transcript)).toEqual(tokenSums([...transcript]));
      };
      const told = Array.from({ length: 20 }, () => messages(random, everyKind, { mayGetLost: true })).flat();
      let most = 0;
      for (const [index, { plan }] of told.entries()) {
        session.turn(plan);
        check();
        most = Math.max(most, session.log.state.transcript.length);
        if (index !== Math.floor(told.length / 2)) continue;
        session.log.tell({ type: 'session.reset', partial: '' });
        check();
      }
      // Sums of fewer messages are not remembered.
      expect(most).toBeGreaterThan(300);
    }
  });
});

describe('one message that brings what is refused', () => {
  const said = (text: string, more: Partial<PlannedTurn> = {}): PlannedTurn => ({
    text,
    steps: [{ calls: [] }],
    ...more,
  });
  const calls = (name: string, result: string): PlannedTurn =>
    said('go', { steps: [{ calls: [{ name, result }] }, { calls: [] }] });
  const long = 'x'.repeat(10 * LIMIT);
  const signed = { calls: [{ name: 'look', result: 'seen' }], opaque: POISON.opaque };

  it.each<[string, PlannedTurn, TurnEnd['type'], number]>([
    ['a word', said(POISON.word), 'refused', 0],
    ['an image', said('look', { image: POISON.image }), 'refused', 0],
    ['an image and a word', said(POISON.word, { image: POISON.image }), 'refused', 1],
    ['a tool that the model made up', calls(POISON.tool, 'no such tool'), 'refused', 0],
    ['what a tool says', calls('look', POISON.result), 'refused', 0],
    ['a text that is too long', said(long), 'refused', 0],
    ['a result that is too long', calls('look', long), 'refused', 0],
    ['a word that got lost on its way', said(POISON.word, { lost: 'failed' }), 'lost', 1],
    ['a word that was cancelled', said(POISON.word, { lost: 'cancelled' }), 'lost', 1],
    ['opaque data within the turn', said('go', { steps: [signed, { calls: [] }] }), 'refused', 0],
    [
      'opaque data of its last reply',
      said('go', { steps: [{ calls: [], opaque: POISON.opaque }] }),
      'answered',
      2,
    ],
  ])('with %s costs so many of those behind it', (_, poison, end, cost) => {
    const session = new RefusedSession(new RefusingProvider(LIMIT));
    for (const text of ['a', 'b', 'c']) expect(session.turn(said(text))).toEqual({ type: 'answered' });
    expect(session.turn(poison).type).toBe(end);
    const behind = ['d', 'e', 'f', 'g'].map((text) => session.turn(said(text)).type);
    expect(behind).toEqual([
      ...Array<string>(cost).fill('refused'),
      ...Array<string>(4 - cost).fill('answered'),
    ]);
    // What was answered before is still there.
    expect(session.shown.map(textOf).join(' ')).toMatch(/^a re: t0 b re: t1 c/);
  });
});
