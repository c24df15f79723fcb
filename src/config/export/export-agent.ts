import { stringify } from 'yaml';
import { isJsonObject } from '../../core/json-object.ts';
import { replacing } from '../../core/replaced-texts.ts';
import { isSameConfig, type McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import { mapScalars, type Path } from '../problems/path.ts';
import { escapeTemplate } from '../reading/template.ts';
import { isSecretName, REDACTED, redactArgs, redactText, redactUrl } from './redact.ts';
import { type Rewrite, written } from './written-text.ts';

/** How the tool servers of the running service differ from those of the agent file. */
export interface RuntimeServers {
  readonly removed: ReadonlySet<string>;
  /** Connected at run time. A server replaces the one of the same name in the file. */
  readonly added: Readonly<Record<string, McpServerConfig>>;
}

type Servers = Readonly<Record<string, McpServerConfig>>;

export function runtimeServers(inFile: Servers, now: Servers): RuntimeServers {
  const removed = new Set(
    Object.keys(inFile).filter((name) => inFile[name]?.disabled !== true && !Object.hasOwn(now, name)),
  );
  const added = Object.fromEntries(
    Object.entries(now).filter(
      ([name, server]) => !Object.hasOwn(inFile, name) || !isSameConfig(inFile[name], server),
    ),
  );
  return { removed, added };
}

const DEFAULT_VERSION = '1.0';

/**
 * The agent as YAML that the service can load again: variables as written in the file, every secret
 * replaced by a marker.
 *
 * @param raw of a loaded agent file.
 */
export function exportAgentYaml(raw: Readonly<Record<string, unknown>>, changes: RuntimeServers): string {
  const exportKey = (key: string, value: unknown): unknown => {
    if (key === 'mcpServers') return currentServers(value, changes);
    const redacted = redactTree(value, written, [key]);
    return key === 'approval' ? currentApproval(redacted, changes) : redacted;
  };
  const document = Object.entries({ version: DEFAULT_VERSION, ...raw, mcpServers: raw.mcpServers }).map(
    ([key, value]) => [key, exportKey(key, value)],
  );
  const withoutCopies = withoutSecrets(Object.fromEntries(document), literalSecrets([raw, changes.added]));
  return stringify(withoutCopies, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** A shorter value may be a word of any text. */
const MIN_SECRET_CHARACTERS = 8;

/** What stands in clear where a secret belongs. */
function literalSecrets(data: unknown): string[] {
  const secrets: string[] = [];
  mapScalars(data, (scalar, at) => {
    const isSecret = isSecretName(nameAt(at));
    const isLiteral = typeof scalar === 'string' && !scalar.includes('$') && scalar !== REDACTED;
    if (isSecret && isLiteral && scalar.length >= MIN_SECRET_CHARACTERS) secrets.push(scalar);
  });
  return secrets;
}

/** The same secret may stand in a prompt or an argument, too. */
function withoutSecrets(document: unknown, secrets: readonly string[]): unknown {
  const replaced = replacing(secrets);
  return mapScalars(document, (scalar, at) => {
    if (typeof scalar !== 'string') return scalar;
    return replaced(scalar, nameAt(at) === 'when' ? REDACTED_PATTERN : REDACTED);
  });
}

function currentServers(fileServers: unknown, { removed, added }: RuntimeServers): unknown {
  const kept = Object.entries(isJsonObject(fileServers) ? fileServers : {}).filter(
    ([name]) => !removed.has(name),
  );
  return Object.fromEntries([
    ...kept.map(([name, server]) => [name, redactServer(server, written)]),
    ...Object.entries(added).map(([name, server]) => [name, redactServer(server, literal)]),
  ]);
}

/** A file whose rules name a server that it does not have would be refused. */
function currentApproval(approval: unknown, { removed, added }: RuntimeServers): unknown {
  if (!isJsonObject(approval) || !Array.isArray(approval.rules)) return approval;
  const isGone = (name: unknown) =>
    typeof name === 'string' && removed.has(name) && !Object.hasOwn(added, name);
  const rules = approval.rules.map((rule: unknown) =>
    isJsonObject(rule) && isGone(rule.server) ? { ...rule, atRunTime: true } : rule,
  );
  return { ...approval, rules };
}

/** For a server that was connected at run time: its dollar signs are no references, so they are escaped. */
const literal: Rewrite = (text, redact) => escapeTemplate(redact(text));

function redactServer(server: unknown, rewrite: Rewrite): unknown {
  if (!isJsonObject(server)) return server;
  return Object.fromEntries(
    Object.entries(server).map(([key, value]) => {
      if ((key === 'env' || key === 'headers') && isJsonObject(value)) return [key, redactValues(value)];
      if (key === 'args' && Array.isArray(value)) return [key, redactArguments(value, rewrite)];
      return [key, redactTree(value, rewrite, [key])];
    }),
  );
}

function redactValues(map: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.keys(map).map((name) => [name, REDACTED]));
}

/** A flag and its secret may be two arguments, so each is redacted together with the one before it. */
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
      const key = nameAt(at);
      if (isSecretName(key) && (typeof scalar === 'string' || typeof scalar === 'number')) return REDACTED;
      if (typeof scalar !== 'string') return scalar;
      if (key === 'when') return rewrite(scalar, redactPattern);
      return rewrite(scalar, ['baseurl', 'url'].includes(key.toLowerCase()) ? redactUrl : redactText);
    },
    path,
  );
}

/** The key that a value stands under, also in a list. */
function nameAt(path: Path): string {
  return String(path.findLast((segment) => typeof segment === 'string'));
}

/** A rule's pattern must stay a valid regular expression, in which the asterisks of the marker are escaped. */
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
