import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectionWatch, type WatchOptions } from '../../../src/cli/chat/connection-watch.ts';
import { Screen } from '../../../src/cli/chat/screen.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watch(isPatient: boolean, options: Partial<WatchOptions> = {}) {
  const notes = new PassThrough({ encoding: 'utf8' });
  const parts = { replies: notes, notes, isTerminal: false, hasColours: false };
  const connection = new ConnectionWatch(new Screen(parts), { isPatient, ...options });
  const failure = vi.fn<(error: unknown) => void>();
  connection.gaveUp.catch(failure);
  return { connection, failure, shown: () => String(notes.read() ?? '') };
}

describe('the connection of a chat', () => {
  it('is spoken of when it was lost and when it is back, not at its beginning', () => {
    const { connection, shown } = watch(true);
    connection.note('connecting');
    connection.note('live');
    expect(shown()).toBe('');
    connection.note('connecting');
    connection.note('live');
    expect(shown()).toBe('the connection is lost; reconnecting\nconnected again\n');
  });

  it('says where the conversation stands when it is back, and shows the question again', () => {
    const onReport = vi.fn();
    const { connection, shown } = watch(true, { standing: () => '; it is your turn', onReport });
    connection.note('live');
    connection.note('connecting');
    connection.note('live');
    expect(shown()).toContain('connected again; it is your turn\n');
    expect(onReport).toHaveBeenCalledTimes(2);
  });

  it('is given up by a script after 15 seconds, by a person when the person likes', async () => {
    const script = watch(false);
    const person = watch(true);
    for (const { connection } of [script, person]) {
      connection.note('live');
      connection.note('connecting');
    }
    await vi.advanceTimersByTimeAsync(14_999);
    expect(script.failure).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(script.failure).toHaveBeenCalledWith(new Error('the service did not come back within 15 seconds'));
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(person.failure).not.toHaveBeenCalled();
  });

  it('is not given up when it is back in time', async () => {
    const { connection, failure } = watch(false);
    connection.note('connecting');
    await vi.advanceTimersByTimeAsync(10_000);
    connection.note('live');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(failure).not.toHaveBeenCalled();
  });
});
