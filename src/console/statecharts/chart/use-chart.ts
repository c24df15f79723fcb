import ELK from 'elkjs/lib/elk.bundled.js';
import { useEffect, useMemo, useState } from 'react';
import { type Chart, chartOf } from './chart.ts';
import { type ChartLayout, layoutChart } from './chart-layout.ts';
import { type MachineKind, machineOf } from './machine-of.ts';

export type Charts = Readonly<Record<MachineKind, Chart>>;

/** The charts of all kinds of machines. A chart that stays the same object is laid out only once. */
export function useCharts(): Charts {
  return useMemo(
    () => ({ turn: chartOf(machineOf.turn), 'mcp-server': chartOf(machineOf['mcp-server']) }),
    [],
  );
}

interface Drawing {
  readonly of: Chart;
  /** Null when the layout failed. */
  readonly layout: ChartLayout | null;
}

/** The layout of a chart: `drawing` until it is ready, null when it failed. */
export function useLayout(chart: Chart): ChartLayout | 'drawing' | null {
  const [made, setMade] = useState<Drawing | null>(null);
  useEffect(() => {
    let isWanted = true;
    const show = (layout: ChartLayout | null) => {
      if (isWanted) setMade({ of: chart, layout });
    };
    layoutChart(chart, new ELK()).then(show, (error: unknown) => {
      reportError(error);
      show(null);
    });
    return () => {
      isWanted = false;
    };
  }, [chart]);
  return made?.of === chart ? made.layout : 'drawing';
}
