import { expect, it } from 'vitest';
import { marks } from '../../../src/adapters/sqlite/file/schema.ts';
import { LOG_FORMAT } from '../../../src/core/log/event-codec.ts';
import { upcasters } from '../../../src/core/log/upcasters.ts';
import { SNAPSHOT_VERSION } from '../../../src/core/session/snapshot-part.ts';
import { readDocument } from '../../support/documents/documents.ts';

it('docs/log-format.md tells the versions as they are', () => {
  const rows = [
    ...readDocument('docs/log-format.md').matchAll(/^\| ([\w ]+) \| [^|]+ \| ([\w ]+) \| [^|]+ \|$/gm),
  ];
  const versions = Object.values(upcasters).map((steps) => steps.length + 1);
  expect(Object.fromEntries(rows.map(([, what, now]) => [what, now]))).toMatchObject({
    'format of the log': String(LOG_FORMAT),
    'version of a type': `1 or ${Math.max(...versions)}`,
    'schema of the database': /user_version = (\d+)/.exec(marks)?.[1],
    'version of snapshots': String(SNAPSHOT_VERSION),
  });
});
