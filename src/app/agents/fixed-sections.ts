import type { AgentConfig } from '../../config/schema/agent-config.ts';
import { canonicalJson } from '../../core/content-hash.ts';
import { isJsonObject } from '../../core/json-object.ts';

/** Sections that the whole service takes from the file of its first agent. */
const OF_SERVICE = ['server', 'cors', 'telemetry', 'limits'] as const;
/** Sections with which the parts of each agent are built at the start. */
const OF_AGENT = ['mcp', 'a2a', 'sessions', 'roots'] as const;

type Section = (typeof OF_SERVICE | typeof OF_AGENT)[number];

/**
 * The sections that a process does not take over from a file that it reads again, and that differ from what the file said at
 * the start: they count from the next start on.
 */
export function sectionsForRestart(
  { started, now }: { readonly started: AgentConfig; readonly now: AgentConfig },
  { isFirst }: { readonly isFirst: boolean },
): Section[] {
  const asksForRoots = started.roots.length > 0 || started.mcp.expose.some((kind) => kind !== 'agent');
  // Turns take other roots over at once, but tool servers ask for them only if some could come at the start.
  const missesRoots = now.roots.length > 0 && !asksForRoots;
  const before = { ...fixed(started), roots: false };
  const after = { ...fixed(now), roots: missesRoots };
  const counting: readonly Section[] = isFirst ? [...OF_SERVICE, ...OF_AGENT] : OF_AGENT;
  return counting.filter((name) => canonicalJson(before[name]) !== canonicalJson(after[name]));
}

/**
 * The sections of a file that do nothing, because it is not that of the first agent. Of a section that has an effect, those
 * of its keys that have none. @param raw the file as written.
 */
export function sectionsWithoutEffect(raw: Readonly<Record<string, unknown>>): string[] {
  const present = OF_SERVICE.filter((name) => Object.hasOwn(raw, name));
  return present.flatMap((name) => (name === 'limits' ? limitsWithoutEffect(raw[name]) : [name]));
}

/** How many messages may wait is the one limit that each agent has of its own. */
function limitsWithoutEffect(limits: unknown): string[] {
  if (!isJsonObject(limits) || !Object.hasOwn(limits, 'queuedMessages')) return ['limits'];
  const { queuedMessages: _, ...others } = limits;
  return Object.keys(others).map((name) => `limits.${name}`);
}

function fixed({
  server,
  cors,
  telemetry,
  mcp,
  a2a,
  limits,
  sessions,
}: AgentConfig): Record<Exclude<Section, 'roots'>, unknown> {
  return {
    server,
    cors,
    telemetry,
    mcp,
    a2a,
    limits: { ...limits, queuedMessages: null },
    sessions: { ...sessions, whenBusy: null },
  };
}
