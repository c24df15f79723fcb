import type { NodeListItem } from '../../core/node-list-item.ts';
import { usePolled } from '../service/use-polled.ts';
import { Badge } from '../ui/badge.tsx';
import { count } from '../ui/quantity.ts';
import { duration, span } from '../ui/time.ts';
import style from './health.module.css';

const INTERVAL_MS = 10_000;

/** The nodes of the cluster; nothing if the service has its log to itself. */
export function Nodes() {
  const answer = usePolled<{ nodes: readonly NodeListItem[]; timestamp: string }>('/api/nodes', INTERVAL_MS);
  if (answer === null || answer.nodes.length === 0) return null;
  return (
    <section aria-label="Nodes" className={style.group}>
      <h2>Nodes</h2>
      <div className={style.nodes}>
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Address</th>
              <th scope="col">Version</th>
              <th scope="col">Up for</th>
              <th scope="col">Lease</th>
              <th scope="col">Sessions</th>
              <th scope="col">Turns</th>
              <th scope="col">Waiting</th>
            </tr>
          </thead>
          <tbody>
            {answer.nodes.map((node) => (
              <Node key={node.nodeId} node={node} now={answer.timestamp} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Node({ node, now }: { readonly node: NodeListItem; readonly now: string }) {
  const { nodeId, isThis, name, address, version, since, leaseMs, isDraining, sessions, turns, waiting } =
    node;
  return (
    <tr>
      <th scope="row" title={name}>
        {nodeId} {isThis && <Badge tone="accent">this one</Badge>}{' '}
        {isDraining && <Badge tone="neutral">stopping</Badge>}
      </th>
      <td>{address ?? name}</td>
      <td>{version}</td>
      <td>{duration(since, now)}</td>
      <td>{span(leaseMs)}</td>
      <td>{count(sessions)}</td>
      <td>{count(turns)}</td>
      <td>{count(waiting)}</td>
    </tr>
  );
}
