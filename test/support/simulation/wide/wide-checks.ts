import type { ResumableFrame } from '../../../../src/wire/frames.ts';
import { byTurn, checkTurn } from '../../models/prescribed-turn.ts';
import { messageOf, pieceFaults } from '../../sockets/prescribed-stream.ts';
import { endsTurn } from '../../sockets/resuming-socket.ts';
import { type Ledger, prescribed } from '../simulated-agent.ts';
import type { Decision } from './approver.ts';
import type { Deeds } from './deeds.ts';
import type { Life, Lives } from './lives.ts';
import type { WideWatcher } from './wide-watcher.ts';

/** What has happened, to be held to what must hold. */
export interface WideHistory {
  readonly lives: Lives;
  readonly ledger: Ledger;
  readonly deeds: Deeds;
  readonly decisions: readonly Decision[];
  readonly watchers: readonly WideWatcher[];
}

/** All that is wrong with it, in words. */
export function checkWide(history: WideHistory): string[] {
  return [
    ...messages(history),
    ...turns(history),
    ...commands(history),
    ...forks(history),
    ...approvals(history),
    ...told(history),
  ];
}

function* messages({ lives, deeds }: WideHistory): Generator<string> {
  for (const life of lives.all) {
    const contents = requestsOf(life).map(({ text }) => text);
    if (new Set(contents).size !== contents.length) yield `${life.id} has doubled: ${contents.join(', ')}`;
  }
  for (const { sessionId, content, turnIds, isRefused } of deeds.messages) {
    const recorded = lives
      .of(sessionId)
      .flatMap((life) => requestsOf(life).filter(({ text }) => text === content));
    for (const turnId of turnIds)
      if (!recorded.some((request) => request.turnId === turnId)) yield `lost: ${content} as ${turnId}`;
    if (isRefused && recorded.length > 0) yield `refused and recorded: ${content}`;
  }
}

function* turns({ lives, ledger }: WideHistory): Generator<string> {
  const runs = new Map<string, number>();
  for (const life of lives.all) {
    if (life.erasedAt === Infinity && life.stream.open) yield `${life.id} is open`;
    for (const frames of byTurn(life.log).values()) {
      const isCopied = (frames[0]?.seq ?? 0) <= life.sharedSeq;
      // A fork may be of any moment, also between two events that were recorded together.
      const isCut = frames.some((frame) => 'cause' in frame && frame.cause?.kind === 'session-forked');
      yield* turnFaults(frames, isCut);
      const [id] = messageOf(frames).split(' ').slice(1);
      if (id !== undefined && !isCopied) runs.set(id, (runs.get(id) ?? 0) + 1);
      for (const frame of frames) {
        const isPaid =
          frame.event === 'toolResult' && frame.data.error === undefined && frame.data.toolName !== 'look';
        if (isPaid && id !== undefined && !ledger.paid.includes(id)) yield `${id} was not paid`;
      }
    }
    yield* conversations(life, ledger);
  }
  for (const [id, paid] of countOf(ledger.paid))
    if (paid > (runs.get(id) ?? 0)) yield `${id} was paid ${paid} times, in ${runs.get(id) ?? 0} turns`;
}

function turnFaults(frames: readonly ResumableFrame[], isCut: boolean): string[] {
  const message = messageOf(frames);
  const faults = frames.filter(endsTurn).length === 1 ? [] : [`${message} has no end, or several`];
  if (isCut) return faults;
  try {
    checkTurn(frames, prescribed(message));
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  }
  return faults;
}

/** The model is shown what came before, since the last reset. */
function* conversations(life: Life, { shown }: Ledger): Generator<string> {
  let before: string[] = [];
  const completed = new Set<string>();
  const texts = new Map<string, string>();
  const expected = new Map<string, readonly string[]>();
  for (const { event, seq } of life.events) {
    if (event.type === 'session.reset') {
      before = [];
      completed.clear();
    }
    if (event.type === 'turn.requested') {
      before = [...before, event.text];
      texts.set(event.turnId, event.text);
      if (seq > life.sharedSeq) expected.set(event.turnId, before);
    }
    if (event.type === 'turn.completed') completed.add(texts.get(event.turnId) ?? '');
    if (event.type !== 'turn.started') continue;
    const all = expected.get(event.turnId);
    const conversations = shown.get(event.turnId);
    if (!all || !conversations) continue;
    const isRight = (was: readonly string[]): boolean =>
      was.at(-1) === all.at(-1) &&
      all.filter((text) => was.includes(text)).join() === was.join() &&
      all.every((text) => was.includes(text) || !completed.has(text));
    if (!conversations.some(isRight))
      yield `the model was shown [${conversations.join('], [')}] in a conversation of [${all.join()}]`;
  }
}

