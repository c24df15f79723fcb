import { Badge, type Tone } from '../ui/badge.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import { span } from '../ui/time.ts';
import { Chart } from './chart.tsx';
import style from './health.module.css';
import { meanOf, quantileOf, type Reading, rateOf, readingOf, type Sample } from './samples.ts';
import { useSamples } from './use-samples.ts';

type Between = (before: Sample, after: Sample) => Reading;

const count = (value: number): string => Math.round(value).toLocaleString('en');
const perSecond = (value: number): string => `${value < 10 ? value.toFixed(1) : count(value)}/s`;
const seconds = (value: number): string =>
  value < 0.01 ? `${(value * 1_000).toFixed(2)} ms` : span(value * 1_000);
const megabytes = (value: number): string => `${count(value / 1024 / 1024)} MB`;
const percent = (value: number): string => `${count(value * 100)} %`;

/** Do not add up all directions: `cached` is part of `input`, and `reasoning` is part of `output`. */
const TOKENS = 'agent_tokens_total';

const charts: readonly {
  readonly title: string;
  readonly read: Between;
  readonly format: (v: number) => string;
}[] = [
  { title: 'Turns', read: (a, b) => rateOf(a, b, 'agent_turns_total'), format: perSecond },
  { title: 'Chunks streamed', read: (a, b) => rateOf(a, b, 'agent_chunks_total'), format: perSecond },
  { title: 'Tokens in', read: (a, b) => rateOf(a, b, TOKENS, { direction: 'input' }), format: perSecond },
  { title: 'Tokens out', read: (a, b) => rateOf(a, b, TOKENS, { direction: 'output' }), format: perSecond },
  {
    title: 'Model: first text',
    read: (a, b) => meanOf(a, b, 'agent_model_first_text_seconds'),
    format: seconds,
  },
  {
    title: 'Model: whole call',
    read: (a, b) => meanOf(a, b, 'agent_model_call_duration_seconds'),
    format: seconds,
  },
  { title: 'Tool calls', read: (a, b) => meanOf(a, b, 'agent_tool_call_duration_seconds'), format: seconds },
  {
    title: 'Append to the log',
    read: (a, b) => meanOf(a, b, 'agent_append_duration_seconds'),
    format: seconds,
  },
  {
    title: 'Append, 99th percentile',
    read: (a, b) => quantileOf(a, b, 'agent_append_duration_seconds', 0.99),
    format: seconds,
  },
  { title: 'Messages waiting', read: (_, b) => readingOf(b, 'agent_messages_waiting'), format: count },
  {
    title: 'Event loop delay, 99th percentile',
    read: (_, b) => readingOf(b, 'agent_event_loop_lag_seconds', { quantile: '0.99' }),
    format: seconds,
  },
  { title: 'CPU of one core', read: (a, b) => rateOf(a, b, 'process_cpu_seconds_total'), format: percent },
  { title: 'Memory', read: (_, b) => readingOf(b, 'process_resident_memory_bytes'), format: megabytes },
];

const serverTones: Readonly<Record<string, Tone>> = { connected: 'good', connecting: 'accent', error: 'bad' };

/** The state of the service: now, and over the last five minutes. */
export function HealthPanel() {
  const { samples, problem } = useSamples();
  const last = samples.at(-1);
  return (
    <>
      <PanelHeader title="Health">
        {problem === null ? <Badge tone="good">healthy</Badge> : <Badge tone="bad">not answering</Badge>}
      </PanelHeader>
      <div className={style.health}>
        {problem !== null && (
          <p role="alert" className={style.problem}>
            {problem}
          </p>
        )}
        {last && <Tiles sample={last} />}
        <section aria-label="The last five minutes" className={style.charts}>
          {charts.map(({ title, read, format }) => (
            <Chart key={title} title={title} values={series(samples, read)} format={format} />
          ))}
        </section>
      </div>
    </>
  );
}

function series(samples: readonly Sample[], read: Between): Reading[] {
  return samples.slice(1).map((after, index) => read(samples[index] ?? after, after));
}

function Tiles({ sample }: { readonly sample: Sample }) {
  const read = (name: string, labels = {}): number => readingOf(sample, name, labels) ?? 0;
  const tokens = (direction: string): number => read(TOKENS, { direction });
  const uptimeMs = read('process_uptime_seconds') * 1_000;
  return (
    <dl className={style.tiles}>
      <Tile name="Up for" value={span(uptimeMs)} />
      <Tile
        name="Turns"
        value={count(read('agent_turns_total'))}
        note={`${count(read('agent_turns_running'))} running, ${count(read('agent_turns_total', { outcome: 'failed' }))} failed`}
      />
      <Tile name="Sessions in memory" value={count(read('agent_sessions'))} />
      <Tile
        name="Open streams"
        value={count(read('agent_sockets'))}
        note={`${count(read('agent_sockets', { kind: 'websocket' }))} WebSockets`}
      />
      <Tile
        name="Tokens"
        value={count(tokens('input') + tokens('output'))}
        note={[
          `${count(tokens('input'))} in (${count(tokens('cached'))} cached)`,
          `${count(tokens('output'))} out (${count(tokens('reasoning'))} reasoning)`,
        ].join(', ')}
      />
      <div className={style.tile}>
        <dt>Tool servers</dt>
        <dd className={style.servers}>
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
        </dd>
      </div>
    </dl>
  );
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
}

function Tile({ name, value, note }: TileProps) {
  return (
    <div className={style.tile}>
      <dt>{name}</dt>
      <dd>
        {value}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}
