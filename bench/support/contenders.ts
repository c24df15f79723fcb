import type { Protocol } from './protocol.ts';
import type { Scope } from './scope.ts';
import type { ServerProcess } from './server-process.ts';
import type { Version } from './version.ts';

/** A server under measurement. */
export interface Subject {
  readonly name: string;
  /** The commit of its sources, if it is not this checkout. */
  readonly ref?: string | undefined;
  readonly server: ServerProcess;
  /** Absent for that of the service. */
  readonly protocol?: Protocol | undefined;
}

/** A server that a bench can start, once or in each round. */
export interface Contender {
  readonly name: string;
  readonly ref?: string | undefined;
  readonly start: () => Promise<ServerProcess>;
  /** Absent for that of the service. */
  readonly protocol?: Protocol | undefined;
}

/** The service, once for each version that is compared. */
export function inEachVersion(
  { versions }: Scope,
  name: string,
  start: (version: Version) => Promise<ServerProcess>,
): Contender[] {
  return versions.map((version) => ({ name, ref: version.ref, start: () => start(version) }));
}

/** A server to compare the service with. A comparison of two versions does without. */
export function control(scope: Scope, name: string, start: () => Promise<ServerProcess>): Contender[] {
  return scope.isComparison ? [] : [{ name, start }];
}

/** Starts them one after the other, because a start would disturb the next one. */
export async function startEach(contenders: readonly Contender[]): Promise<Subject[]> {
  const subjects: Subject[] = [];
  for (const { start, ...named } of contenders) subjects.push({ ...named, server: await start() });
  return subjects;
}
