import { createReadStream } from 'node:fs';
import { readFailure } from '../../config/reading/read-failure.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import { currentEvents, type EventCodec } from '../../core/log/event-codec.ts';
import { messageOf } from '../../core/thrown.ts';
import { byteLines } from './byte-lines.ts';
import { parseLine } from './exported-line.ts';

/** The events of one session: in order, from seq 1, without gaps. */
export type SessionEvents = AsyncIterable<Envelope>;

/** The bytes of an export, and its name for messages. */
export interface ExportedFile {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface ExportedSession {
  /** Name of the file, for messages. */
  readonly name: string;
  readonly sessionId: SessionId;
  /** The number of an event's line is its seq. Can be iterated once. */
  readonly events: SessionEvents;
}

const exportOutput = 'the output of `agent-service export`';

/** @param path `-` for standard input. */
export function openExport(path: string): ExportedFile {
  return path === '-'
    ? { name: 'standard input', chunks: process.stdin }
    : { name: path, chunks: readFile(path) };
}

async function* readFile(path: string): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw new Error(`${path}: ${readFailure(error, exportOutput)}`, { cause: error });
  }
}

/** Reads an export line by line. Throws at the first line that is not the next event of the session. */
export async function readExport(
  file: ExportedFile,
  codec: EventCodec = currentEvents,
): Promise<ExportedSession> {
  const envelopes = readLines(file, codec);
  const first = await envelopes.next();
  if (first.done) throw new Error(`${file.name}: it is empty; expected ${exportOutput}`);
  const { sessionId } = first.value;
  return { name: file.name, sessionId, events: ofOneSession(first.value, envelopes, file.name) };
}

/** The message begins with file and line. */
export function lineError(name: string, line: number, error: unknown): Error {
  const reason = messageOf(error);
  return new Error(`${name}:${line}: ${reason}`, { cause: error });
}

async function* readLines(file: ExportedFile, codec: EventCodec): AsyncGenerator<Envelope, void, void> {
  let expected = 1;
  for await (const line of byteLines(file.chunks)) {
    yield parseNext(line, expected, file.name, codec);
    expected += 1;
  }
}

function parseNext(line: Uint8Array, expected: number, name: string, codec: EventCodec): Envelope {
  try {
    const envelope = parseLine(line, codec);
    if (envelope.seq !== expected) throw new Error(`seq: found ${envelope.seq}; expected ${expected}`);
    return envelope;
  } catch (error) {
    throw lineError(name, expected, error);
  }
}

async function* ofOneSession(
  first: Envelope,
  others: AsyncIterable<Envelope>,
  name: string,
): AsyncGenerator<Envelope, void, void> {
  yield first;
  for await (const envelope of others) {
    const { sessionId, seq } = envelope;
    if (sessionId !== first.sessionId) {
      const issue = `sessionId: found ${sessionId}; expected ${first.sessionId}, as on the first line`;
      throw lineError(name, seq, new Error(issue));
    }
    yield envelope;
  }
}
