import { describe, expect, it } from 'vitest';
import { auditFilter } from '../../../src/cli/audit/audit-filter.ts';

const NOON = Date.parse('2026-11-23T12:00:00Z');
const HOUR_MS = 60 * 60_000;

describe('the filter of audit', () => {
  it('takes times and ages', () => {
    expect(auditFilter({ since: '24h', until: '1h' }, NOON)).toMatchObject({
      since: NOON - 24 * HOUR_MS,
      until: NOON - HOUR_MS,
    });
    expect(auditFilter({ since: '2026-11-01' }, NOON).since).toBe(Date.parse('2026-11-01T00:00:00Z'));
    expect(auditFilter({ since: '2026-11-01T12:00:00+01:00' }, NOON).since).toBe(
      Date.parse('2026-11-01T11:00:00Z'),
    );
    expect(auditFilter({}, NOON)).not.toHaveProperty('since');
  });

  it.each(['2026-02-30', '2026-02-30T12:00:00Z', '2026-13-01', '2026-11-23T99'])(
    'refuses %s, which is in no calendar',
    (text) => {
      expect(() => auditFilter({ until: text }, NOON)).toThrow(`--until: "${text}" is no time`);
    },
  );

  it.each(['soon', '0h', '24', '5m'])('refuses %s with examples', (text) => {
    expect(() => auditFilter({ since: text }, NOON)).toThrow(/--since: found .* 24h, 7d, 4w/);
  });

  it('refuses a principal that nobody can be', () => {
    expect(() => auditFilter({ principal: 'ci' }, NOON)).toThrow('expected a principal such as key:ci');
    for (const principal of ['key:ci', 'local:root', 'anonymous'])
      expect(auditFilter({ principal }, NOON)).toMatchObject({ principal });
  });

  it('refuses an end that is not after the start', () => {
    expect(() => auditFilter({ since: '1h', until: '2h' }, NOON)).toThrow('--until: found "2h"');
  });
});
