import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../src/network/public-address.ts';

describe('an address of the public internet', () => {
  it.each(['8.8.8.8', '93.184.215.14', '2606:4700::1111', '2a00:1450:4001:80b::200e', '::ffff:8.8.8.8'])(
    'is %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ...['127.0.0.1', '127.8.8.8', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '192.0.0.8', '192.0.2.1', '198.18.0.1', '203.0.113.9', '224.0.0.1'],
    ...['240.0.0.1', '255.255.255.255', '::', '::1', '::127.0.0.1', '::808:808', '::ffff:10.0.0.1'],
    ...['fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd12::1', 'fec0::1', 'ff02::1', '2001:db8::1', '100::1'],
    // They lead to an address of IPv4, which may be private.
    ...['64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001:0:1::'],
    ...['', 'localhost', '8.8.8', '08.8.8.8', '4000::1'],
  ])('is not %s', (address) => expect(isPublicAddress(address)).toBe(false));
});
