import { describe, expect, it } from 'vitest';
import { sessionIdOf, sessionNameFor } from '../../../src/core/access/session-names.ts';
import { SessionId } from '../../../src/core/ids.ts';

/** The longest names that credentials may have: of a tenant, of an issuer of tokens, and of a person there. */
const TENANT = 'a'.repeat(64);
const ISSUER = 'i'.repeat(20);

describe('the id of a session of somebody', () => {
  it.each([
    ['letters', 'x'.repeat(200)],
    ['characters that are written as three bytes', '\u6f22'.repeat(200)],
    ['characters that are written as four bytes', '\u{1f600}'.repeat(100)],
    ['characters that separate the parts of an id', "/%!'()*~".repeat(25)],
  ])('can be read from the log, whoever that is: %s', (_, subject) => {
    const owner = { tenant: TENANT, principal: `${ISSUER}:${subject}` };
    const id = sessionIdOf('s'.repeat(128), owner);
    expect(SessionId.parse(id)).toBe(id);
    expect(sessionNameFor(id, owner)).toBe('s'.repeat(128));
  });
});
