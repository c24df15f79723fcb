import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadServiceFile } from '../../../src/config/reading/service-file.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';

it('a service file with wrong addresses is refused with file, line and key, and without their passwords', async () => {
  await using folder = await tempDirectory();
  const file = join(folder.path, 'service.yml');
  await writeFile(
    file,
    'auth: {apiKeys: true}\nstore: mysql://user:s3cret@db/agents\nbus: http://user:s3cret@bus\n',
  );
  const load = () => loadServiceFile(file, {});
  expect(load).toThrow(`${file}:2: store: the address of the database must be like postgres://`);
  expect(load).toThrow(`${file}:3: bus: the bus must be the address of a NATS server`);
  expect(load).not.toThrow(/s3cret/);

  await writeFile(file, 'store: postgres://user@db/agents\nbus: $BUS\n');
  expect(loadServiceFile(file, { BUS: 'nats://bus' })).toMatchObject({
    store: 'postgres://user@db/agents',
    bus: 'nats://bus',
  });
});
