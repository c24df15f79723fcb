import '@xyflow/react/dist/base.css';
import { Background, type EdgeTypes, type NodeTypes, ReactFlow, ReactFlowProvider } from '@xyflow/react';
import { useMemo } from 'react';
import { ArrowEdge } from './arrow-edge.tsx';
import style from './chart.module.css';
import type { Chart } from './chart.ts';
import { ChartCanvas } from './chart-canvas.tsx';
import { edgesOf, type Lit, nodesOf } from './chart-flow.ts';
import { boxOf } from './chart-layout.ts';
import { StateNode } from './state-node.tsx';
import { ZOOM } from './use-camera.ts';
import { useLayout } from './use-chart.ts';

const nodeTypes: NodeTypes = { state: StateNode };
const edgeTypes: EdgeTypes = { arrow: ArrowEdge };

/** The drawing of a machine. The words beside it say the same. */
export function ChartView({ chart, lit }: { readonly chart: Chart; readonly lit: Lit }) {
  const drawing = useLayout(chart);
  const layout = drawing === 'drawing' ? null : drawing;
  const nodes = useMemo(() => (layout ? nodesOf(chart, layout, lit) : []), [chart, layout, lit]);
  const edges = useMemo(() => (layout ? edgesOf(chart, layout, lit) : []), [chart, layout, lit]);
  const focus = useMemo(() => boxOf(chart, layout, lit.active.at(-1)), [chart, layout, lit]);
  if (!layout) {
    const text =
      drawing === null ? 'The chart could not be drawn. The words beside it say the same.' : 'Drawing…';
    return <p className={style.drawing}>{text}</p>;
  }
  return (
    <ReactFlowProvider key={chart.id}>
      <ChartCanvas name={chart.id} width={layout.width} height={layout.height} focus={focus}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          minZoom={ZOOM.min}
          maxZoom={ZOOM.max}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
        >
          <Background gap={24} />
        </ReactFlow>
      </ChartCanvas>
    </ReactFlowProvider>
  );
}
