import { canonicalJson } from '../../core/content-hash.ts';
import { counted } from '../../core/counted.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { ReplayDifference, ReplayReport } from '../../replay/replay-session.ts';
import type { ReplayedTurn } from '../../replay/turn-tally.ts';

/** Length of the excerpt of a long text around the first difference. */
const SHOWN_CHARACTERS = 200;

/** One line for a turn. */
export function describeTurn({ number, outcome, steps, toolCalls }: ReplayedTurn, same = true): string {
  const counts = `${counted(steps, 'step')}, ${counted(toolCalls, 'tool call')}`;
  return `turn ${number}  ${outcome}, ${counts}  ${same ? 'same' : 'different'}\n`;
}

/** The end of the output: unfinished turns, then the first difference or the hashes of the state. */
export function describeReport({ events, turns, difference, stateHash }: ReplayReport): string {
  const unfinished = turns
    .filter(({ outcome }) => outcome === 'unfinished')
    .map((turn) => describeTurn(turn, turn.turnId !== difference?.turnId));
  if (difference) return unfinished.join('') + describeDifference(difference);
  const hashes = stateHash
    ? `state recorded  ${stateHash.recorded}\nstate replayed  ${stateHash.replayed}\n`
    : '';
  return `${unfinished.join('')}${counted(events, 'event')}, all as recorded\n${hashes}`;
}

function describeDifference({ seq, turn, turnId, step, recorded, replayed, note }: ReplayDifference): string {
  const place = [
    ...(turn === null ? [] : [`turn ${turn}`]),
    ...(step === null ? [] : [`step ${step}`]),
    ...(turnId === null ? [] : [turnId]),
  ];
  const [was, is] = bothSides(recorded, replayed);
  return [
    `different at seq ${seq}${place.length > 0 ? ` (${place.join(', ')})` : ''}\n`,
    `  recorded  ${recorded ? was : 'nothing more'}\n`,
    `  replayed  ${replayed ? is : (note ?? 'nothing happened')}\n`,
  ].join('');
}

/** Both events as text. If they have the same type, only the fields that differ. */
function bothSides(recorded: SessionEvent | null, replayed: SessionEvent | null): [string, string] {
  const was = fieldsOf(recorded);
  const is = fieldsOf(replayed);
  if (recorded?.type === replayed?.type) {
    for (const name of new Set([...was.keys(), ...is.keys()])) {
      if (was.get(name) !== is.get(name)) continue;
      was.delete(name);
      is.delete(name);
    }
  }
  const [one, other] = [textOf(was), textOf(is)];
  const from = firstDifference(one, other);
  return [`${recorded?.type} ${excerpt(one, from)}`, `${replayed?.type} ${excerpt(other, from)}`];
}

/** Leaves out the turn id, which the output has already. */
function fieldsOf(event: SessionEvent | null): Map<string, string> {
  const fields = Object.entries(event ?? {}).filter(([name]) => name !== 'type' && name !== 'turnId');
  return new Map(fields.map(([name, value]) => [name, canonicalJson(value)]));
}

function textOf(fields: ReadonlyMap<string, string>): string {
  return [...fields].map(([name, text]) => `${name} ${text}`).join(', ');
}

function firstDifference(one: string, other: string): number {
  let index = 0;
  while (index < one.length && one[index] === other[index]) index += 1;
  return index;
}

function excerpt(text: string, from: number): string {
  const begin = from + SHOWN_CHARACTERS / 2 < SHOWN_CHARACTERS ? 0 : from - SHOWN_CHARACTERS / 2;
  const end = begin + SHOWN_CHARACTERS;
  return `${begin > 0 ? '… ' : ''}${text.slice(begin, end)}${end < text.length ? ' …' : ''}`;
}
