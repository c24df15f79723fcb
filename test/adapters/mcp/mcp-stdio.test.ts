import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startSupportProcess } from '../../support/processes/child-process.ts';
import { isRunning, processEnd } from '../../support/service/process-life.ts';
import { said, testConnector } from '../../support/tools/mcp/connecting.ts';
import { oddServer, scriptableServer } from '../../support/tools/mcp/tool-servers.ts';

const binFolder = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));

test.concurrent('finds a server that comes with the service, lists its tools and calls one', async () => {
  const { connect } = testConnector({ binFolders: [binFolder] });
  const connection = await connect({ type: 'stdio', command: 'mcp-server-everything' });
  const tools = await connection.listTools();
  const outcome = await connection.callTool('echo', { message: 'hello' });
  await connection.close();
  expect(tools.map(({ name }) => name)).toContain('echo');
  expect(outcome).toEqual({
    status: 'succeeded',
    result: { content: [{ type: 'text', text: 'Echo: hello' }] },
  });
});

test.concurrent('gives a server the allowed names of the environment and its own, and never a key of the service', async () => {
  const environment = {
    PATH: '/usr/bin',
    HOME: '/home/me',
    LANG: 'C',
    OPENAI_API_KEY: 'sk-service',
    DEBUG: '1',
  };
  const { connect } = testConnector({ environment, binFolders: ['/opt/bin'] });
  const connection = await connect(scriptableServer({ env: { MY_SETTING: 'on', HOME: '/elsewhere' } }));
  const outcome = await connection.callTool('env', {});
  await connection.close();
  expect(JSON.parse(String(said(outcome)))).toEqual({
    PATH: '/usr/bin:/opt/bin',
    HOME: '/elsewhere',
    LANG: 'C',
    MY_SETTING: 'on',
  });
});

test.concurrent('notices a crash and tells what settled the calls', async () => {
  const { connect, closed, closings } = testConnector();
  const connection = await connect(scriptableServer());
  const pid = Number(said(await connection.callTool('pid', {})));
  const running = connection.callTool('slow', { ms: 60_000 });
  process.kill(pid, 'SIGKILL');
  expect(await closed).toBe('the server was ended by SIGKILL');
  expect(await running).toEqual({
    status: 'failed',
    reason: 'the connection was lost: the server was ended by SIGKILL',
  });
  expect(await connection.callTool('echo', { message: 'x' })).toMatchObject({ status: 'failed' });
  await expect(connection.listTools()).rejects.toThrow('the server was ended by SIGKILL');
  await connection.close();
  expect(closings).toHaveLength(1);
});

test.concurrent('ends the children of a server that crashed', async () => {
  const { connect, closed } = testConnector();
  const connection = await connect(scriptableServer());
  const child = Number(said(await connection.callTool('spawn_child', {})));
  expect(isRunning(child)).toBe(true);
  await connection.callTool('crash', { code: 7 });
  expect(await closed).toBe('the server exited with code 7');
  await connection.close();
  await processEnd(child);
});

test.concurrent('ends the children that a launcher leaves behind', async () => {
  const { connect, pids } = testConnector();
  const connection = await connect(oddServer(['launcher', 'with-child']));
  const [parent = 0, child = 0] = await pids();
  expect([isRunning(parent), isRunning(child)]).toEqual([true, true]);
  await connection.close();
  expect([isRunning(parent), isRunning(child)]).toEqual([false, false]);
});

test.concurrent('ends a server and its child although both ignore every polite request', async () => {
  const { connect, pids, closings } = testConnector({ stopGraceMs: 100 });
  const connection = await connect(oddServer(['stubborn', 'with-child']));
  const [parent = 0, child = 0] = await pids();
  expect([isRunning(parent), isRunning(child)]).toEqual([true, true]);
  await Promise.all([connection.close(), connection.close()]);
  expect(isRunning(parent)).toBe(false);
  await processEnd(child);
  expect(closings).toEqual([]);
});

test.concurrent('leaves neither a server nor its child behind when its own process exits', async () => {
  await using leaving = startSupportProcess('leaving-client.ts', []);
  const { value = '' } = await leaving.lines.next();
  const pids = value.split(' ').map(Number);
  expect(pids).toEqual([expect.any(Number), expect.any(Number)]);
  await leaving.ended;
  await Promise.all(pids.map(processEnd));
});

test.concurrent('settles the calls in flight when it is closed', async () => {
  const { connect } = testConnector();
  const connection = await connect(scriptableServer());
  const running = connection.callTool('slow', { ms: 60_000 });
  await connection.close();
  expect(await running).toMatchObject({
    status: 'failed',
    reason: 'the connection ended before the server answered',
  });
});

