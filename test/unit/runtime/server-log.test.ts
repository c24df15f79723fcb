import { expect, it } from 'vitest';
import { ServerLog } from '../../../src/runtime/tools/server-log.ts';

function logOf(...texts: string[]): ServerLog {
  const log = new ServerLog();
  for (const text of texts) log.add({ source: 'stderr', text });
  return log;
}

const textsAfter = (log: ServerLog, seq: number) =>
  log.after(seq).map((line) => (line.source === 'stderr' ? line.text : line.source));

it('the log of a tool server has the lines after a number, and none after its last', () => {
  const log = logOf('one', 'two', 'three');
  expect(textsAfter(log, 1)).toEqual(['two', 'three']);
  expect(textsAfter(log, 3)).toEqual([]);
});

it('the log has all its lines for a reader who has more of the log before a restart', () => {
  expect(textsAfter(logOf('one', 'two'), 9)).toEqual(['one', 'two']);
  expect(textsAfter(logOf(), 9)).toEqual([]);
});
