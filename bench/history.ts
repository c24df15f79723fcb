import { inEachVersion, type Subject, startEach } from './support/contenders.ts';
import { filledLog, type LongSessions, longSession } from './support/filled-log.ts';
import { loadHttp, syncMessage } from './support/http-load.ts';
import { measured } from './support/measured.ts';
import type { Report, Target } from './support/report.ts';
import { interleave, ratio, type Sample, type Series, seriesOf } from './support/rounds.ts';
import type { Scope } from './support/scope.ts';
import { floor, plain, SERVICE, startSources } from './support/subjects.ts';

export const question = 'Does a message cost the same in a session of 10, 1,000 and 100,000 events?';

/** Each message makes its session longer. Many short sessions share the messages, so that they stay short. */
const full: readonly LongSessions[] = [
  { events: 10, sessions: 500 },
  { events: 1_000, sessions: 20 },
  { events: 100_000, sessions: 1 },
];

export async function run(scope: Scope): Promise<Report> {
  const lengths = scope.quick ? full.slice(0, 2) : full;
  const services = await startEach(
    inEachVersion(scope, SERVICE, async (version) =>
      startSources(scope, version, { dataDir: await filledLog(scope, { long: lengths }) }),
    ),
  );
  // The controls have no log: they show what a message costs without any history.
  const anySession = (subject: Subject): SessionSubject => ({ ...subject, sessionOf: () => 'any' });
  const subjects = [
    ...(await startEach(floor(scope))).map(anySession),
    ...lengths.flatMap(({ events, sessions }) =>
      services.map((service) => ({
        ...service,
        name: nameOf(events),
        sessionOf: (index: number) => longSession(events, index % sessions),
      })),
    ),
    ...(await startEach(plain(scope))).map(anySession),
  ];
  const total = scope.quick ? 50 : 500;
  // Warms up the code, and loads the sessions.
  for (const subject of subjects) await load(subject, total);
  const all = await interleave(scope.rounds(5), {}, subjects, (subject) => load(subject, total));
  const [shortest, ...longer] = lengths.map(({ events }) => events);
  return { series: all, targets: () => longer.flatMap((events) => targets(all, events, shortest ?? 0)) };
}

interface SessionSubject extends Subject {
  /** The session of the message with this index. */
  readonly sessionOf: (index: number) => string;
}

function load({ server, sessionOf }: SessionSubject, total: number): Promise<Sample> {
  const requestOf = (index: number) => syncMessage(sessionOf(index));
  return measured(server, 'message', () => loadHttp({ port: server.port, inFlight: 1, total, requestOf }));
}

function targets(all: readonly Series[], events: number, shortest: number): Target[] {
  return ['p50 ms', 'CPU µs/message'].map((metric) => ({
    what: `${metric} with ${events.toLocaleString('en-US')} events, relative to ${shortest}`,
    wanted: { atMost: 1.2 },
    measured: ratio(seriesOf(all, nameOf(events)), seriesOf(all, nameOf(shortest)), metric),
  }));
}

function nameOf(events: number): string {
  return `${SERVICE}, ${events.toLocaleString('en-US')} events`;
}
