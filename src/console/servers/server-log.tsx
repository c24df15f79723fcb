import { useLayoutEffect, useRef, useState } from 'react';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import type { ServerLogLine } from '../../core/tool-server/server-log.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { clockTime } from '../ui/time.ts';
import style from './servers.module.css';
import { useServerLog } from './use-server-log.ts';

const NEAR_END_PX = 40;

/** What a server logged, wrote and asked. It follows the newest line, unless the reader has scrolled up. */
export function ServerLog({ server }: { readonly server: McpServerRecord }) {
  const [isOpen, setOpen] = useState(false);
  const { lines, problem } = useServerLog(server.id, isOpen);
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines are why to scroll
  useLayoutEffect(() => {
    if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [lines]);
  return (
    <details className={style.tool} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <strong>Log of {server.name}</strong>
        <span className={style.summary}>What the server logged, wrote and asked of this service</span>
      </summary>
      {problem !== null && <p className={`${style.error} ${style.logNote}`}>{problem}</p>}
      {lines?.length === 0 && <p className={`${style.muted} ${style.logNote}`}>Nothing yet.</p>}
      {lines !== null && lines.length > 0 && (
        <ol
          ref={list}
          className={style.log}
          aria-label={`Log of ${server.name}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it
          tabIndex={0}
          onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
            isAtEnd.current = scrollTop + clientHeight >= scrollHeight - NEAR_END_PX;
          }}
        >
          {lines.map((line) => (
            <Line key={line.seq} line={line} />
          ))}
        </ol>
      )}
    </details>
  );
}

const levelTones: Readonly<Record<string, Tone>> = {
  warning: 'warn',
  error: 'bad',
  critical: 'bad',
  alert: 'bad',
  emergency: 'bad',
};

function Line({ line }: { readonly line: ServerLogLine }) {
  return (
    <li>
      <time dateTime={line.time}>{clockTime(line.time)}</time>
      <Source line={line} />
      <span className={style.logText}>{textOf(line)}</span>
    </li>
  );
}

function Source({ line }: { readonly line: ServerLogLine }) {
  switch (line.source) {
    case 'stderr':
    case 'stdout':
      return <Badge>{line.source}</Badge>;
    case 'log':
      return <Badge tone={levelTones[line.level] ?? 'neutral'}>{line.level}</Badge>;
    case 'request':
      return <Badge tone="accent">asked</Badge>;
    default:
      return line satisfies never;
  }
}

function textOf(line: ServerLogLine): string {
  if (line.source === 'request') return `${line.method} ${line.text} → ${line.answer}`;
  return line.source === 'log' && line.logger !== undefined ? `${line.logger}: ${line.text}` : line.text;
}
