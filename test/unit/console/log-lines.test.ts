import { expect, it } from 'vitest';
import { joined } from '../../../src/console/servers/log-lines.ts';
import type { ServerLogLine } from '../../../src/core/tool-server/server-log.ts';

const lines = (...seqs: number[]): ServerLogLine[] =>
  seqs.map((seq) => ({ seq, time: '2026-01-01T00:00:00.000Z', source: 'stderr', text: `line ${seq}` }));

it('later lines follow the known ones, of which the last 200 stay', () => {
  expect(joined(lines(1), lines(2, 3))).toEqual(lines(1, 2, 3));
  expect(joined(lines(1, 2), [])).toEqual(lines(1, 2));
  const many = lines(...Array.from({ length: 200 }, (_, index) => index + 1));
  expect(joined(many, lines(201))).toEqual([...many.slice(1), ...lines(201)]);
});

it('lines of a service that was restarted replace all that is known', () => {
  expect(joined(lines(7, 8), lines(1, 2))).toEqual(lines(1, 2));
});
