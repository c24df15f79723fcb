import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Short files come last, so that all workers end at about the same time. */
const ORDER = ['package', 'browser', 'e2e', 'adapters', 'unit'];

/** A file of the one kind computes for minutes, one of the other mostly waits: side by side they take the least time. */
const COMPUTES = 'simulation';
const WAITS = 'cluster';

/** The order in which the test files start: all projects are one queue. */
export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return inOrder(await super.sort(files), ({ project }) => project.name);
  }
}

/** Each project keeps its own order. */
export function inOrder<T>(files: readonly T[], projectOf: (file: T) => string): T[] {
  const of = (project: string): T[] => files.filter((file) => projectOf(file) === project);
  const isOther = (file: T): boolean => ![COMPUTES, WAITS, ...ORDER].includes(projectOf(file));
  return [...spread(of(COMPUTES), of(WAITS)), ...files.filter(isOther), ...ORDER.flatMap(of)];
}

/** The few at equal distances among the many. */
function spread<T>(few: readonly T[], many: readonly T[]): T[] {
  const distance = Math.ceil(many.length / Math.max(1, few.length));
  const parts = few.map((one, place) => [one, ...many.slice(place * distance, (place + 1) * distance)]);
  return [...parts.flat(), ...many.slice(few.length * distance)];
}