test.concurrent('says which command was not found', async () => {
  const { connect } = testConnector();
  const connecting = connect({ type: 'stdio', command: 'no-such-command-here', args: ['x'] });
  await expect(connecting).rejects.toThrow("command 'no-such-command-here' was not found");
});

test.concurrent('says which folder does not exist', async () => {
  const { connect } = testConnector();
  const connecting = connect(oddServer(['silent'], { cwd: '/no/such/folder' }));
  await expect(connecting).rejects.toThrow("the folder '/no/such/folder' (cwd) does not exist");
});

test.concurrent('says that a command may not be executed', async () => {
  const { connect } = testConnector();
  await expect(connect({ type: 'stdio', command: tmpdir() })).rejects.toThrow('may not be executed');
});

test.concurrent('tells the exit code and the last words of a server that exits at once, without its secrets', async () => {
  const { connect, log } = testConnector();
  const config = oddServer(['exits', 'cannot log in with tok-12345'], {
    env: { SERVICE_TOKEN: 'tok-12345' },
  });
  const reason = await connect(config).then(String, (error: Error) => error.message);
  expect(reason).toMatch(
    /^the server exited with code 3; it wrote: .*first line \| cannot log in with \*\*\*$/,
  );
  expect(log.lines.map(({ fields }) => fields.line)).toContain('cannot log in with ***');
  expect(JSON.stringify(log.lines)).not.toContain('tok-12345');
});

test.concurrent('gives up on a server that does not answer, and leaves no process behind', async () => {
  const { connect, pids } = testConnector();
  await expect(connect(oddServer(['silent'], { timeout: 4_000 }))).rejects.toThrow(
    /^the server did not answer within 4000 ms; it wrote: .*thinking about it$/,
  );
  const [pid = 0] = await pids();
  expect(isRunning(pid)).toBe(false);
});

test.concurrent('leaves no process behind when connecting is cancelled', async () => {
  const { connect, pids } = testConnector();
  const controller = new AbortController();
  const connecting = connect(oddServer(['silent', 'with-child']), controller.signal);
  connecting.catch(() => undefined);
  const [parent = 0, child = 0] = await pids();
  expect([isRunning(parent), isRunning(child)]).toEqual([true, true]);
  controller.abort();
  await expect(connecting).rejects.toThrow('connecting was cancelled');
  expect(isRunning(parent)).toBe(false);
  await processEnd(child);
});

test.concurrent('starts nothing when connecting was cancelled before it began', async () => {
  const { connect, log } = testConnector();
  await expect(connect(oddServer(['silent']), AbortSignal.abort())).rejects.toThrow(
    'connecting was cancelled',
  );
  expect(log.lines).toEqual([]);
});

test.concurrent('ends a server that floods its output', async () => {
  const { connect, pids } = testConnector();
  await expect(connect(oddServer(['floods']))).rejects.toThrow(
    'the server sent a message of more than 14 MB (14680064 bytes)',
  );
  const [pid = 0] = await pids();
  expect(isRunning(pid)).toBe(false);
});

test.concurrent('passes over lines that are no messages, and logs only a few', async () => {
  const { connect, log } = testConnector();
  const connection = await connect(oddServer(['garbage']));
  expect(await connection.callTool('anything', {})).toMatchObject({ status: 'succeeded' });
  await connection.close();
  const noted = log.lines.filter(({ message }) => message.includes('no message'));
  expect(noted).toHaveLength(10);
  expect(noted[0]?.fields).toEqual({ server: 'under-test', line: 'not json' });
});

test.concurrent('reads all that a server complains about, and logs a bounded part', async () => {
  const { connect, log } = testConnector();
  const connection = await connect(oddServer(['chatty']));
  await connection.close();
  const logged = log.lines.filter(({ fields }) => fields.line !== undefined).length;
  const dropped = log.lines.reduce((sum, { fields }) => sum + Number(fields.dropped ?? 0), 0);
  // One line more than it complains: its process id.
  expect(logged + dropped).toBe(5_001);
  expect(logged).toBeLessThan(500);
});

test.concurrent('notices a server that closes its output and goes on running', async () => {
  const { connect, closed, pids } = testConnector();
  const connection = await connect(oddServer(['closes-output']));
  await connection.listTools();
  expect(await closed).toMatch(/^the server closed its output/);
  await connection.close();
  const [pid = 0] = await pids();
  expect(isRunning(pid)).toBe(false);
});

test.concurrent('notices a server that reads no more, at the next call', async () => {
  const { connect, closed, closings, log } = testConnector();
  const connection = await connect(oddServer(['closes-input']));
  await connection.listTools();
  await log.find(({ fields }) => (fields.line === 'deaf now' ? true : undefined));
  expect(await connection.callTool('any', {})).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('the server stopped reading its input'),
  });
  expect(await closed).toMatch(/^the server stopped reading its input/);
  await connection.close();
  expect(closings).toHaveLength(1);
});
