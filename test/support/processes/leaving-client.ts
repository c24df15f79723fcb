/*
 * Connects a tool server that ends only when it must, prints the ids of its processes, and exits without closing the
 * connection.
 */
import { writeSync } from 'node:fs';
import { testConnector } from '../tools/mcp/connecting.ts';
import { oddServer } from '../tools/mcp/tool-servers.ts';

const { connect, pids } = testConnector();
await connect(oddServer(['stubborn', 'with-child']));
writeSync(1, `${(await pids()).join(' ')}\n`);
process.exit(0);
