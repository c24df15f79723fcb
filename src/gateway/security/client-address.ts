import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ServerConfig } from '../../config/schema/agent-config.ts';

/** Returns the address of a client, given the peer of its connection and its `X-Forwarded-For`. */
export type ClientAddress = (peerAddress: string, forwardedFor: string | undefined) => string;

/**
 * Believes `X-Forwarded-For` only from trusted proxies. Each proxy appends the address of its peer, so the
 * client is the last address that is not a trusted proxy. The client itself may have written anything to the
 * left of it.
 */
export function clientAddresses(trustProxy: ServerConfig['trustProxy']): ClientAddress {
  if (trustProxy === false) return (peerAddress) => unmapIpv4(peerAddress);
  const isTrusted = trustProxy === true ? () => true : addressMatcher(trustProxy);
  return (peerAddress, forwardedFor) => {
    let client = unmapIpv4(peerAddress);
    const hops = forwardedFor?.split(',').map((hop) => unmapIpv4(withoutPort(hop.trim()))) ?? [];
    while (isTrusted(client)) {
      const hop = hops.pop();
      if (hop === undefined || hop === '') break;
      client = hop;
    }
    return client;
  };
}

/**
 * Whether an address is one of these, or in one of these ranges (CIDR). Text that is not an address matches
 * nothing.
 *
 * @param ranges valid addresses and ranges.
 */
export function addressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const networks = ranges.map(networkOf);
  return (address) => {
    if (isIP(address) === 0) return false;
    const candidate = asIpv6(address);
    return networks.some((network) => candidate.match(network));
  };
}

/**
 * A dual-stack socket reports an IPv4 client as IPv6: `::ffff:127.0.0.1` or `0:0:0:0:0:ffff:7f00:1`. Returns
 * such an address as IPv4, so that limits count one client once, and any other text unchanged.
 */
export function unmapIpv4(address: string): string {
  // Most addresses need no parsing, and this runs for every request.
  if (!/ffff:/i.test(address) || isIP(address) === 0) return address;
  const parsed = ipaddr.process(withoutZone(address));
  return parsed.kind() === 'ipv4' ? parsed.toString() : address;
}

function networkOf(range: string): [ipaddr.IPv6, number] {
  const [address = '', prefix] = range.split('/');
  const network = asIpv6(address);
  if (prefix === undefined) return [network, 128];
  return [network, isIP(address) === 4 ? 96 + Number(prefix) : Number(prefix)];
}

/**
 * IPv4 becomes IPv4-mapped IPv6, so that either form of an address matches either form of a range.
 *
 * @param address valid for `isIP`, which is stricter than ipaddr.js: `010.0.0.1` is not an address.
 */
function asIpv6(address: string): ipaddr.IPv6 {
  const parsed = ipaddr.parse(withoutZone(address));
  return parsed instanceof ipaddr.IPv4 ? parsed.toIPv4MappedAddress() : parsed;
}

/** The zone of a link-local address, such as `%eth0`, says nothing about its range. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

/** Some proxies write the port of the client too: `1.2.3.4:50001`, `[2001:db8::1]:50001`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}
