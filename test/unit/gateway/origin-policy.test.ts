import { describe, expect, it } from 'vitest';
import { OriginPolicy } from '../../../src/gateway/security/origin-policy.ts';

const policy = new OriginPolicy({
  listenHost: '127.0.0.1',
  allowedHosts: ['a.example'],
  allowedOrigins: [],
});

describe('a page of the service itself', () => {
  it.each([
    ['https://a.example', 'a.example'],
    ['https://a.example', 'A.example:443'],
    ['http://a.example', 'a.example:80'],
    ['https://a.example:8443', 'a.example:8443'],
    ['http://[::1]', '[::1]:80'],
  ])('is %s at the host %s', (origin, host) => {
    expect(() => policy.checkOrigin(origin, host)).not.toThrow();
  });

  it.each([
    ['https://a.example', 'a.example:8443'],
    ['https://a.example', 'a.example:80'],
    ['https://a.example:8443', 'a.example'],
    ['https://b.example', 'a.example:443'],
    ['https://a.example', 'a.example:'],
    ['x://a.example', 'a.example:undefined'],
    ['https://a.example', undefined],
    ['null', 'a.example'],
  ])('is not %s at the host %s', (origin, host) => {
    expect(() => policy.checkOrigin(origin, host)).toThrow('Pages of this origin may not use the service.');
  });
});
