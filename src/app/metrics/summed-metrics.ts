import type { Reading, ReadingSource } from '../../ports/metrics.ts';
import { ForwardingMetrics, type ReadName } from './forwarding-metrics.ts';

/** Metrics of several agents: what each of them has under a name and labels is added up. */
export class SummedMetrics extends ForwardingMetrics {
  readonly #sources = new Map<ReadName, ReadingSource<ReadName>[]>();

  override read<N extends ReadName>(name: N, source: ReadingSource<N>): void {
    const known = this.#sources.get(name);
    if (known) {
      known.push(source);
      return;
    }
    const sources: ReadingSource<ReadName>[] = [source];
    this.#sources.set(name, sources);
    super.read(name, async () => summed((await Promise.all(sources.map((read) => read()))).flat()));
  }
}

function summed<N extends ReadName>(readings: readonly Reading<N>[]): Reading<N>[] {
  const byLabels = new Map<string, Reading<N>>();
  for (const reading of readings) {
    const key = JSON.stringify(reading.labels);
    const value = reading.value + (byLabels.get(key)?.value ?? 0);
    byLabels.set(key, { ...reading, value });
  }
  return [...byLabels.values()];
}
