import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseBusUrl } from '../../../src/config/addresses/bus-url.ts';
import { parseStoreUrl } from '../../../src/config/addresses/store-url.ts';
import { parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import { readDocument } from '../documents/documents.ts';
import { imageFacts, unknownVariables } from './image-facts.ts';
import { composeSchemaFaults } from './manifest-schemas.ts';
import { projectRoot } from './source-imports.ts';

export interface ComposeTexts {
  readonly compose: string;
  readonly balancer: string;
}

export const composeTexts: ComposeTexts = {
  compose: readDocument('ops/compose.yml'),
  balancer: readDocument('ops/haproxy.cfg'),
};

/** What stands for each secret that comes from the environment. */
const GIVEN = 'given';

const Service = z.object({
  image: z.string(),
  build: z.string().optional(),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  expose: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
  healthcheck: z.object({ test: z.array(z.string()) }),
});
type Service = z.infer<typeof Service>;

const Compose = z.object({
  services: z.record(z.string(), Service),
  volumes: z.record(z.string(), z.unknown()),
});

interface Composed {
  readonly services: Readonly<Record<string, Service>>;
  readonly nodes: readonly (readonly [string, Service])[];
  readonly volumes: readonly string[];
  readonly balancer: string;
}

/** What is wrong with ops/compose.yml and the file of its balancer. */
export function composeFaults({ compose, balancer }: ComposeTexts): string[] {
  const file: unknown = parse(compose, (_, value) => interpolated(value), { merge: true });
  const faults = composeSchemaFaults(file);
  if (faults.length > 0) return faults;
  const { services, volumes } = Compose.parse(file);
  const nodes = Object.entries(services).filter(([, { build }]) => build !== undefined);
  const composed = { services, nodes, volumes: Object.keys(volumes), balancer };
  return [
    ...when(nodes.length < 3, 'there are fewer than three nodes'),
    ...nodes.flatMap(([name, node]) => nodeFaults(node, services).map((fault) => `${name}: ${fault}`)),
    ...[references, balancing, engines].flatMap((check) => check(composed)),
  ];
}

/** As Compose does it with secrets in its environment, and nothing else. */
function interpolated(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value
    .replaceAll(/\$\{\w+:\?[^}]*\}/g, GIVEN)
    .replaceAll(/\$\{\w+:-([^}]*)\}/g, (_, otherwise: string) => otherwise);
}

function nodeFaults(node: Service, services: Composed['services']): string[] {
  const { environment, stop_grace_period: grace = '0s' } = node;
  const store = parseStoreUrl(environment.AGENT_SERVICE_STORE ?? '');
  const bus = parseBusUrl(environment.AGENT_SERVICE_BUS ?? '');
  const database = new URL(store.connectionString);
  const postgres = services[database.hostname]?.environment;
  const nats = services[bus.servers[0]?.split(':')[0] ?? '']?.command.join(' ') ?? '';
  const [agentFile = ''] = node.volumes.map((volume) => volume.split(':')[0] ?? '');
  const { drainTimeoutMs } = agentOf(agentFile).server;
  const flags = node.command.filter((word) => word.startsWith('-'));
  return [
    ...unknownVariables(Object.keys(environment)).map((name) => `the service knows no ${name}`),
    ...flags.filter((flag) => !imageFacts.flags.has(flag)).map((flag) => `the service knows no ${flag}`),
    ...when(
      !node.volumes.some((volume) => volume.endsWith(`:${node.command.at(-1)}:ro`)),
      'its agent file is not mounted',
    ),
    ...when(
      postgres?.POSTGRES_USER !== database.username || `/${postgres?.POSTGRES_DB}` !== database.pathname,
      'its database is another one',
    ),
    ...when(
      !nats.includes(`--user ${bus.user} `) || !nats.endsWith(`--pass ${bus.password}`),
      'its user of NATS is another one',
    ),
    ...['PGPASSWORD', 'AGENT_SERVICE_SECRET_KEY']
      .filter((name) => environment[name] !== GIVEN)
      .map((name) => `${name} is not asked for`),
    ...when(bus.password !== GIVEN, 'the password of NATS is not asked for'),
    ...when(!existsSync(join(projectRoot, 'ops', node.build ?? '', 'Dockerfile')), 'it has no Dockerfile'),
    ...when(node.expose.join() !== String(imageFacts.port), 'the image listens on another port'),
    ...when(
      !existsSync(join(projectRoot, node.healthcheck.test.at(-1) ?? '')),
      'its health is not looked at',
    ),
    ...when(node.restart !== 'unless-stopped', 'it stays away after it has lost its lease'),
    ...when(
      !(Number.parseInt(grace, 10) * 1_000 > drainTimeoutMs),
      `it is killed after ${grace}, while it hands its sessions over`,
    ),
  ];
}

function agentOf(file: string) {
  return parseAgentFile(readDocument(join('ops', file)), file, {}).config;
}

function references({ services, volumes }: Composed): string[] {
  return Object.entries(services).flatMap(([name, service]) => [
    ...Object.keys(service.depends_on)
      .filter((needed) => !(needed in services))
      .map((needed) => `${name} waits for ${needed}, which is not there`),
    ...service.volumes
      .map((volume) => volume.split(':')[0] ?? '')
      .filter((from) =>
        from.startsWith('.') ? !existsSync(join(projectRoot, 'ops', from)) : !volumes.includes(from),
      )
      .map((from) => `${name} mounts ${from}, which is not there`),
  ]);
}

function balancing({ services, nodes, balancer }: Composed): string[] {
  const servers = [...balancer.matchAll(/^ {2}server (\w+) (\S+)$/gm)].map(([, name, at]) => [name, at]);
  const expected = nodes.map(([name]) => [name, `${name}:${imageFacts.port}`]);
  const listens = /^ {2}bind :(\d+)$/m.exec(balancer)?.[1];
  const asked = /^ {2}http-check send meth GET uri (\S+) /m.exec(balancer)?.[1];
  const tunnel = /^ {2}timeout tunnel (\d+)h$/m.exec(balancer)?.[1];
  const published = services.balancer?.ports ?? [];
  return [
    ...when(JSON.stringify(servers) !== JSON.stringify(expected), 'the balancer knows other nodes'),
    ...when(
      published.length !== 1 || !published.every((port) => port.endsWith(`:${listens}`)),
      'the balancer listens on another port',
    ),
    ...when(
      !published.every((port) => port.startsWith('127.0.0.1:')),
      'others reach the balancer without TLS',
    ),
    ...when(!imageFacts.paths.has(asked) || asked !== '/readyz', `the balancer asks for ${asked}`),
    ...when(/^\s*(?:cookie|stick|balance source|hash-type)/m.test(balancer), 'the balancer keeps clients'),
    ...when(tunnel === undefined, 'the balancer closes silent WebSockets'),
  ];
}

function engines({ services }: Composed): string[] {
  const postgres = services.postgres;
  const version = Number(/^postgres:(\d+)/.exec(postgres?.image ?? '')?.[1]);
  return [
    ...when(!(version >= imageFacts.postgres), `PostgreSQL ${version} is too old`),
    ...when(postgres?.environment.POSTGRES_PASSWORD !== GIVEN, 'the password of PostgreSQL is not asked for'),
    ...when(
      Object.values(services).some(({ restart }) => restart !== 'unless-stopped'),
      'something is not started again',
    ),
  ];
}

function when(isWrong: boolean, fault: string): string[] {
  return isWrong ? [fault] : [];
}
