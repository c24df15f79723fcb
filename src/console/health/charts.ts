import type { MetricSamples } from '../../core/metric-samples.ts';
import { count } from '../ui/quantity.ts';
import { span } from '../ui/time.ts';
import { type Reading, ratesOf, valuesOf } from './samples.ts';

/** What a chart shows. */
export interface ChartSource {
  readonly title: string;
  readonly read: (samples: MetricSamples) => Reading[];
  readonly format: (value: number) => string;
  /** Whether a value holds for the whole time since the one before, as a rate does. */
  readonly isOfInterval: boolean;
}

export interface ChartGroup {
  readonly title: string;
  readonly charts: readonly ChartSource[];
}

const perSecond = (value: number): string => `${value < 10 ? value.toFixed(1) : count(value)}/s`;
const seconds = (value: number): string =>
  value < 0.01 ? `${(value * 1_000).toFixed(2)} ms` : span(value * 1_000);
const megabytes = (value: number): string => `${count(value / 1024 / 1024)} MB`;
const percent = (value: number): string => `${count(value * 100)} %`;

type Labels = Readonly<Record<string, string>>;

const rate = (title: string, name: string, labels: Labels = {}): ChartSource => ({
  title,
  read: (samples) => ratesOf(samples, name, labels),
  format: perSecond,
  isOfInterval: true,
});
const mean = (title: string, name: string): ChartSource => ({
  title,
  read: (samples) => valuesOf(samples, name, {}, 'mean'),
  format: seconds,
  isOfInterval: true,
});
const amount = (title: string, name: string): ChartSource => ({
  title,
  read: (samples) => valuesOf(samples, name),
  format: count,
  isOfInterval: false,
});

/** Do not add up all directions: `cached` is part of `input`, and `reasoning` is part of `output`. */
export const TOKENS = 'agent_tokens_total';
const APPEND = 'agent_append_duration_seconds';

/** The charts of the health panel. */
export const chartGroups: readonly ChartGroup[] = [
  {
    title: 'Work',
    charts: [
      rate('Turns', 'agent_turns_total'),
      rate('Failed turns', 'agent_turns_total', { outcome: 'failed' }),
      amount('Turns running', 'agent_turns_running'),
      amount('Messages waiting', 'agent_messages_waiting'),
    ],
  },
  {
    title: 'Model and tools',
    charts: [
      rate('Chunks streamed', 'agent_chunks_total'),
      rate('Tokens in', TOKENS, { direction: 'input' }),
      rate('Tokens out', TOKENS, { direction: 'output' }),
      mean('Model: first text', 'agent_model_first_text_seconds'),
      mean('Model: whole call', 'agent_model_call_duration_seconds'),
      mean('Tool calls', 'agent_tool_call_duration_seconds'),
    ],
  },
  {
    title: 'Clients',
    charts: [
      amount('Open streams', 'agent_sockets'),
      rate('Requests', 'agent_http_requests_total'),
      rate('Requests that failed (5xx)', 'agent_http_requests_total', { status: '5xx' }),
      rate('Refused by a limit', 'agent_rate_limited_total'),
    ],
  },
  {
    title: 'Log and process',
    charts: [
      mean('Append to the log', APPEND),
      {
        title: 'Append, 99th percentile',
        read: (samples) => valuesOf(samples, APPEND, {}, 'p99'),
        format: seconds,
        isOfInterval: true,
      },
      {
        title: 'Event loop delay, 99th percentile',
        read: (samples) => valuesOf(samples, 'agent_event_loop_lag_seconds', { quantile: '0.99' }),
        format: seconds,
        isOfInterval: false,
      },
      {
        title: 'CPU of one core',
        read: (samples) => ratesOf(samples, 'process_cpu_seconds_total'),
        format: percent,
        isOfInterval: true,
      },
      {
        title: 'Memory',
        read: (samples) => valuesOf(samples, 'process_resident_memory_bytes'),
        format: megabytes,
        isOfInterval: false,
      },
    ],
  },
];
