import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

/*
 * To be imported before a program: whatever reaches for the network or another process ends it with exit code 70.
 */
function forbidden(): never {
  process.stderr.write('an outbound call was made\n');
  process.exit(70);
}

net.Socket.prototype.connect = forbidden;
net.Server.prototype.listen = forbidden;
dgram.createSocket = forbidden;
dns.lookup = Object.assign(forbidden, { __promisify__: forbidden });
globalThis.fetch = forbidden;
for (const name of ['spawn', 'fork', 'exec', 'execFile', 'spawnSync', 'execSync', 'execFileSync'] as const) {
  Object.defineProperty(childProcess, name, { value: forbidden });
}
syncBuiltinESMExports();
