import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  appendStatement,
  type LinkedAppend,
  storedTitle,
} from '../../../src/adapters/postgres/append-statement.ts';
import { openPostgres } from '../../../src/adapters/postgres/open-postgres.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const TIME = 7_000;
const EPOCH = 3;
/** How each stream ends before the append. */
const END = { seq: 2, hash: 'two' };
const OTHER_NODE = 99;

let server: PostgresServer;
let client: pg.Client;
let schema: string;
let node: number;
let close: () => Promise<void>;

beforeAll(async () => {
  server = await PostgresServer.start();
  const url = server.newUrl();
  schema = new URL(url).searchParams.get('schema') ?? '';
  const identity = { name: 'a node', version: '1' };
  const leaseTimes = { leaseMs: 600_000, renewMs: 300_000 };
  const opened = await openPostgres(url, { identity, log: recordingLog(), leaseTimes, shares: true });
  node = opened.membership?.self ?? 0;
  client = new pg.Client({ connectionString: url });
  await client.connect();
  close = async () => {
    await client.end();
    await opened.store[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
});
afterAll(() => close());

beforeEach(async () => {
  await client.query(`DELETE FROM ${schema}.events; DELETE FROM ${schema}.streams`);
});

/** An append of these events, in JSON, to a stream that ends with `END`. */
function appendOf(data: readonly string[], differing: Partial<LinkedAppend> = {}): LinkedAppend {
  const links = data.map((json, place) => {
    const seq = END.seq + 1 + place;
    return { seq, time: TIME, type: `t${seq}`, data: json, hash: `hash ${seq}` };
  });
  const head = { seq: END.seq + data.length, hash: links.at(-1)?.hash ?? END.hash };
  const marks = { open: undefined, title: undefined, epoch: EPOCH };
  return { stream: '', after: END, head, links, ...marks, ...differing };
}

interface Case {
  readonly append: LinkedAppend;
  readonly writer?: number;
  /** Null: nobody. */
  readonly owner?: number | null;
}

/** Appends to a stream, and says what was answered and what the stream is then. `with` makes it an append of a batch. */
async function outcomeOf(
  stream: string,
  { append, writer = node, owner = node }: Case,
  beside?: LinkedAppend,
) {
  await client.query({
    text: `INSERT INTO ${schema}.streams VALUES ($1, $2, $3, 1, 1, true, $4, $5, $6)`,
    values: [stream, END.seq, END.hash, storedTitle('old'), owner, EPOCH],
  });
  const all = beside ? [{ ...append, stream }, beside] : [{ ...append, stream }];
  const { name, text, values } = appendStatement({ schema, node: writer, time: TIME }, all);
  const { rows } = await client.query({ name: name ?? '', text, values: [...(values ?? [])] });
  const left = await client.query({
    text: `SELECT head, hash, created, updated, open, title, owner, epoch FROM ${schema}.streams WHERE stream = $1`,
    values: [stream],
  });
  const events = await client.query({
    text: `SELECT seq, time, type, data, hash FROM ${schema}.events WHERE stream = $1 ORDER BY seq`,
    values: [stream],
  });
  const answered = rows.map((row) => (row.stream === stream ? 'appended' : row.stream));
  return { answered, left: left.rows, events: events.rows };
}

/** Of the statement for one append and of the one for a batch, which has to agree. */
async function bothOutcomes(tried: Case) {
  const nothing = {
    ...appendOf([]),
    stream: 'nothing',
    after: { seq: 0, hash: '' },
    head: { seq: 0, hash: '' },
  };
  const alone = await outcomeOf('alone', tried);
  expect(await outcomeOf('in a batch', tried, nothing)).toEqual(alone);
  return alone;
}

const ONE = ['{"text":"a"}'];
const QUOTED = ['{"text":"\\"{a,b}\\" \\\\ \'"}', '{}', '{"text":"NULL"}'];

describe('one append to a stream that there is', () => {
  it.each<[string, LinkedAppend]>([
    ['an event', appendOf(ONE)],
    ['several events', appendOf(QUOTED)],
    ['an event that closes it', appendOf(ONE, { open: false })],
    ['only a mark', appendOf([], { open: false })],
    ['a title', appendOf(ONE, { title: 'new, {"quoted"}' })],
    ['no title any more', appendOf(ONE, { title: null })],
    ['nothing', appendOf([])],
  ])('is stored as in a batch: %s', async (_, append) => {
    const { answered, left, events } = await bothOutcomes({ append });
    expect(answered).toEqual(['appended']);
    expect(events.map(({ data }) => data)).toEqual(append.links.map(({ data }) => data));
    expect(left).toMatchObject([
      {
        head: append.head.seq,
        hash: append.head.hash,
        open: append.open ?? true,
        title: storedTitle(append.title === undefined ? 'old' : append.title),
        updated: String(append.links.length > 0 ? TIME : 1),
      },
    ]);
  });

  it('is stored as in a batch where nobody owns it', async () => {
    const append = appendOf(ONE, { epoch: undefined });
    expect(await bothOutcomes({ append, owner: null })).toMatchObject({ answered: ['appended'] });
  });

  it.each<[string, Case, unknown[]]>([
    ['to another version', { append: appendOf(ONE, { after: { seq: 1, hash: 'one' } }) }, []],
    ['after another event', { append: appendOf(ONE, { after: { seq: 2, hash: 'other' } }) }, []],
    ['in another epoch', { append: appendOf(ONE, { epoch: EPOCH - 1 }) }, []],
    ['to a stream of another node', { append: appendOf(ONE), owner: OTHER_NODE }, []],
    ['to a stream that was given up', { append: appendOf(ONE), owner: null }, []],
    ['by a node without its lease', { append: appendOf(ONE), writer: OTHER_NODE }, [null]],
    [
      'by a node without its lease, to a stream that nobody owns',
      { append: appendOf(ONE, { epoch: undefined }), writer: OTHER_NODE, owner: null },
      [null],
    ],
    [
      'to another version, by a node without its lease',
      { append: appendOf(ONE, { after: { seq: 1, hash: 'one' } }), writer: OTHER_NODE },
      [null],
    ],
  ])('is refused as in a batch: %s', async (_, tried, answer) => {
    const { answered, left, events } = await bothOutcomes(tried);
    expect(answered).toEqual(answer);
    expect(left).toMatchObject([{ head: END.seq, hash: END.hash, updated: '1' }]);
    expect(events).toEqual([]);
  });
});
