import type { ServerConfig } from '../config/schema/agent-config.ts';
import type { ServedRequest } from '../gateway/http/http-message.ts';
import { publicBase } from '../gateway/security/protected-resource.ts';

/** The public URL of the service, without a slash at its end: as it is configured, or as the client has addressed it. */
export async function publicBaseOf(
  { publicUrl, trustProxy }: Pick<ServerConfig, 'publicUrl' | 'trustProxy'>,
  { headers, peerAddress }: Pick<ServedRequest, 'headers' | 'peerAddress'>,
): Promise<string> {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  return publicBase(undefined, {
    host: headers.get('host'),
    forwardedProto: headers.get('x-forwarded-proto'),
    isFromTrustedProxy: trustProxy !== false && (await isTrusted(trustProxy, peerAddress)),
  });
}

/** Loads the parser of addresses only where there are proxies. */
async function isTrusted(proxies: true | readonly string[], peerAddress: string): Promise<boolean> {
  if (proxies === true) return true;
  const { addressMatcher, unmapIpv4 } = await import('../gateway/security/client-address.ts');
  return addressMatcher(proxies)(unmapIpv4(peerAddress));
}
