import { hash } from 'node:crypto';
import { resolve } from 'node:path';

/**
 * With TEST_STORE, the address of a PostgreSQL server, the services of the tests keep their logs there: those of one data
 * directory in one schema. So tests that were written for a folder are run on PostgreSQL.
 */
export function testStore(dataDir: string): string | undefined {
  const server = process.env.TEST_STORE;
  return server === undefined ? undefined : `${server}?schema=t${hash('md5', resolve(dataDir))}`;
}

/**
 * With TEST_BUS as well, the address of a NATS server, each service of the tests is two nodes, and whatever a test does is
 * done at one and then at the other.
 */
export function testBus(): string | undefined {
  return process.env.TEST_STORE === undefined ? undefined : process.env.TEST_BUS;
}
