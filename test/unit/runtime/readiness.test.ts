import { afterEach, describe, expect, it, vi } from 'vitest';
import { Readiness } from '../../../src/runtime/requests/readiness.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const NOT_WRITABLE = ['the event log cannot be written; the log of the service has the cause'];

function rig() {
  const state = { at: 0, draining: false, probes: 0, outcome: (): Promise<void> => Promise.resolve() };
  const log = recordingLog();
  const readiness = new Readiness({
    probe: () => {
      state.probes += 1;
      return state.outcome();
    },
    isDraining: () => state.draining,
    log,
    now: () => state.at,
  });
  return { state, log, readiness };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('whether the service is ready', () => {
  it('is tried with one write for all who ask within five seconds', async () => {
    const { state, readiness } = rig();
    await Promise.all(Array.from({ length: 100 }, () => readiness.problems()));
    state.at = 4_999;
    expect(await readiness.problems()).toEqual([]);
    expect(state.probes).toBe(1);
    state.at = 5_000;
    expect(await readiness.problems()).toEqual([]);
    expect(state.probes).toBe(2);
  });

  it('is no while the log cannot be written, is tried again after a second, and is logged once', async () => {
    const { state, log, readiness } = rig();
    state.outcome = () => Promise.reject(new Error('disk full at /private/path'));
    expect(await readiness.problems()).toEqual(NOT_WRITABLE);
    state.at = 1_000;
    expect(await readiness.problems()).toEqual(NOT_WRITABLE);
    expect(state.probes).toBe(2);
    state.at = 1_999;
    state.outcome = () => Promise.resolve();
    expect(await readiness.problems()).toEqual(NOT_WRITABLE);
    state.at = 2_000;
    expect(await readiness.problems()).toEqual([]);
    expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
  });

  it('is no when the disk hangs, and the disk is not asked again meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { state, readiness } = rig();
    const hanging = Promise.withResolvers<void>();
    state.outcome = () => hanging.promise;
    const first = readiness.problems();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await first).toEqual(['the event log does not answer']);
    state.at = 60_000;
    const second = readiness.problems();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await second).toEqual(['the event log does not answer']);
    expect(state.probes).toBe(1);
    hanging.resolve();
    await hanging.promise;
    expect(await readiness.problems()).toEqual([]);
  });

  it('is no while the service is stopping, and the log is left alone', async () => {
    const { state, readiness } = rig();
    state.draining = true;
    expect(await readiness.problems()).toEqual(['the service is stopping']);
    expect(state.probes).toBe(0);
  });
});
