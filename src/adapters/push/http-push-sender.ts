import { type LookupAddress, lookup as resolve } from 'node:dns';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import {
  PushAddressError,
  type PushAnswer,
  type PushMessage,
  type PushSender,
} from '../../ports/push-sender.ts';
import { isPublicAddress } from './public-address.ts';
import { pushUrl } from './push-url.ts';

export interface PushSenderOptions {
  /** Whether notifications may go to addresses that are not public, and over HTTP without TLS. */
  readonly allowPrivateAddresses: boolean;
  readonly timeoutMs?: number;
  /** Resolves names. Another one in tests. */
  readonly resolve?: typeof resolve;
}

const TIMEOUT_MS = 10_000;
const NOT_PUBLIC = 'it is not an address of the public internet';

/**
 * Sends over HTTP, with a connection of its own each time. The address to which a name resolves is checked and then used,
 * so it cannot become another one in between.
 */
export function httpPushSender({
  allowPrivateAddresses,
  timeoutMs = TIMEOUT_MS,
  resolve: resolveName = resolve,
}: PushSenderOptions): PushSender {
  const isAllowed = (address: string) => allowPrivateAddresses || isPublicAddress(address);
  /** Node connects to what this returns, and resolves nothing itself. */
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const [first] = addresses ?? [];
      if (error || !first) return callback(error ?? new Error(`${hostname} has no address`), '', 0);
      // One public address among private ones is a trap, too.
      if (!addresses.every(({ address }) => isAllowed(address)))
        return callback(new PushAddressError(NOT_PUBLIC), '', 0);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
  const urlOf = (text: string): URL => {
    const url = pushUrl(text, allowPrivateAddresses);
    const host = hostOf(url);
    // An address in the URL is not looked up.
    if (isIP(host) !== 0 && !isAllowed(host)) throw new PushAddressError(NOT_PUBLIC);
    return url;
  };
  return {
    async check(text) {
      const host = hostOf(urlOf(text));
      if (isIP(host) !== 0) return;
      await new Promise<void>((done, refuse) => {
        lookup(host, { all: true }, (error) => {
          // A name that cannot be resolved now may be resolved later.
          if (error instanceof PushAddressError) refuse(error);
          else done();
        });
      });
    },
    async send({ url: text, headers, body }: PushMessage, stopped) {
      const url = urlOf(text);
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]);
      const options = { method: 'POST', agent: false as const, headers, lookup, signal };
      const request = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
      return answerTo(request, body);
    },
  };
}

/** Without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Nobody reads the body of the answer, however long it is. */
function answerTo(request: ClientRequest, body: string): Promise<PushAnswer> {
  return new Promise((done, fail) => {
    request.on('error', fail);
    // A receiver that switches protocols answers nothing that Node would call a response.
    request.on('upgrade', (_, socket) => socket.destroy());
    request.on('close', () => fail(new Error('the receiver closed the connection without an answer')));
    request.on('response', (response: IncomingMessage) => {
      response.on('error', () => undefined);
      const { statusCode: status = 0, headers } = response;
      done({ status, retryAfter: headers['retry-after'] });
      response.destroy();
    });
    request.end(body);
  });
}
