import { describe, expect, it } from 'vitest';
import { addressMatcher, clientAddresses, unmapIpv4 } from '../../../src/gateway/security/client-address.ts';

describe('an IPv4 address that a dual-stack socket reports as IPv6', () => {
  it.each([
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['::ffff:7f00:1', '127.0.0.1'],
    ['::FFFF:7F00:0001', '127.0.0.1'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['0000:0000:0000:0000:0000:ffff:0102:0304', '1.2.3.4'],
  ])('%s is %s', (address, plain) => {
    expect(unmapIpv4(address)).toBe(plain);
  });

  it.each([
    '127.0.0.1',
    '::1',
    '2001:db8::1',
    '2001:db8:ffff::1',
    'ffff::1',
    '::ffff',
    'fe80::1%eth0',
    'fe80::ffff:1%eth0.1',
    '::ffff:1.2.3.999',
    '::ffff:nonsense',
    'ffff:',
    '',
  ])('%s is not one and stays as it is', (address) => {
    expect(unmapIpv4(address)).toBe(address);
  });
});

describe('a list of addresses and ranges', () => {
  const isListed = addressMatcher(['127.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/33', 'fe80::/10']);

  it.each([
    '127.0.0.1',
    '10.255.0.1',
    '::1',
    '0:0:0:0:0:0:0:1',
    '2001:db8:7fff::1',
    'fe80::1',
    'fe80::1%eth0.1',
  ])('has %s', (address) => {
    expect(isListed(address)).toBe(true);
  });

  it.each([
    '127.0.0.2',
    '11.0.0.1',
    '::2',
    '2001:db8:8000::1',
    'nonsense',
    '10.0.0',
    '0x0a.0.0.1',
    '010.0.0.1',
    '',
  ])('does not have %s', (address) => {
    expect(isListed(address)).toBe(false);
  });

  it('may write IPv4 ranges as IPv6', () => {
    const isListedAsIpv6 = addressMatcher(['::ffff:10.0.0.0/104']);
    expect(isListedAsIpv6('10.1.2.3')).toBe(true);
    expect(isListedAsIpv6('11.1.2.3')).toBe(false);
    expect(addressMatcher(['::/0'])('10.1.2.3')).toBe(true);
  });
});

describe('the address of a client', () => {
  it('is the peer of the connection when no proxy is trusted', () => {
    const addressOf = clientAddresses(false);
    expect(addressOf('::ffff:7f00:1', '1.1.1.1')).toBe('127.0.0.1');
    expect(addressOf('2001:db8::1', '1.1.1.1')).toBe('2001:db8::1');
  });

  it('is the last address in X-Forwarded-For that is not a trusted proxy', () => {
    const addressOf = clientAddresses(['127.0.0.1', '2001:db8::/32']);
    expect(addressOf('::ffff:7f00:1', '9.9.9.9, 1.1.1.1, 2001:db8::7')).toBe('1.1.1.1');
    expect(addressOf('127.0.0.1', '[2001:db9::1]:50001, [2001:db8::7]:443')).toBe('2001:db9::1');
    expect(addressOf('127.0.0.1', '::ffff:1.2.3.4')).toBe('1.2.3.4');
    expect(addressOf('127.0.0.1', undefined)).toBe('127.0.0.1');
    expect(addressOf('3.3.3.3', '1.1.1.1')).toBe('3.3.3.3');
  });

  it.each(['nonsense', '_hidden', '1.2.3', ':::', '999.1.1.1', '::ffff:x', 'fe80::1%a.b', '%', '['])(
    'may be the hop "%s", which is no address',
    (hop) => {
      expect(clientAddresses(['127.0.0.1'])('127.0.0.1', `1.1.1.1, ${hop}`)).toBe(hop);
    },
  );

  it('stays the last known hop when a hop is empty', () => {
    expect(clientAddresses(['127.0.0.1'])('127.0.0.1', ',,')).toBe('127.0.0.1');
    expect(clientAddresses(true)('127.0.0.1', '1.1.1.1, 2.2.2.2')).toBe('1.1.1.1');
  });
});
