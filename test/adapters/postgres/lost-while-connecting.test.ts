import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Database } from '../../../src/adapters/postgres/database.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const AUTHENTICATION_OK = message('R', Buffer.from([0, 0, 0, 0]));
const READY = message('Z', Buffer.from('I'));
const STOPPED = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

/** As the protocol has it: a letter, the length with itself, and what it says. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(type), length, content]);
}

describe('a connection to PostgreSQL', () => {
  it('is told to whoever waits for it if it is lost in the moment in which it is made', async () => {
    let connections = 0;
    const server = createServer((socket: Socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      // In one packet: the driver reads the farewell before anybody can have the connection.
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATION_OK, READY, STOPPED])));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const shown = `127.0.0.1:${port}/agent`;
    const address = { connectionString: `postgres://somebody@${shown}`, schema: 'agent_service', shown };
    try {
      // An error that nobody listens to would end this process, too.
      await expect(Database.open(address, recordingLog())).rejects.toThrow(shown);
      expect(connections).toBe(1);
    } finally {
      server.close();
    }
  });
});
