import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContainerImage } from '../support/service/container-image.ts';
import { freePort } from '../support/service/running-service.ts';
import { type TempDirectory, tempDirectory } from '../support/service/temp-directory.ts';

let directory: TempDirectory;
let image: ContainerImage;

beforeAll(async () => {
  directory = await tempDirectory();
  image = await ContainerImage.build(directory.path);
});

afterAll(() => directory[Symbol.asyncDispose]());

async function healthcheck(port: number): Promise<number | null> {
  await using probe = image.run('HEALTHCHECK', port);
  return await probe.ended;
}

describe('what the Dockerfile makes', () => {
  it('holds the build and no source', async () => {
    const files = await readdir(join(image.root, 'app'));
    expect(files.toSorted()).toEqual(['LICENSE', 'agents', 'bin', 'dist', 'ops', 'package.json']);
  });

  it('serves, is found well, keeps its log in /data, and stops', async () => {
    const port = await freePort();
    expect(await healthcheck(port)).toBe(1);
    await using keys = image.run('ENTRYPOINT', port, ['keys', 'create', '--name', 'me', '--role', 'admin']);
    const [key] = await keys.printed(/^as_\w+$/m);
    expect(await keys.ended).toBe(0);
    await using container = image.run('ENTRYPOINT', port);
    await container.printed(/everything is up/);
    expect(await healthcheck(port)).toBe(0);
    const url = `http://localhost:${port}`;
    const page = await fetch(url, { headers: { Accept: 'text/html' } });
    expect(page.headers.get('content-type')).toContain('text/html');
    expect((await fetch(`${url}/api/sessions`)).status).toBe(401);
    const answer = await fetch(`${url}/api/message-sync`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
      body: JSON.stringify({ message: 'use echo {"message": "contained"}' }),
    });
    expect(await answer.json()).toMatchObject({ response: expect.stringContaining('Echo: contained') });
    expect(await readdir(join(image.root, 'data'))).toContain('events.db');

    container.signal('SIGTERM');
    expect(await container.ended).toBe(0);
    expect(await healthcheck(port)).toBe(1);
  });
});