function* commands({ lives, deeds }: WideHistory): Generator<string> {
  for (const { type, sessionId, key, askedAt, doneAt } of deeds.commands) {
    const all = lives.of(sessionId);
    const what = `${type} ${key ?? ''} of ${sessionId}`;
    if (type === 'delete') {
      const left = all.find(
        ({ createdAt, erasedAt }) => createdAt < askedAt && erasedAt > (doneAt ?? Infinity),
      );
      if (left && doneAt !== null) yield `${what} was done, and the session is still there`;
      continue;
    }
    if (type === 'rename') continue;
    const done = all.map((life) => doneIn(life, type, key));
    if (key !== null && done.some((times) => times.length > 1)) yield `${what} was done twice`;
    if (doneAt !== null && !done.flat().some((time) => time <= doneAt && (key !== null || time >= askedAt)))
      yield `${what} was acknowledged, and not done`;
  }
}

/** When a command was done in the session itself. */
function doneIn(life: Life, type: 'cancel' | 'reset', key: string | null): number[] {
  return life.events.flatMap(({ event, meta, seq }) => {
    if (seq <= life.sharedSeq) return [];
    const isIts =
      type === 'reset'
        ? event.type === 'session.reset' && (key === null || event.key?.id === key)
        : event.type === 'turn.cancelled' &&
          event.cause.kind === 'cancelled' &&
          (key === null || meta?.causationId === key);
    return isIts ? [life.timeOf(seq)] : [];
  });
}

function* forks({ lives, deeds }: WideHistory): Generator<string> {
  for (const { from, to, answers } of deeds.forks) {
    const all = lives.of(to);
    const born = all.filter(({ sharedSeq }) => sharedSeq > 0);
    if (born.length > 1) yield `${to} was forked ${born.length} times`;
    for (const { sessionId, at, head } of answers) {
      const fork = born.find((life) => life.sharedSeq === at);
      if (sessionId !== to || !fork) {
        yield `${to} was forked at ${at}, and has begun at ${born.map(({ sharedSeq }) => sharedSeq).join()}`;
        continue;
      }
      if (fork.events[head - 1]?.event.type !== 'session.forked') yield `${to} does not begin at ${head}`;
      const copied = fork.stream.rows
        .slice(0, at)
        .map(({ data }) => data)
        .join('\n');
      const isCopy = lives.of(from).some(
        ({ stream }) =>
          stream.rows
            .slice(0, at)
            .map(({ data }) => data)
            .join('\n') === copied,
      );
      if (!isCopy) yield `${to} is no copy of ${from}`;
    }
  }
}

function* approvals({ lives, decisions, ledger }: WideHistory): Generator<string> {
  const taken = Map.groupBy(decisions, ({ sessionId, callId }) => `${sessionId} ${callId}`);
  for (const [call, all] of taken)
    if (new Set(all.map(({ key }) => key)).size > 1)
      yield `${call} was decided by ${all.map(({ key, approved }) => `${key} (${approved})`).join(', ')}`;
  for (const { sessionId, callId, approved, key } of decisions) {
    const ends = lives
      .of(sessionId)
      .flatMap(({ events }) =>
        events.flatMap(({ event }) =>
          (event.type === 'approval.granted' || event.type === 'tool-call.failed') && event.callId === callId
            ? [event.type]
            : [],
        ),
      );
    if (!ends.includes(approved ? 'approval.granted' : 'tool-call.failed'))
      yield `${key} was acknowledged as ${approved}, and the log has ${ends.join()}`;
  }
  for (const life of lives.all) {
    const granted = life.events.flatMap(({ event }) =>
      event.type === 'approval.granted' ? [event.callId] : [],
    );
    if (new Set(granted).size !== granted.length) yield `${life.id} has approvals twice: ${granted.join()}`;
    for (const frames of byTurn(life.log).values()) {
      const message = messageOf(frames);
      const isGranted = frames.some(({ event }) => event === 'toolApproved');
      const isAsked = message.startsWith('ask ') && (frames[0]?.seq ?? 0) > life.sharedSeq;
      const others = lives.of(life.id).length > 1;
      if (isAsked && !isGranted && !others && ledger.paid.includes(message.slice('ask '.length)))
        yield `${message} was paid, and nobody has approved it`;
    }
  }
}

function* told({ watchers }: WideHistory): Generator<string> {
  for (const { name, told: all } of watchers) {
    for (const {
      record,
      lives: [life],
    } of all)
      if (life)
        for (const fault of pieceFaults(record.pieces, life.log, prescribed)) yield `${name}: ${fault}`;
  }
}

function requestsOf(life: Life): { readonly text: string; readonly turnId: string }[] {
  return life.events.flatMap(({ event }) => (event.type === 'turn.requested' ? [event] : []));
}

function countOf(all: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}
