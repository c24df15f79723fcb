import { stringify } from 'yaml';
import type { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import { isMap, mapScalars, type Path } from '../problems/path.ts';
import { escapeTemplate, parseTemplate, type TemplatePart } from '../reading/template.ts';
import { isSecretName, REDACTED, redactArgs, redactText, redactUrl } from './redact.ts';

/** How the servers of the running service differ from those of its file. */
export interface ServerChanges {
  readonly removed: ReadonlySet<string>;
  /** Connected at runtime; a name that the file has too replaces the file's server. */
  readonly added: Readonly<Record<string, McpServerConfig>>;
}

type Servers = Readonly<Record<string, McpServerConfig>>;

export function serverChanges(inFile: Servers, now: Servers): ServerChanges {
  const removed = new Set(Object.keys(inFile).filter((name) => !Object.hasOwn(now, name)));
  const added = Object.fromEntries(
    Object.entries(now).filter(([name, server]) => !Object.hasOwn(inFile, name) || inFile[name] !== server),
  );
  return { removed, added };
}

const DEFAULT_VERSION = '1.0';

/**
 * The agent as YAML that the service can load again: variables as written in the file, every secret
 * replaced by a marker. `raw` must be that of a file that was loaded.
 */
export function exportAgentYaml(raw: Readonly<Record<string, unknown>>, changes: ServerChanges): string {
  const document = Object.entries({ version: DEFAULT_VERSION, ...raw, mcpServers: raw.mcpServers }).map(
    ([key, value]) => [
      key,
      key === 'mcpServers' ? currentServers(value, changes) : redactTree(value, written, [key]),
    ],
  );
  return stringify(Object.fromEntries(document), { lineWidth: 0, aliasDuplicateObjects: false });
}

function currentServers(fileServers: unknown, { removed, added }: ServerChanges): unknown {
  const kept = Object.entries(isMap(fileServers) ? fileServers : {}).filter(([name]) => !removed.has(name));
  return Object.fromEntries([
    ...kept.map(([name, server]) => [name, redactServer(server, written)]),
    ...Object.entries(added).map(([name, server]) => [name, redactServer(server, literal)]),
  ]);
}

type Variable = Extract<TemplatePart, { kind: 'variable' }>;

/** How to rewrite one text, given the rule for its kind. */
type Rewrite = (text: string, redact: (text: string) => string) => string;

/** Of a server that was connected at runtime: there are no references in it, and there must be none afterwards. */
const literal: Rewrite = (text, redact) => escapeTemplate(redact(text));

/**
 * Of the file. Each `${…}` is one sign while the rest is redacted, so that a `}` or a `/` inside of it does
 * not hide where a secret ends; defaults are redacted for themselves.
 */
const written: Rewrite = (text, redact) => {
  const references: string[] = [];
  const folded = parseTemplate(text).map((part) => {
    if (part.kind !== 'variable' || !part.source.startsWith('${')) return part.source;
    references.push(`\${${part.name}${redactFallback(part, redact)}}`);
    return String.fromCodePoint(FIRST_SIGN + references.length - 1);
  });
  return redact(folded.join('')).replaceAll(/[\u{F0000}-\u{FFFFD}]/gu, (sign) => {
    return references[(sign.codePointAt(0) ?? 0) - FIRST_SIGN] ?? sign;
  });
};

function redactFallback({ name, fallback }: Variable, redact: (text: string) => string): string {
  if (fallback === undefined) return '';
  return `:-${isSecretName(name) && fallback !== '' ? REDACTED : written(fallback, redact)}`;
}

/** The beginning of a private plane of Unicode: signs that no text uses. */
const FIRST_SIGN = 0xf0000;

function redactServer(server: unknown, rewrite: Rewrite): unknown {
  if (!isMap(server)) return server;
  return Object.fromEntries(
    Object.entries(server).map(([key, value]) => {
      if ((key === 'env' || key === 'headers') && isMap(value)) return [key, redactValues(value)];
      if (key === 'args' && Array.isArray(value)) return [key, redactArguments(value, rewrite)];
      return [key, redactTree(value, rewrite, [key])];
    }),
  );
}

function redactValues(map: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.keys(map).map((name) => [name, REDACTED]));
}

/** Two arguments may belong together, so each is redacted beside the one before it. */
function redactArguments(args: readonly unknown[], rewrite: Rewrite): string[] {
  const texts = args.map(String);
  return texts.map((text, index) =>
    rewrite(text, (folded) => redactArgs([texts[index - 1] ?? '', folded])[1] ?? ''),
  );
}

function redactTree(data: unknown, rewrite: Rewrite, path: Path): unknown {
  return mapScalars(
    data,
    (scalar, at) => {
      const key = String(at.findLast((segment) => typeof segment === 'string'));
      if (isSecretName(key) && (typeof scalar === 'string' || typeof scalar === 'number')) return REDACTED;
      if (typeof scalar !== 'string') return scalar;
      if (key === 'when') return rewrite(scalar, redactPattern);
      return rewrite(scalar, key.toLowerCase() === 'baseurl' ? redactUrl : redactText);
    },
    path,
  );
}

/** A rule's pattern has to stay one, and the marker means something else in it. */
function redactPattern(pattern: string): string {
  const redacted = redactText(pattern);
  if (redacted === pattern) return pattern;
  const escaped = redacted.replaceAll(REDACTED, REDACTED_PATTERN);
  try {
    new RegExp(escaped, 'iu');
    return escaped;
  } catch {
    return REDACTED_PATTERN;
  }
}

const REDACTED_PATTERN = REDACTED.replaceAll('*', '\\*');
