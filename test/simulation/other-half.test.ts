import { describe, it } from 'vitest';
import { runHalf, TIMEOUT_MS, TITLE } from '../support/simulation/run-schedules.ts';

describe('three nodes in one process, by the other half of the schedules', () => {
  it(TITLE, { timeout: TIMEOUT_MS }, () => runHalf(1));
});
