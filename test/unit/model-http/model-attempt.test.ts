import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Attempt } from '../../../src/model-http/http/attempt.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const BEGUN = progress({ hasBegun: true });
const ENDING = progress({ hasBegun: true, hasEnding: true });
const DONE = progress({ hasBegun: true, hasEnding: true, isDone: true });

function progress(more: Partial<Record<'hasBegun' | 'hasEnding' | 'isDone', boolean>>) {
  const none = { hasBegun: false, hasEnding: false, isDone: false };
  return { ...none, hasSpoken: false, ...more };
}

function open({ timeoutMs = 60_000 } = {}): Attempt {
  return new Attempt(new AbortController().signal, { firstByteTimeoutMs: 300_000, timeoutMs });
}

/** Comments that keep the connection alive, one a second. */
function beatHearts(attempt: Attempt, seconds: number): void {
  for (let second = 0; second < seconds; second += 1) {
    vi.advanceTimersByTime(1_000);
    attempt.heard();
  }
}

describe('the request of a model', () => {
  it('ends five seconds after the finish reason, whatever keeps the connection alive', () => {
    const attempt = open();
    attempt.noteProgress(BEGUN);
    beatHearts(attempt, 100);
    attempt.noteProgress(ENDING);
    beatHearts(attempt, 4);
    expect(attempt.signal.aborted).toBe(false);
    attempt.noteProgress(ENDING);
    beatHearts(attempt, 1);
    expect(attempt.signal.aborted).toBe(true);
    expect(attempt.wasSilent).toBe(false);
  });

  it('ends at once after the last event, and after the finish reason where silence has a shorter limit', () => {
    const done = open();
    done.noteProgress(ENDING);
    done.noteProgress(DONE);
    vi.advanceTimersByTime(100);
    expect(done.signal.aborted).toBe(true);
    const impatient = open({ timeoutMs: 2_000 });
    impatient.noteProgress(ENDING);
    vi.advanceTimersByTime(2_000);
    expect(impatient.signal.aborted).toBe(true);
  });

  it('goes on where the reply goes on after a finish reason', () => {
    const attempt = open();
    attempt.noteProgress(ENDING);
    attempt.noteProgress(BEGUN);
    beatHearts(attempt, 100);
    expect(attempt.signal.aborted).toBe(false);
    vi.advanceTimersByTime(60_000);
    expect(attempt.wasSilent).toBe(true);
  });
});
