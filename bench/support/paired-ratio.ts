import { spread } from './statistics.ts';

/** The ratio of two values that were measured in pairs. */
export interface PairedRatio {
  readonly median: number;
  /** The interval that holds the ratio with the wanted confidence. */
  readonly low: number;
  readonly high: number;
}

/**
 * Student's interval around the mean of the logarithms of the ratios. A ratio of 2 is then as far from 1 as a ratio of
 * 0.5, and one disturbed pair makes the interval wide instead of the verdict wrong.
 * @param pairs At least two, of positive numbers.
 * @param confidence Such as 0.95.
 */
export function pairedRatio(
  pairs: readonly (readonly [of: number, to: number])[],
  confidence: number,
): PairedRatio {
  const logs = pairs.map(([of, to]) => Math.log(of / to));
  const mean = sum(logs) / logs.length;
  const variance = sum(logs.map((log) => (log - mean) ** 2)) / (logs.length - 1);
  const reach = studentQuantile(confidence, logs.length - 1) * Math.sqrt(variance / logs.length);
  return {
    median: spread(pairs.map(([of, to]) => of / to)).median,
    low: Math.exp(mean - reach),
    high: Math.exp(mean + reach),
  };
}

const BISECTIONS = 200;

/** The t that Student's distribution stays within, on both sides of 0, with this probability. */
export function studentQuantile(probability: number, degrees: number): number {
  let low = 0;
  let high = 1;
  while (withinProbability(high, degrees) < probability) high *= 2;
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2;
    if (withinProbability(middle, degrees) < probability) low = middle;
    else high = middle;
  }
  return high;
}

/** The probability of |T| ≤ t. Abramowitz and Stegun, 26.7.3 and 26.7.4. */
function withinProbability(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const cosine = Math.cos(angle);
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? cosine : 1;
  let series = degrees === 1 ? 0 : term;
  for (let power = isOdd ? 3 : 2; power <= degrees - 2; power += 2) {
    term *= ((power - 1) / power) * cosine ** 2;
    series += term;
  }
  const tail = Math.sin(angle) * series;
  return isOdd ? (2 / Math.PI) * (angle + tail) : tail;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
