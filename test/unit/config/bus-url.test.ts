import { describe, expect, it } from 'vitest';
import { parseBusUrl } from '../../../src/config/addresses/bus-url.ts';

describe('the address of the bus', () => {
  it.each([
    ['nats://127.0.0.1:4222', { servers: ['127.0.0.1:4222'], isTls: false }],
    ['nats://bus', { servers: ['bus:4222'], shown: 'nats://bus' }],
    ['tls://bus:443', { servers: ['bus:443'], isTls: true, shown: 'tls://bus:443' }],
    ['nats://[::1]:4333', { servers: ['[::1]:4333'] }],
    ['nats://a, nats://b:1', { servers: ['a:4222', 'b:1'], shown: 'nats://a,nats://b:1' }],
  ])('%s is read', (url, expected) => {
    const anybody = { user: undefined, password: undefined, token: undefined };
    expect(parseBusUrl(url)).toMatchObject({ ...anybody, ...expected });
  });

  it('names a user and a password, whatever characters they have', () => {
    expect(parseBusUrl('nats://joe%40x:p%3Aw%2F@bus')).toMatchObject({
      user: 'joe@x',
      password: 'p:w/',
      token: undefined,
      shown: 'nats://bus',
    });
  });

  it('names a token, which is no user', () => {
    expect(parseBusUrl('nats://s3cret@bus')).toMatchObject({
      user: undefined,
      password: undefined,
      token: 's3cret',
      shown: 'nats://bus',
    });
  });

  it.each([
    'bus:4222',
    'http://bus',
    'nats://',
    'nats://user:s3cret@',
    'nats://user:s3cret@bus:port',
    'nats://bus,',
    'nats://user:s3cret@bus,http://bus',
    'nats://user:s3cret%@bus',
    '',
  ])('%s is refused, and the error does not repeat it', (url) => {
    let message = '';
    try {
      parseBusUrl(url);
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('the bus must be the address of a NATS server');
    expect(message).not.toContain('s3cret');
  });
});
