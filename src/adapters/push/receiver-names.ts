import { CANCELLED, type LookupAddress, TIMEOUT } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';

/** Rejects if no address can be found in time. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface ReceiverNamesOptions {
  /** Whether receivers may have names of the network of this machine, which no public name server knows. */
  readonly allowPrivateAddresses: boolean;
  /** `address:port`. Those of the system if absent. */
  readonly nameServers?: readonly string[];
  readonly timeoutMs?: number;
  /** The look-up of the system. Another one in tests. */
  readonly lookUp?: ResolveName;
}

const TIMEOUT_MS = 3_000;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves names that clients have chosen, by asking the name servers. The look-up of the system would hold one of two
 * threads for as long as the servers of a name keep silent, and everything else that has a name waits for these threads.
 */
export function receiverNames({
  allowPrivateAddresses,
  nameServers,
  timeoutMs = TIMEOUT_MS,
  lookUp = (hostname) => lookup(hostname, { all: true }),
}: ReceiverNamesOptions): ResolveName {
  /** One name at a time, so that the other thread stays free. */
  let lookedUp: Promise<unknown> = Promise.resolve();
  const ofSystem = (hostname: string): Promise<readonly LookupAddress[]> => {
    const found = lookedUp.then(() => lookUp(hostname));
    lookedUp = found.catch(() => undefined);
    return found;
  };
  return async (hostname) => {
    if (isLoopback(hostname)) return LOOPBACK;
    try {
      return await ofNameServers(hostname, { nameServers, timeoutMs });
    } catch (error) {
      // The system knows its file of hosts and its search domains besides. What nobody answers, it would wait for.
      if (!allowPrivateAddresses || isSilence(error)) throw error;
      return ofSystem(hostname);
    }
  };
}

async function ofNameServers(
  hostname: string,
  { nameServers, timeoutMs }: { nameServers: readonly string[] | undefined; timeoutMs: number },
): Promise<readonly LookupAddress[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (nameServers) resolver.setServers(nameServers);
  // Several servers are asked one after the other, each for so long.
  const timer = setTimeout(() => resolver.cancel(), timeoutMs);
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  clearTimeout(timer);
  const addresses = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
  if (addresses.length === 0) throw refusalOf([v4, v6]);
  return addresses;
}

/** Silence says more than that there is no such address: whoever asks again would wait. */
function refusalOf(answers: readonly PromiseSettledResult<string[]>[]): unknown {
  const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  return reasons.find(isSilence) ?? reasons[0];
}

function addressesOf(found: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return found.status === 'rejected' ? [] : found.value.map((address) => ({ address, family }));
}

/** These are no names of the network, says RFC 6761. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

function isSilence(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === TIMEOUT || code === CANCELLED;
}
