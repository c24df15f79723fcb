import { describe, expect, it } from 'vitest';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { SchemaVerdict } from '../../../src/ports/schema-check.ts';
import { UsableSchemas } from '../../../src/runtime/requests/usable-schemas.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';

const client = (principal: string) => ({ ...ANYONE, principal });

/** Checks that come to an end when the test says so. */
function start() {
  const checks: { title: unknown; end: (verdict: SchemaVerdict) => void }[] = [];
  const usable = new UsableSchemas({
    ofClient: ({ title }) => new Promise((end) => checks.push({ title, end })),
  });
  const message = (principal: string, title: string) =>
    usable.require({ output: { name: 'reply', schema: { title } } }, client(principal));
  return { usable, checks, message, titles: () => checks.map(({ title }) => title) };
}

describe('the schemas of messages', () => {
  it('of one client wait for each other, and hold up no other client', async () => {
    const { checks, message, titles } = start();
    const ofAda = ['1', '2', '3'].map((title) => message('ada', title));
    const ofBob = message('bob', 'of bob');
    await nextLoop();
    expect(titles()).toEqual(['1', 'of bob']);
    checks[1]?.end({});
    await ofBob;
    checks[0]?.end({ unusable: 'it is none' });
    await expect(ofAda[0]).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await nextLoop();
    expect(titles()).toEqual(['1', 'of bob', '2']);
    checks[2]?.end({});
    await ofAda[1];
    await nextLoop();
    checks[3]?.end({});
    await ofAda[2];
    expect(titles()).toEqual(['1', 'of bob', '2', '3']);
  });

  it('are checked with the reply only, if more of one client wait than may', async () => {
    const { message } = start();
    for (let number = 0; number < 100; number += 1) expect(message('ada', `${number}`)).toBeDefined();
    expect(message('ada', 'one more')).toBeUndefined();
    expect(message('bob', 'of bob')).toBeDefined();
  });

  it('are no matter where there is none', () => {
    expect(start().usable.require({}, client('ada'))).toBeUndefined();
  });
});
