import { expect, it } from 'vitest';
import { BearerAuthenticator } from '../../../src/gateway/security/bearer-authenticator.ts';
import { type BearerHeader, BearerHeaders } from '../../../src/gateway/security/bearer-headers.ts';
import { FailedAttempts } from '../../../src/gateway/security/failed-attempts.ts';
import { Tickets } from '../../../src/gateway/security/tickets.ts';
import { identity, KnownTokens } from '../../support/access/known-tokens.ts';

const END = 'x'.repeat(24);
const verifier = new KnownTokens({});
const accepted = (token: string): BearerHeader => ({ header: `Bearer ${token}`, token, verifier });

it('only a header that was accepted is known, character by character', () => {
  const headers = new BearerHeaders();
  headers.keep(accepted(`a${END}`));
  expect(headers.find(`Bearer a${END}`)?.token).toBe(`a${END}`);
  expect(headers.find(`Bearer b${END}`)).toBeUndefined();
  expect(headers.find(`bearer a${END}`)).toBeUndefined();
});

it('as many are known as have room', () => {
  const headers = new BearerHeaders();
  headers.keep(accepted(END.padStart(5_000, 'long')));
  expect(headers.find(`Bearer ${END.padStart(5_000, 'long')}`)).toBeUndefined();
  for (let index = 0; index <= 1_000; index += 1) headers.keep(accepted(`${END}${index}`));
  expect(headers.find(`Bearer ${END}0`)).toBeUndefined();
  expect(headers.find(`Bearer ${END}1000`)).toBeDefined();
});

it('a token that is not accepted any more is refused, although its header is known', async () => {
  const ada = identity('ada');
  let isRevoked = false;
  const revocable = {
    principals: ['test:'],
    recognizes: () => true,
    subjectOf: () => null,
    verify: (token: string) => (isRevoked ? verifier.verify(token) : ada),
  };
  const authenticator = new BearerAuthenticator({
    verifiers: [revocable],
    tickets: new Tickets(),
    failures: new FailedAttempts(async () => undefined),
    inTurn: (_, work) => work(),
  });
  const request = { headers: new Map([['authorization', 'Bearer test-ada']]), query: '' };
  const first = authenticator.authenticate(request, '127.0.0.1');
  expect(first).toMatchObject({ principal: 'test:ada' });
  expect(authenticator.authenticate(request, '127.0.0.1')).toBe(first);
  isRevoked = true;
  await expect(authenticator.authenticate(request, '127.0.0.1')).rejects.toMatchObject({
    code: 'UNAUTHORIZED',
  });
});
