import { expect } from 'vitest';
import type { LoggedEvent } from '../../../src/core/log/events.ts';
import type { ServerFrame } from '../../../src/wire/frames.ts';
import type { JsonObject } from '../rules/body-fields.ts';
import { isMistralId } from '../rules/chat-templates.ts';
import { firstRules } from './fake.ts';
import type { Exchange, FakeProvider } from './fake-provider.ts';
import { images } from './images.ts';
import { hasObject, type Item, newestTurn } from './read-conversation.ts';
import { halves } from './voice.ts';
import { BROKEN } from './what-to-say.ts';

/** Nothing is refused but what the provider's users are told of: images, where it takes none. */
export function expectNoOtherRefusals({ fake, exchanges }: FakeProvider): void {
  const refused = exchanges.filter(({ refusedBy }) => refusedBy !== undefined);
  const found = refused.map(({ session, command, refusedBy }) => ({ session, command, refusedBy }));
  const planned = found.filter(
    ({ command, refusedBy }) => command === 'look' && refusedBy === fake.blind?.rule,
  );
  expect(found, JSON.stringify(refused.at(-1)?.body, null, 1)).toEqual(planned);
}

/** Each call has its result, in the order of the calls, before anything else is said. */
export function expectResultsInOrder({ exchanges }: FakeProvider): void {
  for (const { items } of exchanges) {
    const open: string[] = [];
    for (const item of items) {
      if (item.kind === 'call') open.push(item.id);
      else if (item.kind === 'result') expect(item.id).toBe(open.shift());
      else if (item.kind === 'user') expect(open).toEqual([]);
    }
    expect(open).toEqual([]);
    const ids = callsIn(items);
    expect(ids).toEqual([...new Set(ids)]);
  }
}

/** What the model has said goes back to it: the ids of its calls, and all that is opaque, unchanged. */
export function expectReturned(provider: FakeProvider, session: string): void {
  const exchanges = provider.of(session).filter(({ refusedBy }) => refusedBy === undefined);
  for (const [place, exchange] of exchanges.entries()) {
    if (!exchange.spoken || exchange.isBroken) continue;
    const later = exchanges.slice(place + 1);
    // The tools have answered within the turn.
    const next = exchange.spoken.calls.length > 0 ? later[0] : undefined;
    if (next) expectCallsBack(provider, exchange, next);
    for (const fields of exchange.spoken.returned) {
      for (const one of later) expectFields(provider, fields, one, one === next);
    }
  }
}

/** @param isInTurn whether it was in this turn that the model has sent the fields. */
function expectFields(
  { api, fake }: FakeProvider,
  fields: JsonObject,
  { items }: Exchange,
  isInTurn: boolean,
): void {
  const where = isInTurn ? newestTurn(items).since : items;
  // Claude is sent back what it thought in the current turn alone, but to OpenRouter, which sees to it itself.
  const isOfTurn = fake.model.includes('claude') && (api === 'messages' || 'thinking_blocks' in fields);
  const isWanted = !isOfTurn || isInTurn;
  if (where.some(({ from }) => hasObject(from, fields)) === isWanted) return;
  const shown = [JSON.stringify(fields), isWanted ? 'is not in' : 'is in', JSON.stringify(where, null, 1)];
  expect.fail(shown.join(' '));
}

function expectCallsBack({ fake }: FakeProvider, { spoken }: Exchange, { items }: Exchange): void {
  const calls = callsIn(newestTurn(items).since);
  expect(calls.length).toBe(spoken?.calls.length);
  if (!fake.needsOtherIds) expect(calls).toEqual(spoken?.calls.map(({ id }) => id));
}

function callsIn(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.kind === 'call' ? [item.id] : []));
}

/** Thoughts and signatures are marked: a mark of another provider must not be in a request. */
export function expectNothingOfOthers(provider: FakeProvider, others: readonly FakeProvider[]): void {
  const requests = JSON.stringify(provider.exchanges.map(({ body }) => withoutCallIds(body)));
  for (const { exchanges } of others) {
    for (const { spoken } of exchanges) {
      for (const mark of JSON.stringify(spoken?.returned ?? []).matchAll(/[a-h]\d{4}/g)) {
        expect(requests).not.toContain(mark[0]);
      }
      if (spoken?.reasoning) expect(requests).not.toContain(spoken.reasoning);
    }
  }
}

/** They are made of marks, too. */
function withoutCallIds(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body, (name, value: unknown) => (CALL_ID_FIELDS.has(name) ? undefined : value)),
  );
}

