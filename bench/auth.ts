import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { AuthLimits } from '../src/config/schema/auth-limits.ts';
import { type Contender, inEachVersion, type Subject, startEach } from './support/contenders.ts';
import { loadHttp, syncMessage } from './support/http-load.ts';
import { measured } from './support/measured.ts';
import { type Protocol, serviceProtocol } from './support/protocol.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { streamTurns } from './support/streamed-turns.ts';
import { SERVICE, service, serviceMain, startSources } from './support/subjects.ts';
import { dropAll, socketsWith } from './support/turns.ts';
import { thisCheckout } from './support/version.ts';

export const question = 'What does it cost that clients are authenticated?';

const WITH_KEY = `${SERVICE}, API key`;
const WITH_JWT = `${SERVICE}, JWT`;
const SESSIONS = 2_000;
const IN_FLIGHT = 50;
const REPLY = { piece: ' chunk', pieces: 500 };
const STREAMS = 50;

export async function run(scope: Scope): Promise<Report> {
  const contenders = [
    ...service(scope, { reply: REPLY }),
    ...(await withKey(scope)),
    ...(await withJwt(scope)),
  ];
  const subjects = await startEach(contenders);
  for (const subject of subjects) await load(subject, scope.quick ? 50 : 3_000);
  const synced = await interleave(scope.rounds(5), { 'in flight': IN_FLIGHT }, subjects, (subject) =>
    load(subject, scope.quick ? 200 : 5_000),
  );
  let sessions = 0;
  const streamed = await interleave(scope.rounds(5), { streams: STREAMS }, subjects, (subject) => {
    sessions += STREAMS;
    return stream(subject, sessions, scope.quick ? STREAMS : 6 * STREAMS);
  });
  return {
    series: [...synced, ...streamed],
    targets: () => [
      ...targets(synced, { what: 'a message-sync', metric: 'CPU µs/request' }),
      ...targets(streamed, { what: 'a streamed chunk', metric: 'CPU µs/chunk' }),
    ],
  };
}

function targets(series: readonly Series[], { what, metric }: { what: string; metric: string }): Target[] {
  return [WITH_KEY, WITH_JWT].map((name) => ({
    what: `${name}: CPU ${what} relative to no authentication`,
    wanted: { atMost: 1.05 },
    measured: ratio(seriesOf(series, name), seriesOf(series, SERVICE), metric),
  }));
}

/** Turns of the scripted model, each on a socket of its own. */
async function stream(
  { server, protocol = serviceProtocol }: Subject,
  firstSession: number,
  turns: number,
): Promise<Sample> {
  const sockets = await protocol.openStreams(
    server.port,
    turns,
    (index) => `stream-${firstSession}-${index}`,
  );
  const pieces = Array.from({ length: REPLY.pieces }, () => REPLY.piece);
  try {
    return await measured(server, 'chunk', () => streamTurns(sockets, { streams: STREAMS, pieces }));
  } finally {
    dropAll(sockets);
  }
}

function load({ server, protocol }: Subject, total: number): Promise<Sample> {
  const requestOf = (index: number) => {
    const session = `s${index % SESSIONS}`;
    return protocol ? protocol.messageTo(session) : syncMessage(session);
  };
  return measured(server, 'request', () =>
    loadHttp({ port: server.port, inFlight: IN_FLIGHT, total, requestOf }),
  );
}

async function withKey(scope: Scope): Promise<Contender[]> {
  const keys = scope.directory();
  const serviceFile = written(scope, { apiKeys: true });
  const create = ['keys', 'create', '--name', 'bench', '--role', 'user', '--data-dir', keys];
  const key = execFileSync(process.execPath, [serviceMain(thisCheckout), ...create], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const contenders = inEachVersion(scope, WITH_KEY, (version) => {
    // Each process has a log of its own.
    const dataDir = scope.directory();
    cpSync(keys, dataDir, { recursive: true });
    return startSources(scope, version, { dataDir, serviceFile, reply: REPLY });
  });
  return asWhom(contenders, key.trim());
}

async function withJwt(scope: Scope): Promise<Contender[]> {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256', use: 'sig' };
  const provider = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  scope.defer(async () => {
    provider.close();
  });
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const settings = { name: 'bench', issuer, audience: 'bench', jwksUri: `${issuer}/jwks` };
  const token = await new SignJWT({ roles: ['user'] })
    .setProtectedHeader({ alg: 'RS256', kid: 'bench' })
    .setIssuer(issuer)
    .setAudience('bench')
    .setSubject('bench')
    .setExpirationTime('2h')
    .sign(privateKey);
  const serviceFile = written(scope, { jwt: [settings] });
  return asWhom(service(scope, { name: WITH_JWT, serviceFile, reply: REPLY }), token);
}

function written(scope: Scope, auth: object): string {
  const path = join(scope.directory(), 'service.yml');
  const off = Object.fromEntries(Object.keys(AuthLimits.parse({}).tenant).map((name) => [name, false]));
  writeFileSync(path, JSON.stringify({ auth: { ...auth, limits: { principal: off, tenant: off } } }));
  return path;
}

/** The same, asked with this token. */
function asWhom(contenders: readonly Contender[], token: string): Contender[] {
  const headers = { Authorization: `Bearer ${token}` };
  const protocol: Protocol = {
    messageTo: (session) => ({ ...syncMessage(session), headers }),
    openStreams: socketsWith(headers),
  };
  return contenders.map((contender) => ({ ...contender, protocol }));
}
