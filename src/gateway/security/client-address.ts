import { BlockList, isIPv6 } from 'node:net';
import type { ServerConfig } from '../../config/schema/agent-config.ts';

/** Tells which client a request comes from, given the peer of its connection and its `X-Forwarded-For`. */
export type ClientAddress = (peerAddress: string, forwardedFor: string | undefined) => string;

/**
 * Believes `X-Forwarded-For` only from trusted proxies, and walks it from the right: the first address that
 * is no trusted proxy is the client. What stands left of it was written by the client itself.
 */
export function clientAddresses(trustProxy: ServerConfig['trustProxy']): ClientAddress {
  if (trustProxy === false) return (peerAddress) => plainIp(peerAddress);
  const isTrusted = trustProxy === true ? () => true : addressesIn(trustProxy);
  return (peerAddress, forwardedFor) => {
    let client = plainIp(peerAddress);
    const hops =
      forwardedFor === undefined
        ? []
        : forwardedFor.split(',').map((hop) => plainIp(withoutPort(hop.trim())));
    while (isTrusted(client)) {
      const hop = hops.pop();
      if (hop === undefined || hop === '') break;
      client = hop;
    }
    return client;
  };
}

/** Whether an address is one of these, or in one of these ranges (CIDR). */
export function addressesIn(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Some proxies write the port of the client too: `1.2.3.4:50001`, `[2001:db8::1]:50001`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

/** An IPv4 client of a dual-stack socket is written as IPv6 (`::ffff:127.0.0.1`, in full or short): one client, one name. */
export function plainIp(address: string): string {
  const mapped = /^(?:::|(?:0{1,4}:){5})ffff:(.+)$/i.exec(address)?.[1];
  if (mapped === undefined) return address;
  if (mapped.includes('.')) return mapped;
  const bytes = mapped.split(':').flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  return bytes.join('.');
}
