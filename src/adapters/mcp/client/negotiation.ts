import { z } from 'zod';
import { JsonRpcError, MCP_CODES } from '../../../core/json-rpc.ts';
import { within } from '../../../timing/deadline.ts';
import { HttpStatusError } from '../http/http-status-error.ts';
import { AnswerLostError, InvalidAnswerError } from '../peer/rpc-errors.ts';
import { type ServerHello, STATELESS_VERSION } from './server-hello.ts';

/** How long a server may be silent before the older handshake begins, too. */
const SILENCE_MS = 5_000;
const REFUSALS = [401, 403];
const Supported = z.object({ supported: z.array(z.string()) });

export interface Greetings {
  /** `server/discover`. Resolves with null if the server does not know it. */
  discover(): Promise<ServerHello | null>;
  /** `initialize`, the handshake of the older revisions. */
  initialize(): Promise<ServerHello>;
}

/**
 * Greets a server in the way of the newest revision, and in the older way if the server does not know that.
 * @param mayBeSilent whether a server may ignore what it does not know. Over HTTP it has to answer, and two handshakes at
 *   once would ask for two authorizations.
 */
export async function greet(greetings: Greetings, mayBeSilent: boolean): Promise<ServerHello> {
  const discovered = greetings.discover();
  const early = mayBeSilent ? await within(SILENCE_MS, discovered, undefined) : await discovered;
  if (early === null) return await greetings.initialize();
  if (early !== undefined) return early;
  const initialized = greetings.initialize();
  // A server that has only just started finds both in its input. It answers both, and speaks as in the last one.
  const newer = await Promise.race([discovered, initialized.catch(() => null)]);
  const older = await within(SILENCE_MS, initialized, undefined).catch(() => undefined);
  return older ?? newer ?? (await discovered) ?? (await initialized);
}

/** Whether the error to `server/discover` is how a server answers that does not know it. */
export function isOlderAnswer(error: unknown): boolean {
  if (error instanceof HttpStatusError) return !REFUSALS.includes(error.status);
  return [JsonRpcError, InvalidAnswerError, AnswerLostError].some((kind) => error instanceof kind);
}

/** Whether a server that refused the revision names the same one as what it speaks. */
export function offersStateless(error: unknown): boolean {
  if (!(error instanceof JsonRpcError) || error.code !== MCP_CODES.unsupportedVersion) return false;
  return Supported.safeParse(error.data).data?.supported.includes(STATELESS_VERSION) === true;
}
