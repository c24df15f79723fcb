import { describe, expect, it } from 'vitest';
import { streamUrl, webUrl } from '../../../src/client/stream-url.ts';

describe('the address of a service', () => {
  it('may be that of a page with a fragment', () => {
    const target = { session: 's', reasoning: false, time: false, statecharts: false };
    const base = webUrl('https://host/path#part');
    expect(streamUrl({ base, ...target }, { seq: 0, turnId: null, step: null, offset: 0 })).toBe(
      'wss://host/path?session=s&after=0',
    );
  });

  it('has no user and no password', () => {
    expect(() => webUrl('http://ada:secret@host/')).toThrowError(/use token/);
    expect(() => webUrl('file:///etc')).toThrowError(/must begin with http/);
  });
});
