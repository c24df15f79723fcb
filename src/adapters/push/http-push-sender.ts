import type { LookupAddress } from 'node:dns';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { hostOf, isPublicAddress } from '../../network/public-address.ts';
import {
  PushAddressError,
  type PushAnswer,
  type PushMessage,
  type PushSender,
} from '../../ports/push-sender.ts';
import { pushUrl } from './push-url.ts';
import { type ResolveName, receiverNames } from './receiver-names.ts';

export interface PushSenderOptions {
  /** Whether notifications may go to addresses that are not public, and over HTTP without TLS. */
  readonly allowPrivateAddresses: boolean;
  readonly timeoutMs?: number;
  /** Another one in tests. */
  readonly resolve?: ResolveName;
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
  resolve = receiverNames({ allowPrivateAddresses }),
}: PushSenderOptions): PushSender {
  const isAllowed = (address: string) => allowPrivateAddresses || isPublicAddress(address);
  const addressesOf = async (hostname: string): Promise<readonly LookupAddress[]> => {
    const addresses = await resolve(hostname);
    // One public address among private ones is a trap, too.
    if (!addresses.every(({ address }) => isAllowed(address))) throw new PushAddressError(NOT_PUBLIC);
    return addresses;
  };
  /** Node connects to what this returns, and resolves nothing itself. */
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    addressesOf(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (!first) callback(new Error(`${hostname} has no address`), '', 0);
        else if (all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, '', 0),
    );
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
      await addressesOf(host).catch((error: unknown) => {
        // A name that cannot be resolved now may be resolved later.
        if (error instanceof PushAddressError) throw error;
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
