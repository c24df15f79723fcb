import type { ReactNode } from 'react';
import type { MetricSamples } from '../../core/metric-samples.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { count, fileSize, quantity } from '../ui/quantity.ts';
import { span } from '../ui/time.ts';
import { TOKENS } from './charts.ts';
import style from './health.module.css';
import { presentOf } from './samples.ts';
import { useLogSize } from './use-log-size.ts';

const serverTones: Readonly<Record<string, Tone>> = { connected: 'good', connecting: 'accent', error: 'bad' };

/** The state of the service now, in figures. */
export function Tiles({ samples }: { readonly samples: MetricSamples }) {
  const log = useLogSize();
  const read = (name: string, labels = {}): number => presentOf(samples, name, labels);
  const tokens = (direction: string): number => read(TOKENS, { direction });
  const streams = (kind: string): number => read('agent_sockets', { kind });
  return (
    <dl className={style.tiles}>
      <Tile name="Up for">{span(read('process_uptime_seconds') * 1_000)}</Tile>
      <Tile
        name="Turns"
        note={`${count(read('agent_turns_running'))} running, ${count(read('agent_turns_total', { outcome: 'failed' }))} failed`}
      >
        {count(read('agent_turns_total'))}
      </Tile>
      <Tile name="Sessions in memory">{count(read('agent_sessions'))}</Tile>
      <Tile
        name="Open streams"
        note={`${quantity(streams('websocket'), 'WebSocket')}, ${quantity(streams('event_stream') + streams('statecharts'), 'event stream')}`}
      >
        {count(read('agent_sockets'))}
      </Tile>
      <Tile
        name="Tokens"
        note={[
          `${count(tokens('input'))} in (${count(tokens('cached'))} cached)`,
          `${count(tokens('output'))} out (${count(tokens('reasoning'))} reasoning)`,
        ].join(', ')}
      >
        {count(tokens('input') + tokens('output'))}
      </Tile>
      {log && (
        <Tile name="Event log" note={log.bytes === 0 ? 'in memory' : fileSize(log.bytes)}>
          {quantity(log.events, 'event')}
        </Tile>
      )}
      <Tile name="Tool servers">
        <span className={style.servers}>
          {['connected', 'connecting', 'error', 'disconnected'].map((status) => {
            const servers = read('agent_mcp_servers', { status });
            return (
              servers > 0 && (
                <Badge key={status} tone={serverTones[status] ?? 'neutral'}>
                  {servers} {status}
                </Badge>
              )
            );
          })}
          {read('agent_mcp_servers') === 0 && 'none'}
        </span>
      </Tile>
    </dl>
  );
}

interface TileProps {
  readonly name: string;
  readonly note?: string;
  readonly children: ReactNode;
}

function Tile({ name, note, children }: TileProps) {
  return (
    <div className={style.tile}>
      <dt>{name}</dt>
      <dd>
        {children}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}
