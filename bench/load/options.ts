import { parseArgs } from 'node:util';

const A_DAY_SECONDS = 86_400;

export type Transport = 'ws' | 'sse' | 'sync';

export interface LoadOptions {
  readonly url: URL;
  readonly transport: Transport;
  readonly clients: number;
  /** Messages of each client. */
  readonly messages: number;
  /** The clients start evenly over this time. */
  readonly rampSeconds: number;
  readonly message: string;
  /** The expected answer; null to compare answers only with the log. */
  readonly reply: string | null;
  /** Share of the frames of a running turn after which the client drops its connection and resumes; from 0 to 1. */
  readonly drops: number;
  readonly timeoutSeconds: number;
  readonly keep: boolean;
}

export const usage = `npm run load -- --url http://127.0.0.1:3001 [options]

  --url URL               base URL of the service, without a path
  --ws | --sse | --sync   WebSocket (default), server-sent events, or message-sync
  --clients N             clients, each with its own session (default 10)
  --messages M            messages of each client, one after the other (default 20)
  --ramp S                seconds over which the clients start (default 1)
  --message TEXT          text of each message (default "hello")
  --reply TEXT            expected text of each answer; without it, answers are only compared with the log
  --drops SHARE           share of frames after which a client drops its connection and resumes (default 0.02)
  --timeout S             longest wait for one answer, in seconds (default 60)
  --keep                  leave the sessions in the log

Ctrl-C waits for the running messages, then reports and cleans up as usual. A second Ctrl-C ends at once.
`;

/** The command line is wrong. The message says what to do instead. */
export class UsageError extends Error {}

export function readOptions(args: readonly string[]): LoadOptions {
  const values = parsed(args);
  const chosen = (['ws', 'sse', 'sync'] as const).filter((transport) => values[transport]);
  if (chosen.length > 1) throw new UsageError(`--${chosen.join(' and --')} exclude each other; choose one`);
  return {
    url: readUrl(values.url),
    transport: chosen[0] ?? 'ws',
    clients: number('--clients', values.clients, { least: 1, whole: true }),
    messages: number('--messages', values.messages, { least: 1, whole: true }),
    rampSeconds: number('--ramp', values.ramp, { least: 0, most: A_DAY_SECONDS }),
    message: readMessage(values.message),
    reply: values.reply ?? null,
    drops: number('--drops', values.drops, { least: 0, most: 1 }),
    timeoutSeconds: number('--timeout', values.timeout, { least: 0.001, most: A_DAY_SECONDS }),
    keep: values.keep,
  };
}

const flag = { type: 'boolean', default: false } as const;

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        url: { type: 'string' },
        ws: flag,
        sse: flag,
        sync: flag,
        clients: { type: 'string', default: '10' },
        messages: { type: 'string', default: '20' },
        ramp: { type: 'string', default: '1' },
        message: { type: 'string', default: 'hello' },
        reply: { type: 'string' },
        drops: { type: 'string', default: '0.02' },
        timeout: { type: 'string', default: '60' },
        keep: flag,
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function readUrl(text: string | undefined): URL {
  if (text === undefined) throw new UsageError('--url is missing; say where the service is');
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new UsageError(`--url must be like http://127.0.0.1:3001, not ${text}`);
  return url;
}

function readMessage(text: string): string {
  if (text.trim() === '') throw new UsageError('--message is empty; say something');
  return text;
}

interface Range {
  readonly least: number;
  readonly most?: number;
  readonly whole?: boolean;
}

function number(name: string, text: string, { least, most = Infinity, whole = false }: Range): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new UsageError(`${name} must be a ${whole ? 'whole ' : ''}number ${range}, not ${text}`);
}