const CALL_ID_FIELDS: ReadonlySet<string> = new Set(['id', 'call_id', 'tool_call_id', 'tool_use_id']);

/** Thoughts go back only where they are what has to come back. */
export function expectNoOtherThoughts({ exchanges }: FakeProvider): void {
  const wanted = JSON.stringify(exchanges.map(({ spoken }) => spoken?.returned));
  for (const { body } of exchanges) {
    const thoughts = JSON.stringify(body).match(/thought-[a-h]\d{4}/g) ?? [];
    expect(thoughts.filter((one) => !wanted.includes(one))).toEqual([]);
  }
}

/** What providers refuse in more places than any rule tells: empty tools, ids of items that were not stored. */
export function expectNothingNeedless({ api, exchanges }: FakeProvider): void {
  for (const { body, items } of exchanges) {
    expect(body.tools).not.toEqual([]);
    if (api === 'responses') expect(items.filter(({ from }) => 'id' in from)).toEqual([]);
    // Google's flag of a thought: an answer that has it is none.
    expect(JSON.stringify(body)).not.toContain('"thought":true');
  }
}

/** Mistral takes no other ids: nine letters and digits. */
export function expectMistralIds(provider: FakeProvider): void {
  if (firstRules(provider.fake).provider !== 'mistral') return;
  const ids = provider.exchanges.flatMap(({ items }) =>
    items.flatMap((item) => (item.kind === 'call' || item.kind === 'result' ? [item.id] : [])),
  );
  expect(ids.length).toBeGreaterThan(0);
  expect(ids.filter((id) => !isMistralId(id))).toEqual([]);
}

/** The image of a session is shown with each request from then on; one that was refused with none. */
export function expectImage({ exchanges }: FakeProvider, isTaken: boolean): void {
  const later = (session: string): readonly Exchange[] => {
    const all = exchanges.filter((exchange) => exchange.session === session);
    return all.slice(
      Math.max(
        0,
        all.findIndex(({ command }) => command === 'look'),
      ),
    );
  };
  for (const session of new Set(exchanges.map((exchange) => exchange.session))) {
    for (const { body, refusedBy, command } of later(session)) {
      if (refusedBy !== undefined) continue;
      const request = JSON.stringify(body);
      const isShown = Object.values(images).some(({ base64 }) => request.includes(base64));
      expect(isShown, `${session}#${command}`).toBe(isTaken);
    }
  }
}

/** What was heard of a reply that broke off stays, and the model is told that it is not whole. */
export function expectCutShort(frames: readonly ServerFrame[], exchanges: readonly Exchange[]): void {
  const [beginning] = halves(BROKEN);
  for (const [place, { isBroken }] of exchanges.entries()) {
    if (!isBroken) continue;
    expect(repliesIn(frames)).toContain(beginning);
    expect(JSON.stringify(exchanges[place + 1]?.body)).toContain(`${beginning} [cut off: this reply failed]`);
  }
}

function repliesIn(frames: readonly ServerFrame[]): string {
  return frames.map((frame) => (frame.event === 'chunk' ? frame.data.content : '')).join('');
}

/** A client that asked for them hears the thoughts word for word, and never in the reply. */
export function expectHeard(frames: readonly ServerFrame[], exchanges: readonly Exchange[]): void {
  expect(repliesIn(frames)).not.toMatch(/thought-|<\/?think|<\/?thought/);
  const heard = frames.flatMap((frame) => (frame.event === 'thinking' ? [frame.data.reasoning ?? ''] : []));
  expect(heard.join('')).toBe(exchanges.map(({ spoken }) => spoken?.reasoning ?? '').join(''));
}

/** Thoughts are in the log where that is set. Else they are there only as what a provider wants back. */
export function expectLogged(
  log: readonly LoggedEvent[],
  exchanges: readonly Exchange[],
  keepsReasoning: boolean,
): void {
  const parts = log.flatMap((event) => (event.type === 'step.completed' ? event.parts : []));
  const kept = parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
  const thought = exchanges.flatMap(({ spoken, isBroken }) =>
    spoken && !isBroken ? [spoken.reasoning] : [],
  );
  expect(kept).toEqual(keepsReasoning ? thought.filter((text) => text !== '') : []);
  const others = parts.filter(({ type }) => type !== 'reasoning' && type !== 'opaque');
  const rest = log.map((event) => (event.type === 'step.completed' ? { ...event, parts: others } : event));
  expect(JSON.stringify(rest)).not.toContain('thought-');
}
