import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only part of IPv6 from which addresses of the internet are given out. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** The host of a URL, without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Whether the address is one of the public internet: not of this machine, of a private network or of a special range. */
export function isPublicAddress(address: string): boolean {
  // Node is stricter than ipaddr.js: `8.8.8` is not an address.
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast';
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().range() === 'unicast';
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_UNICAST);
}
